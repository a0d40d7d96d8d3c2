/* What is asked of datatypes: bounds, how they were made, how many elements a status counts. Of predefined and recorded ones C
 * answers (type_record.h); anything else, and what may be wrong, goes to Go. Order: bounds, elements, constructors' arguments. */
#include <string.h>
#include "_cgo_export.h"
#include "attr_fast.h"
#include "direct.h"
#include "type_find.h"
#include "z_shim.h"
#include "z_direct.h"

static inline const struct impi_shape *shape_of(MPI_Datatype datatype)
{
    return LIKELY(__atomic_load_n(&impi_attr.open, __ATOMIC_ACQUIRE)) ? impi_type_shape((uintptr_t)datatype) : NULL;
}

int impi_direct_Get_address(const void *location, MPI_Aint *address)
{
    if (UNLIKELY(!address)) IN_GO(impi_Get_address((uintptr_t)location, (uintptr_t)address));
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

int impi_direct_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    const struct impi_shape *s = shape_of(datatype);
    if (UNLIKELY(!s || !lb || !extent)) IN_GO(impi_Type_get_extent((uintptr_t)datatype, (uintptr_t)lb, (uintptr_t)extent));
    *lb = s->lb;
    *extent = s->ub - s->lb;
    return MPI_SUCCESS;
}

int impi_direct_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    const struct impi_shape *s = shape_of(datatype);
    if (UNLIKELY(!s || !lb || !extent))
        IN_GO(impi_Type_get_true_extent((uintptr_t)datatype, (uintptr_t)lb, (uintptr_t)extent));
    *lb = s->lo;
    *extent = s->hi - s->lo;
    return MPI_SUCCESS;
}

/* MPI_Aint and MPI_Count are the same integer. */
int impi_direct_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    return impi_direct_Type_get_extent_c(datatype, (MPI_Count *)lb, (MPI_Count *)extent);
}

int impi_direct_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    return impi_direct_Type_get_true_extent_c(datatype, (MPI_Count *)lb, (MPI_Count *)extent);
}

/* The basic elements in so many bytes, MPI_UNDEFINED if they end within one; 0 if Go has to count. */
static inline int counted(const struct impi_shape *s, int64_t bytes, int64_t *n)
{
    int64_t rest;
    *n = bytes == 0 ? 0 : MPI_UNDEFINED;
    if (bytes == 0 || s->size == 0 || bytes < 0) return 1;
    rest = bytes % s->size;
    if (rest == 0) *n = bytes / s->size * s->elems;
    else if (s->unit == 0) return 0;
    else if (rest % s->unit == 0) *n = bytes / s->size * s->elems + rest / s->unit;
    return 1;
}

static inline int elements(const MPI_Status *status, MPI_Datatype datatype, int64_t *n)
{
    const struct impi_shape *s = shape_of(datatype);
    return LIKELY(s && status && !(status->MPI_internal[2] & IMPI_STATUS_EXTERNAL)) && counted(s, impi_status_bytes(status), n);
}

RARE int elements_in_go(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    int64_t n = 0;
    int err = impi_Get_elements((uintptr_t)status, (uintptr_t)datatype, count ? (uintptr_t)&n : 0);
    if (err) return impi_raise(err);
    *count = impi_narrow(n);
    return MPI_SUCCESS;
}

int impi_direct_Get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    int64_t n;
    if (UNLIKELY(!count || !elements(status, datatype, &n))) return elements_in_go(status, datatype, count);
    *count = impi_narrow(n);
    return MPI_SUCCESS;
}

int impi_direct_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    int64_t n;
    if (UNLIKELY(!count || !elements(status, datatype, &n)))
        IN_GO(impi_Get_elements((uintptr_t)status, (uintptr_t)datatype, (uintptr_t)count));
    *count = n;
    return MPI_SUCCESS;
}

/* The arguments of a constructor in the order in which MPI_Type_get_contents lists them (MPI 5.0, 5.1.13; datatype/contents.go).
 * Counts are integers, and addresses addresses; of a constructor with large counts both are large counts. */
enum class { INTEGERS, COUNTS, ADDRESSES };

/* Is given n arguments of a class, the first at `from`: entries of 8 bytes if they are wide, else of 4. */
typedef void visitor(void *arg, enum class class, int wide, int64_t n, const void *from);

