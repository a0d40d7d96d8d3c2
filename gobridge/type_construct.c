/* The constructors of datatypes in C: each sums up how far its arguments reach, and records them (type_record.h) or calls Go. The
 * large forms have the same records, if their lengths, and displacements in units of an old type, are numbers of 32 bits. */
#include "_cgo_export.h"
#include "attr_fast.h"
#include "type_construct.h"
#include "type_record.h"
#include "z_shim.h"
#include "z_direct.h"

static inline double magnitude(int64_t n) { return __builtin_fabs((double)n); }

static int contiguous(int large, int64_t count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_type_draft d = {MPI_COMBINER_CONTIGUOUS, large, oldtype, {count}, .longest = (double)count, .elements = (double)count};
    return LIKELY(count >= 0 && oldtype && impi_type_record(&d, newtype));
}

int impi_direct_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    if (LIKELY(contiguous(0, count, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_contiguous(count, (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    if (LIKELY(contiguous(1, count, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_contiguous(count, (uintptr_t)oldtype, (uintptr_t)newtype, 1));
}

static int vector(int large, int64_t count, int64_t blocklength, int64_t stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_type_draft d = {MPI_COMBINER_VECTOR, large, oldtype, {count, blocklength, stride}, .apart = magnitude(stride) * (double)count,
                                .longest = (double)blocklength, .elements = (double)count * (double)blocklength};
    return LIKELY((count | blocklength) >= 0 && oldtype && impi_type_record(&d, newtype));
}

int impi_direct_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    if (LIKELY(vector(0, count, blocklength, stride, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_vector(count, blocklength, stride, (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    if (LIKELY(vector(1, count, blocklength, stride, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_vector(count, blocklength, stride, (uintptr_t)oldtype, (uintptr_t)newtype, 1));
}

static int hvector(int large, int64_t count, int64_t blocklength, int64_t stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_type_draft d = {MPI_COMBINER_HVECTOR, large, oldtype, {count, blocklength, stride}, .away = magnitude(stride) * (double)count,
                                .longest = (double)blocklength, .elements = (double)count * (double)blocklength};
    return LIKELY((count | blocklength) >= 0 && oldtype && impi_type_record(&d, newtype));
}

int impi_direct_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    if (LIKELY(hvector(0, count, blocklength, stride, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_create_hvector(count, blocklength, stride, (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    if (LIKELY(hvector(1, count, blocklength, stride, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_create_hvector(count, blocklength, stride, (uintptr_t)oldtype, (uintptr_t)newtype, 1));
}

/* At most twice the largest magnitude among n integers. */
static double farthest(const int *v, int64_t n)
{
    int all = 0;
    for (int64_t i = 0; i < n; i++) all |= v[i] ^ v[i] >> 31;
    return (double)all + 1;
}

static double farthest_bytes(const MPI_Aint *v, int64_t n)
{
    MPI_Aint all = 0;
    for (int64_t i = 0; i < n; i++) all |= v[i] ^ v[i] >> 63;
    return (double)all + 1;
}

/* Sums up the block lengths; 0 if one is negative. */
static int add_lengths(struct impi_type_draft *d, const int *lens, int64_t n)
{
    int64_t sum = 0;
    int all = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += lens[i];
        all |= lens[i];
    }
    d->elements = (double)sum;
    d->longest = (double)all;
    return all >= 0;
}

static int indexed(int large, int64_t count, const int *lens, const int *at, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    size_t bytes = (size_t)count * sizeof(int);
    struct impi_type_draft d = {MPI_COMBINER_INDEXED, large, oldtype, {count}, .arrays = {{at, bytes}, {lens, bytes}}};
    if (UNLIKELY(!lens || !at || !oldtype || count <= 0 || !add_lengths(&d, lens, count))) return 0;
    d.apart = farthest(at, count);
    return LIKELY(impi_type_record(&d, newtype));
}

static int hindexed(int large, int64_t count, const int *lens, const MPI_Aint *at, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_type_draft d = {MPI_COMBINER_HINDEXED, large, oldtype, {count},
                                .arrays = {{at, (size_t)count * sizeof(MPI_Aint)}, {lens, (size_t)count * sizeof(int)}}};
    if (UNLIKELY(!lens || !at || !oldtype || count <= 0 || !add_lengths(&d, lens, count))) return 0;
    d.away = farthest_bytes(at, count);
    return LIKELY(impi_type_record(&d, newtype));
}

static int indexed_block(int large, int64_t count, int64_t blocklength, const int *at, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_type_draft d = {MPI_COMBINER_INDEXED_BLOCK, large, oldtype, {count, blocklength}, .longest = (double)blocklength,
                                .elements = (double)count * (double)blocklength, .arrays = {{at, (size_t)count * sizeof(int)}}};
    if (UNLIKELY(!at || !oldtype || count <= 0 || blocklength < 0)) return 0;
    d.apart = farthest(at, count);
    return LIKELY(impi_type_record(&d, newtype));
}

static int hindexed_block(int large, int64_t count, int64_t blocklength, const MPI_Aint *at, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_type_draft d = {MPI_COMBINER_HINDEXED_BLOCK, large, oldtype, {count, blocklength}, .longest = (double)blocklength,
                                .elements = (double)count * (double)blocklength, .arrays = {{at, (size_t)count * sizeof(MPI_Aint)}}};
    if (UNLIKELY(!at || !oldtype || count <= 0 || blocklength < 0)) return 0;
    d.away = farthest_bytes(at, count);
    return LIKELY(impi_type_record(&d, newtype));
}

static int structure(int large, int64_t count, const int *lens, const MPI_Aint *at, const MPI_Datatype *olds, MPI_Datatype *newtype)
{
    struct impi_type_draft d = {MPI_COMBINER_STRUCT, large, 0, {count}, .arrays = {{at, (size_t)count * sizeof(MPI_Aint)},
        {olds, (size_t)count * sizeof(MPI_Datatype)}, {lens, (size_t)count * sizeof(int)}}};
    return LIKELY(count > 0 && lens && at && olds && add_lengths(&d, lens, count) && impi_type_record(&d, newtype));
}

int impi_direct_Type_indexed(int count, const int array_of_blocklengths[], const int array_of_displacements[], MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    if (LIKELY(indexed(0, count, array_of_blocklengths, array_of_displacements, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_indexed(count, (uintptr_t)array_of_blocklengths, (uintptr_t)array_of_displacements,
                            (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                                     MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    if (LIKELY(hindexed(0, count, array_of_blocklengths, array_of_displacements, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_create_hindexed(count, (uintptr_t)array_of_blocklengths, (uintptr_t)array_of_displacements,
                                    (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[], MPI_Datatype oldtype,
                                          MPI_Datatype *newtype)
{
    if (LIKELY(indexed_block(0, count, blocklength, array_of_displacements, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_create_indexed_block(count, blocklength, (uintptr_t)array_of_displacements,
                                         (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                           MPI_Datatype *newtype)
{
    if (LIKELY(hindexed_block(0, count, blocklength, array_of_displacements, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_create_hindexed_block(count, blocklength, (uintptr_t)array_of_displacements,
                                          (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                                   const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    if (LIKELY(structure(0, count, array_of_blocklengths, array_of_displacements, array_of_types, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_create_struct(count, (uintptr_t)array_of_blocklengths, (uintptr_t)array_of_displacements,
                                  (uintptr_t)array_of_types, (uintptr_t)newtype, 0));
}

int impi_direct_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
                               MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_narrow_list lens, at = {0};
    int made = impi_narrow_counts(&lens, array_of_blocklengths, count) && impi_narrow_counts(&at, array_of_displacements, count)
        && indexed(1, count, lens.v, at.v, oldtype, newtype);
    impi_widen_counts(&lens);
    impi_widen_counts(&at);
    if (LIKELY(made)) return MPI_SUCCESS;
    IN_GO(impi_Type_indexed(count, (uintptr_t)array_of_blocklengths, (uintptr_t)array_of_displacements,
                            (uintptr_t)oldtype, (uintptr_t)newtype, 1));
}

int impi_direct_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
                                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_narrow_list lens;
    int made = impi_narrow_counts(&lens, array_of_blocklengths, count) && hindexed(1, count, lens.v, array_of_displacements, oldtype, newtype);
    impi_widen_counts(&lens);
    if (LIKELY(made)) return MPI_SUCCESS;
    IN_GO(impi_Type_create_hindexed(count, (uintptr_t)array_of_blocklengths, (uintptr_t)array_of_displacements,
                                    (uintptr_t)oldtype, (uintptr_t)newtype, 1));
}

int impi_direct_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[],
                                            MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_narrow_list at;
    int made = impi_narrow_counts(&at, array_of_displacements, count) && indexed_block(1, count, blocklength, at.v, oldtype, newtype);
    impi_widen_counts(&at);
    if (LIKELY(made)) return MPI_SUCCESS;
    IN_GO(impi_Type_create_indexed_block(count, blocklength, (uintptr_t)array_of_displacements,
                                         (uintptr_t)oldtype, (uintptr_t)newtype, 1));
}

int impi_direct_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[],
                                             MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    if (LIKELY(hindexed_block(1, count, blocklength, array_of_displacements, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_create_hindexed_block(count, blocklength, (uintptr_t)array_of_displacements,
                                          (uintptr_t)oldtype, (uintptr_t)newtype, 1));
}

int impi_direct_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
                                     const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    struct impi_narrow_list lens;
    int made = impi_narrow_counts(&lens, array_of_blocklengths, count)
        && structure(1, count, lens.v, array_of_displacements, array_of_types, newtype);
    impi_widen_counts(&lens);
    if (LIKELY(made)) return MPI_SUCCESS;
    IN_GO(impi_Type_create_struct(count, (uintptr_t)array_of_blocklengths, (uintptr_t)array_of_displacements,
                                  (uintptr_t)array_of_types, (uintptr_t)newtype, 1));
}

/* Sums up a subarray; 0 if an argument is wrong. */
static int add_dimensions(struct impi_type_draft *d, const int *sizes, const int *subsizes, const int *starts, int ndims)
{
    d->longest = d->elements = 1;
    for (int i = 0; i < ndims; i++) {
        if (sizes[i] < 1 || subsizes[i] < 1 || subsizes[i] > sizes[i] || starts[i] < 0 || starts[i] > sizes[i] - subsizes[i]) return 0;
        d->longest *= sizes[i];
        d->elements *= subsizes[i];
    }
    d->apart = d->longest;
    return 1;
}

static int subarray(int large, int ndims, const int *sizes, const int *subsizes, const int *starts, int order, MPI_Datatype oldtype,
                    MPI_Datatype *newtype)
{
    size_t bytes = (size_t)ndims * sizeof(int);
    struct impi_type_draft d = {MPI_COMBINER_SUBARRAY, large, oldtype, {ndims, order},
                                .arrays = {{sizes, bytes}, {subsizes, bytes}, {starts, bytes}}};
    return LIKELY(ndims > 0 && ndims <= IMPI_TYPE_DEPTH && sizes && subsizes && starts && oldtype
            && (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN)
            && add_dimensions(&d, sizes, subsizes, starts, ndims) && impi_type_record(&d, newtype));
}

int impi_direct_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[], const int array_of_starts[],
                                     int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    if (LIKELY(subarray(0, ndims, array_of_sizes, array_of_subsizes, array_of_starts, order, oldtype, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_create_subarray(ndims, (uintptr_t)array_of_sizes, (uintptr_t)array_of_subsizes,
                                    (uintptr_t)array_of_starts, order, (uintptr_t)oldtype, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[], const MPI_Count array_of_subsizes[],
                                       const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_narrow_list sizes, subsizes = {0}, starts = {0};
    int made = impi_narrow_counts(&sizes, array_of_sizes, ndims) && impi_narrow_counts(&subsizes, array_of_subsizes, ndims) && impi_narrow_counts(&starts, array_of_starts, ndims)
        && subarray(1, ndims, sizes.v, subsizes.v, starts.v, order, oldtype, newtype);
    impi_widen_counts(&sizes);
    impi_widen_counts(&subsizes);
    impi_widen_counts(&starts);
    if (LIKELY(made)) return MPI_SUCCESS;
    IN_GO(impi_Type_create_subarray(ndims, (uintptr_t)array_of_sizes, (uintptr_t)array_of_subsizes,
                                    (uintptr_t)array_of_starts, order, (uintptr_t)oldtype, (uintptr_t)newtype, 1));
}

static int resized(int large, MPI_Datatype oldtype, int64_t lb, int64_t extent, MPI_Datatype *newtype)
{
    struct impi_type_draft d = {MPI_COMBINER_RESIZED, large, oldtype, {lb, extent}, .away = magnitude(lb) + magnitude(extent), .longest = 1,
                                .elements = 1};
    return LIKELY(oldtype && impi_type_record(&d, newtype));
}

int impi_direct_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)
{
    if (LIKELY(resized(0, oldtype, lb, extent, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_create_resized((uintptr_t)oldtype, lb, extent, (uintptr_t)newtype, 0));
}

int impi_direct_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype)
{
    if (LIKELY(resized(1, oldtype, lb, extent, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_create_resized((uintptr_t)oldtype, lb, extent, (uintptr_t)newtype, 1));
}

/* A copy is as committed as the original; attributes, which have functions to be called, are Go's. */
int impi_direct_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct impi_type_draft d = {MPI_COMBINER_DUP, 0, oldtype, .longest = 1, .elements = 1};
    if (LIKELY(oldtype && !__atomic_load_n(&impi_attr.type_keys, __ATOMIC_ACQUIRE) && impi_type_record(&d, newtype))) return MPI_SUCCESS;
    IN_GO(impi_Type_dup((uintptr_t)oldtype, (uintptr_t)newtype));
}
