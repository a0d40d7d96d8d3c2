/* From the handle of a recorded datatype to its record (type_record.h), without a lock. */
#ifndef IMPI_TYPE_FIND_H
#define IMPI_TYPE_FIND_H

#include "direct.h"
#include "type_record.h"

/* The slot that a handle names. */
static inline uint32_t impi_type_slot(uintptr_t handle) { return (uint32_t)handle - IMPI_FIRST_HANDLE - IMPI_TYPE_FIRST; }

static inline struct impi_type_record *impi_type_at(uint32_t slot)
{
    if (UNLIKELY(slot / IMPI_TYPE_CHUNK >= IMPI_TYPE_CHUNKS)) return NULL;
    struct impi_type_record *chunk = __atomic_load_n(&impi_types.chunks[slot / IMPI_TYPE_CHUNK], __ATOMIC_ACQUIRE);
    return chunk ? &chunk[slot % IMPI_TYPE_CHUNK] : NULL;
}

/* The record of a handle; NULL if the handle is stale, or of something else. */
static inline struct impi_type_record *impi_type_find(uintptr_t handle)
{
    struct impi_type_record *r = impi_type_at(impi_type_slot(handle));
    return LIKELY(r && __atomic_load_n(&r->handle, __ATOMIC_ACQUIRE) == handle) ? r : NULL;
}

/* The size of a recorded type, -1 if the handle is of none. */
static inline int64_t impi_type_recorded_size(uintptr_t handle)
{
    const struct impi_type_record *r = impi_type_find(handle);
    return LIKELY(r) ? r->size : -1;
}

/* The shape of a predefined or recorded type, NULL if Go has to be asked. */
static inline const struct impi_shape *impi_type_shape(uintptr_t handle)
{
    uintptr_t named = handle - (uintptr_t)MPI_DATATYPE_NULL;
    if (named < IMPI_TYPE_NAMED) return LIKELY(impi_types.named[named].elems) ? &impi_types.named[named] : NULL;
    const struct impi_type_record *r = impi_type_find(handle);
    if (UNLIKELY(!r)) return NULL;
    return LIKELY(__atomic_load_n(&r->planned, __ATOMIC_ACQUIRE)) ? &r->plan.shape : impi_type_first_look(handle);
}

#endif
