/* Predefined operations on the numbers of the processor, in C (reduce.c), as coll/op has them for all types. */
#ifndef IMPI_REDUCE_H
#define IMPI_REDUCE_H

#include <stdint.h>

/* Operations. Those on pairs have no kernels here. */
enum {
    IMPI_OP_NONE, IMPI_OP_SUM, IMPI_OP_PROD, IMPI_OP_MIN, IMPI_OP_MAX, IMPI_OP_BAND, IMPI_OP_BOR, IMPI_OP_BXOR,
    IMPI_OP_LAND, IMPI_OP_LOR, IMPI_OP_LXOR, IMPI_OP_MINLOC, IMPI_OP_MAXLOC, IMPI_OPS
};

/* Kinds of elements: integers of 1, 2, 4 and 8 bytes, and floating point numbers of 4 and 8. */
enum {
    IMPI_ELEMENT_NONE, IMPI_ELEMENT_SIGNED, IMPI_ELEMENT_UNSIGNED = IMPI_ELEMENT_SIGNED + 4,
    IMPI_ELEMENT_FLOAT = IMPI_ELEMENT_UNSIGNED + 4, IMPI_ELEMENTS = IMPI_ELEMENT_FLOAT + 2
};

/* left[i] = left[i] op right[i]. Both are aligned as their elements, and do not overlap. */
typedef void impi_combine(void *left, const void *right, int64_t count);

/* The same for elements of `size` bytes that begin l and r bytes apart, anywhere in memory. */
void impi_combine_apart(impi_combine *combine, uintptr_t left, int64_t l, uintptr_t right, int64_t r, int64_t size,
                        int64_t count);

/* NULL where an operation is not defined, or not here. */
__attribute__((visibility("hidden")))
extern impi_combine *const impi_combines[IMPI_OPS][IMPI_ELEMENTS];

#endif
