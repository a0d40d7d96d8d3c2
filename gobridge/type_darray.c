/* Distributed arrays (type_darray.h; datatype/array.go has the same in Go), and their constructor. */
#include <string.h>
#include "_cgo_export.h"
#include "type_construct.h"
#include "type_darray.h"
#include "type_record.h"
#include "z_shim.h"
#include "z_direct.h"

/* The length of a block, 0 if an argument is wrong. */
static int64_t block_of(int64_t whole, int distribution, int64_t argument, int64_t processes)
{
    int64_t even = (whole - 1) / processes + 1;
    switch (distribution) {
    case MPI_DISTRIBUTE_NONE: return processes == 1 ? whole : 0;
    case MPI_DISTRIBUTE_BLOCK: return argument == MPI_DISTRIBUTE_DFLT_DARG ? even : argument >= even ? argument : 0;
    case MPI_DISTRIBUTE_CYCLIC: return argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument >= 1 ? argument : 0;
    }
    return 0;
}

static void deal(struct impi_deal *d, int64_t processes, int64_t coordinate)
{
    int64_t first = d->block * coordinate;
    d->round = d->block * processes;
    d->full = d->rest = d->first = d->last = 0;
    if (first >= d->whole) return;
    d->first = first;
    d->full = (d->whole - first) / d->round;
    d->rest = (d->whole - first) % d->round;
    if (d->rest >= d->block) {
        d->full++;
        d->rest = 0;
    }
    d->last = first + d->full * d->round + d->rest - 1;
    if (d->rest == 0) d->last += d->block - d->round;
}

int impi_darray_deal(struct impi_deal *dims, int n, int64_t size, int64_t rank, const int32_t *arrays)
{
    const int32_t *wholes = arrays, *distributions = wholes + n, *arguments = distributions + n, *grid = arguments + n;
    int64_t processes = 1;
    for (int i = 0; i < n; i++) {
        if (wholes[i] < 1 || grid[i] < 1 || processes > size) return 0;
        dims[i].whole = wholes[i];
        dims[i].block = block_of(wholes[i], distributions[i], arguments[i], grid[i]);
        if (dims[i].block == 0) return 0;
        processes *= grid[i];
    }
    if (processes != size || rank < 0 || rank >= size) return 0;
    for (int i = n - 1; i >= 0; i--) { /* the grid is in the order of C, whatever that of the array */
        deal(&dims[i], grid[i], rank % grid[i]);
        rank /= grid[i];
    }
    return 1;
}

static int darray(int large, int size, int rank, int n, const int *wholes, const int *distributions, const int *arguments, const int *grid,
                  int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_deal dims[IMPI_TYPE_DEPTH];
    int32_t arrays[4 * IMPI_TYPE_DEPTH];
    if (UNLIKELY(n < 1 || n > IMPI_TYPE_DEPTH || !wholes || !distributions || !arguments || !grid || !oldtype)) return 0;
    size_t bytes = (size_t)n * sizeof(int);
    struct impi_type_draft d = {MPI_COMBINER_DARRAY, large, oldtype, {n, size, rank, order}, .longest = 1, .elements = 1, .arrays = {{arrays, 4 * bytes}}};
    memcpy(arrays, wholes, bytes);
    memcpy(arrays + n, distributions, bytes);
    memcpy(arrays + 2 * n, arguments, bytes);
    memcpy(arrays + 3 * n, grid, bytes);
    if (UNLIKELY((order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) || !impi_darray_deal(dims, n, size, rank, arrays))) return 0;
    for (int i = 0; i < n; i++) {
        d.longest *= (double)dims[i].whole;
        d.elements *= (double)(dims[i].full * dims[i].block + dims[i].rest);
    }
    d.apart = d.longest;
    return LIKELY(impi_type_record(&d, newtype));
}

int impi_direct_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[], const int array_of_distribs[],
                                   const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype,
                                   MPI_Datatype *newtype)
{
    if (LIKELY(darray(0, size, rank, ndims, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype)))
        return MPI_SUCCESS;
    IN_GO(impi_Type_create_darray(size, rank, ndims, (uintptr_t)array_of_gsizes, (uintptr_t)array_of_distribs,
                                  (uintptr_t)array_of_dargs, (uintptr_t)array_of_psizes, order, (uintptr_t)oldtype,
                                  (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[], const int array_of_distribs[],
                                     const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype,
                                     MPI_Datatype *newtype)
{
    struct impi_narrow_list wholes;
    int made = impi_narrow_counts(&wholes, array_of_gsizes, ndims)
        && darray(1, size, rank, ndims, wholes.v, array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype);
    impi_widen_counts(&wholes);
    if (LIKELY(made)) return MPI_SUCCESS;
    IN_GO(impi_Type_create_darray(size, rank, ndims, (uintptr_t)array_of_gsizes, (uintptr_t)array_of_distribs,
                                  (uintptr_t)array_of_dargs, (uintptr_t)array_of_psizes, order, (uintptr_t)oldtype,
                                  (uintptr_t)newtype, 1));
}
