/* Entries of datatypes (types.h). Order: references, plans, the functions. */
#include "types.h"

struct impi_types impi_types;

struct impi_type *impi_type_hold(uintptr_t handle)
{
    struct impi_type *t = impi_type_find(handle);
    uint32_t refs = t ? __atomic_load_n(&t->refs, __ATOMIC_RELAXED) : 0;
    while (refs && !__atomic_compare_exchange_n(&t->refs, &refs, refs + 1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {}
    if (UNLIKELY(refs == 0)) return NULL;
    if (LIKELY(__atomic_load_n(&t->handle, __ATOMIC_ACQUIRE) == handle)) return t;
    impi_type_release(t); /* it is another type's by now */
    return NULL;
}

/* What Go reads of the list it reads by atomics, too: the sanitizer does not see them. */
void impi_type_release(struct impi_type *t)
{
    if (__atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL)) return;
    uint32_t last = __atomic_load_n(&impi_types.ended, __ATOMIC_RELAXED);
    do __atomic_store_n(&t->next, last, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&impi_types.ended, &last, t->slot + 1, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

const struct impi_plan *impi_type_planned(const void *typed, int64_t count, uintptr_t handle, int64_t *n)
{
    const struct impi_type *t = impi_type_find(handle);
    if (UNLIKELY(!t || ~__atomic_load_n(&t->flags, __ATOMIC_ACQUIRE) & IMPI_TYPE_USABLE)) return NULL;
    const struct impi_plan *p = &t->plan;
    if (UNLIKELY((uintptr_t)typed < 4096 || count < 1)) return NULL; /* the address may be MPI_BOTTOM, or a sentinel */
    if (count > 1 && p->size > p->most / count) return NULL;
    *n = count * p->size;
    return p;
}

/* What follows from it, Go does when the type is used. */
int impi_exec_Type_commit(MPI_Datatype *datatype)
{
    if (UNLIKELY(!datatype || !__atomic_load_n(&impi_in_use, __ATOMIC_RELAXED))) return IMPI_IN_GO;
    struct impi_type *t = impi_type_find((uintptr_t)*datatype);
    if (UNLIKELY(!t)) return IMPI_IN_GO;
    __atomic_fetch_or(&t->flags, IMPI_TYPE_COMMITTED, __ATOMIC_RELAXED);
    return MPI_SUCCESS;
}

int impi_exec_Type_free(MPI_Datatype *datatype)
{
    if (UNLIKELY(!datatype || !__atomic_load_n(&impi_in_use, __ATOMIC_RELAXED))) return IMPI_IN_GO;
    uintptr_t handle = (uintptr_t)*datatype;
    struct impi_type *t = impi_type_find(handle);
    if (UNLIKELY(!t || !(__atomic_load_n(&t->flags, __ATOMIC_ACQUIRE) & IMPI_TYPE_PLAIN))) return IMPI_IN_GO;
    /* Of several threads that try, one succeeds. */
    if (!__atomic_compare_exchange_n(&t->handle, &handle, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return IMPI_IN_GO;
    impi_type_release(t);
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

int impi_exec_Type_size(MPI_Datatype datatype, MPI_Count *size)
{
    const struct impi_shape *s = impi_type_shape(datatype);
    return LIKELY(s && s->size >= 0 && size) ? *size = s->size, MPI_SUCCESS : IMPI_IN_GO;
}

int impi_exec_Type_get_extent(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    const struct impi_shape *s = impi_type_shape(datatype);
    return LIKELY(s && lb && extent) ? *lb = s->lb, *extent = s->ub - s->lb, MPI_SUCCESS : IMPI_IN_GO;
}

int impi_exec_Get_count(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    const struct impi_shape *s = impi_type_shape(datatype);
    if (UNLIKELY(!s || !count || !status || status->MPI_internal[2] & IMPI_STATUS_EXTERNAL)) return IMPI_IN_GO;
    uint64_t low = (uint32_t)status->MPI_internal[0], bytes = low | (uint64_t)(uint32_t)status->MPI_internal[1] << 32;
    uint64_t size = (uint64_t)s->size;
    int whole = bytes == 0 || (size > 0 && (int64_t)bytes > 0 && bytes % size == 0);
    *count = !whole ? MPI_UNDEFINED : bytes == 0 ? 0 : (MPI_Count)(bytes / size);
    return MPI_SUCCESS;
}
