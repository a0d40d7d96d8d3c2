/* Plans: how C moves elements of a datatype whose layout Go has worked out (datatype/plan.go). */
#ifndef IMPI_PLAN_H
#define IMPI_PLAN_H

#include <stdint.h>
#include "kernels.h"

/* How one element lies in memory: a list of blocks, or loops around a block. */
struct impi_plan {
    int64_t at; /* of the first byte, from the element's address */
    int64_t size, extent;
    int64_t most;    /* bytes up to which C moves several elements: Go has a better order for more */
    int64_t row;     /* bytes of what the outermost loop repeats, if that follows itself in the packed form; else 0 */
    int32_t dense;   /* consecutive elements are one block, whatever their number */
    int32_t growing; /* a message of one element is published row by row */
    struct impi_list list; /* without offsets: the nest */
    struct impi_nest nest;
};

/* Moves n bytes, of whole elements, from typed memory to a packed buffer, or back. */
void impi_plan_move(const struct impi_plan *p, const void *typed, const void *packed, int64_t n, int unpack);

/* The same for one element in parts: the n packed bytes from `from` on, all of them whole rows. */
void impi_plan_move_rows(const struct impi_plan *p, const void *typed, const void *packed, int64_t from, int64_t n,
                         int unpack);

#endif