/* Shows the arguments of a record to a visitor. Arrays may be gone, unless they stand in the record. */
static inline __attribute__((always_inline)) void each_argument(const struct impi_type_record *r, visitor *visit, void *arg)
{
    const int64_t n = r->n[0], *v = r->n;
    const char *arrays = __atomic_load_n(&r->arrays, __ATOMIC_RELAXED);
    switch (r->combiner) {
    case MPI_COMBINER_CONTIGUOUS: visit(arg, COUNTS, 1, 1, v); break;
    case MPI_COMBINER_VECTOR: visit(arg, COUNTS, 1, 3, v); break;
    case MPI_COMBINER_HVECTOR: visit(arg, COUNTS, 1, 2, v), visit(arg, ADDRESSES, 1, 1, v + 2); break;
    case MPI_COMBINER_INDEXED: visit(arg, COUNTS, 1, 1, v), visit(arg, COUNTS, 0, n, arrays + 4 * n), visit(arg, COUNTS, 0, n, arrays); break;
    case MPI_COMBINER_HINDEXED: visit(arg, COUNTS, 1, 1, v), visit(arg, COUNTS, 0, n, arrays + 8 * n), visit(arg, ADDRESSES, 1, n, arrays); break;
    case MPI_COMBINER_INDEXED_BLOCK: visit(arg, COUNTS, 1, 2, v), visit(arg, COUNTS, 0, n, arrays); break;
    case MPI_COMBINER_HINDEXED_BLOCK: visit(arg, COUNTS, 1, 2, v), visit(arg, ADDRESSES, 1, n, arrays); break;
    case MPI_COMBINER_STRUCT: visit(arg, COUNTS, 1, 1, v), visit(arg, COUNTS, 0, n, arrays + 16 * n), visit(arg, ADDRESSES, 1, n, arrays); break;
    case MPI_COMBINER_RESIZED: visit(arg, ADDRESSES, 1, 2, v); break;
    case MPI_COMBINER_SUBARRAY: visit(arg, INTEGERS, 1, 1, v), visit(arg, COUNTS, 0, 3 * n, arrays), visit(arg, INTEGERS, 1, 1, v + 1); break;
    case MPI_COMBINER_DARRAY:
        visit(arg, INTEGERS, 1, 2, v + 1), visit(arg, INTEGERS, 1, 1, v), visit(arg, COUNTS, 0, n, arrays);
        visit(arg, INTEGERS, 0, 3 * n, arrays + 4 * n), visit(arg, INTEGERS, 1, 1, v + 3);
        break;
    }
}

/* How many arguments there are. */
struct envelope { int64_t integers, addresses, large_counts, datatypes; int combiner, large; };

static inline __attribute__((always_inline)) void count_argument(void *arg, enum class class, int wide, int64_t n, const void *from)
{
    struct envelope *e = arg;
    (void)wide, (void)from;
    if (class == INTEGERS) e->integers += n;
    else if (e->large) e->large_counts += n;
    else if (class == ADDRESSES) e->addresses += n;
    else e->integers += n;
}

/* How a type was made; 0 if Go has to be asked. The record is NULL for a predefined one. */
static inline int envelope(MPI_Datatype datatype, struct envelope *e, const struct impi_type_record **record)
{
    uintptr_t handle = (uintptr_t)datatype, named = handle - (uintptr_t)MPI_DATATYPE_NULL;
    if (UNLIKELY(!__atomic_load_n(&impi_attr.open, __ATOMIC_ACQUIRE))) return 0;
    *e = (struct envelope){.combiner = MPI_COMBINER_NAMED};
    *record = NULL;
    if (named < IMPI_TYPE_NAMED) return impi_types.named[named].elems > 0;
    const struct impi_type_record *r = *record = impi_type_find(handle);
    if (UNLIKELY(!r)) return 0;
    e->combiner = r->combiner;
    e->large = r->large;
    e->datatypes = r->old ? 1 : r->n[0];
    each_argument(r, count_argument, e);
    return 1;
}

RARE int envelope_in_go(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes, int *combiner)
{
    int64_t integers = 0, addresses = 0, datatypes = 0;
    int err = impi_Type_get_envelope((uintptr_t)datatype, num_integers ? (uintptr_t)&integers : 0, num_addresses ? (uintptr_t)&addresses : 0, 0,
                                     num_datatypes ? (uintptr_t)&datatypes : 0, (uintptr_t)combiner, 0);
    if (err) return impi_raise(err);
    *num_integers = impi_narrow(integers);
    *num_addresses = impi_narrow(addresses);
    *num_datatypes = impi_narrow(datatypes);
    return MPI_SUCCESS;
}

