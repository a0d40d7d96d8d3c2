/* The size of any datatype, where C knows it. */
#ifndef IMPI_TYPE_SIZE_H
#define IMPI_TYPE_SIZE_H

#include "attr_fast.h"
#include "type_find.h"

/* -1 if Go has to be asked. */
static inline int64_t impi_type_size(uintptr_t handle)
{
    uintptr_t named = handle - (uintptr_t)MPI_DATATYPE_NULL;
    if (UNLIKELY(!__atomic_load_n(&impi_attr.open, __ATOMIC_ACQUIRE))) return -1;
    if (LIKELY(named < IMPI_ATTR_NAMED)) return impi_attr.named[named];
    uint32_t slot = (uint32_t)handle - IMPI_FIRST_HANDLE;
    if (LIKELY(slot >= IMPI_TYPE_FIRST)) return impi_type_recorded_size(handle);
    if (UNLIKELY(slot >= IMPI_ATTR_TYPES)) return -1;
    const struct impi_attr_type *t = &impi_attr.types[slot];
    return LIKELY(__atomic_load_n(&t->handle, __ATOMIC_ACQUIRE) == handle) ? t->size : -1;
}

#endif
