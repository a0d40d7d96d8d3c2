/* Kernels that move large pieces of data: the C forms of those in package datatype (nest_unsafe.go), which are
 * their oracle and are used for what is short. The choice is made there. */
#ifndef IMPI_KERNELS_H
#define IMPI_KERNELS_H

#include <stdint.h>

enum { IMPI_MAX_DIMS = 6 };

/* A level of a nest of loops: n instances, so many bytes apart in memory and in the buffer. */
struct impi_dim {
    int64_t n, mem, buf;
};

/* Loops around a block of so many bytes. */
struct impi_nest {
    struct impi_dim dims[IMPI_MAX_DIMS]; /* outermost first */
    int32_t depth;
    _Bool unpack; /* from buf to mem */
    int64_t block;
};

/* Fetches lines of n bytes that are about to be written: another core has read them, and stores fetch few at once. */
static inline void impi_fetch_lines(const void *first, int64_t n)
{
    for (const char *line = first; line < (const char *)first + n; line += 64)
#if defined __x86_64__
        __asm__ volatile("prefetchw %0" : : "m"(*line)); /* nothing, where the processor does not know it */
#else
        __builtin_prefetch(line, 1);
#endif
}

/* `depth` loops around a block. */
void impi_move_loops(uintptr_t mem, uintptr_t buf, const struct impi_dim *dims, int depth, int64_t block, int unpack);

/* n bytes. Where impi_slips says so, string instructions, memcpy's too, take 20 times as long (transport/bulk). */
void impi_move_run(void *dst, const void *src, int64_t n);
static inline int impi_slips(const void *d, const void *s) { return (((uintptr_t)d - (uintptr_t)s - 1) & 4095) < 31; }

/* n blocks at mem + offs[i]*scale, of lens[i]*block bytes, at least `least` and at most `most`; in the buffer they
 * follow each other. Without lens all are of `block` bytes. */
void impi_move_listed(uintptr_t mem, uintptr_t buf, const int64_t *offs, const int64_t *lens, int64_t n, int64_t scale,
                      int64_t block, int64_t least, int64_t most, int unpack);

/* The same, with numbers of 32 bits, which take less of the caches. */
struct impi_list {
    const void *offs; /* NULL: no list */
    const void *lens;
    int64_t n, scale, block, least, most;
};

void impi_move_list(uintptr_t mem, uintptr_t buf, const struct impi_list *l, int unpack);

/* A plan: how C moves elements of a datatype whose layout Go has worked out (datatype/plan.go), by a list of blocks or
 * by loops around a block. */
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