int impi_direct_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes, int *combiner)
{
    struct envelope e;
    const struct impi_type_record *r;
    if (UNLIKELY(!num_integers || !num_addresses || !num_datatypes || !combiner || !envelope(datatype, &e, &r) || e.large_counts))
        return envelope_in_go(datatype, num_integers, num_addresses, num_datatypes, combiner);
    *num_integers = impi_narrow(e.integers);
    *num_addresses = impi_narrow(e.addresses);
    *num_datatypes = impi_narrow(e.datatypes);
    *combiner = e.combiner;
    return MPI_SUCCESS;
}

int impi_direct_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses, MPI_Count *num_large_counts,
                                    MPI_Count *num_datatypes, int *combiner)
{
    struct envelope e;
    const struct impi_type_record *r;
    if (UNLIKELY(!num_integers || !num_addresses || !num_large_counts || !num_datatypes || !combiner || !envelope(datatype, &e, &r)))
        IN_GO(impi_Type_get_envelope((uintptr_t)datatype, (uintptr_t)num_integers, (uintptr_t)num_addresses,
                                     (uintptr_t)num_large_counts, (uintptr_t)num_datatypes, (uintptr_t)combiner, 1));
    *num_integers = e.integers;
    *num_addresses = e.addresses;
    *num_large_counts = e.large_counts;
    *num_datatypes = e.datatypes;
    *combiner = e.combiner;
    return MPI_SUCCESS;
}

/* The program's arrays, as far as they are filled. */
struct contents {
    int large, *integers;
    MPI_Aint *addresses;
    MPI_Count *large_counts;
};

static inline int64_t *copy_large(int64_t *to, int wide, int64_t n, const void *from)
{
    for (int64_t i = 0; i < n; i++) to[i] = wide ? ((const int64_t *)from)[i] : ((const int32_t *)from)[i];
    return to + n;
}

static inline int *copy_integers(int *to, int wide, int64_t n, const void *from)
{
    for (int64_t i = 0; i < n; i++) to[i] = wide ? (int)((const int64_t *)from)[i] : ((const int32_t *)from)[i];
    return to + n;
}

static inline __attribute__((always_inline)) void copy_argument(void *arg, enum class class, int wide, int64_t n, const void *from)
{
    struct contents *c = arg;
    if (class != INTEGERS && c->large) c->large_counts = copy_large(c->large_counts, wide, n, from);
    else if (class == ADDRESSES) c->addresses = copy_large(c->addresses, wide, n, from);
    else c->integers = copy_integers(c->integers, wide, n, from);
}

/* Hands out what a recorded type was made of, if there is room; 0 if Go has to. Only arrays that stand in the record are sure to
 * be there without the records' lock. */
static int contents(MPI_Datatype datatype, int64_t integers, int64_t addresses, int64_t large_counts, int64_t datatypes, struct contents c,
                    MPI_Datatype *olds)
{
    struct envelope e;
    const struct impi_type_record *r;
    if (!envelope(datatype, &e, &r) || !r || __atomic_load_n(&r->arrays, __ATOMIC_RELAXED) != r->own) return 0;
    if (e.integers > integers || e.addresses > addresses || e.large_counts > large_counts || e.datatypes > datatypes) return 0;
    if ((e.integers && !c.integers) || (e.addresses && !c.addresses) || (e.large_counts && !c.large_counts)) return 0;
    if (!olds || !impi_type_olds(r, (uintptr_t *)olds)) return 0;
    c.large = e.large;
    each_argument(r, copy_argument, &c);
    return 1;
}

int impi_direct_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int array_of_integers[],
                                  MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
    struct contents c = {0, array_of_integers, array_of_addresses, NULL};
    if (LIKELY(contents(datatype, max_integers, max_addresses, 0, max_datatypes, c, array_of_datatypes))) return MPI_SUCCESS;
    IN_GO(impi_Type_get_contents((uintptr_t)datatype, max_integers, max_addresses, 0, max_datatypes, (uintptr_t)array_of_integers,
                                 (uintptr_t)array_of_addresses, 0, (uintptr_t)array_of_datatypes, 0));
}

int impi_direct_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large_counts,
                                    MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
                                    MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])
{
    struct contents c = {0, array_of_integers, array_of_addresses, array_of_large_counts};
    if (LIKELY(contents(datatype, max_integers, max_addresses, max_large_counts, max_datatypes, c, array_of_datatypes))) return MPI_SUCCESS;
    IN_GO(impi_Type_get_contents((uintptr_t)datatype, max_integers, max_addresses, max_large_counts, max_datatypes,
                                 (uintptr_t)array_of_integers, (uintptr_t)array_of_addresses,
                                 (uintptr_t)array_of_large_counts, (uintptr_t)array_of_datatypes, 1));
}
