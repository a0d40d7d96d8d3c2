/* What a process has of an array that is dealt out to a grid of processes (MPI 5.0, 5.1.4). */
#ifndef IMPI_TYPE_DARRAY_H
#define IMPI_TYPE_DARRAY_H

#include <stdint.h>

/* Of one dimension, in elements: blocks of so many, each `round` after the one before; `full` of them are whole, and behind
 * them there are `rest` elements more. Without any, first is 0. */
struct impi_deal {
    int64_t whole, block, round, full, rest;
    int64_t first, last;
    int64_t pitch; /* for the caller */
};

/* Deals out an array of n dimensions to one of so many processes, by the four arrays of n integers that MPI_Type_create_darray has:
 * global sizes, distributions, their arguments, sizes of the grid. 0 if an argument is wrong. */
int impi_darray_deal(struct impi_deal *dims, int n, int64_t size, int64_t rank, const int32_t *arrays);

#endif
