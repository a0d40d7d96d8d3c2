/* Datatypes as C sees them. What a type means, Go computes (package datatype); what C needs of it, Go publishes here
 * (types.go): sizes and bounds when it makes the type, and, when a committed type is first used and is simple enough, a
 * plan by which C moves elements. C decides nothing about types; where nothing is published, Go makes the call.
 *
 *     constructor (Go) -> entry: handle, shape -> MPI_Type_commit: a flag -> first use (Go) -> plan
 *         -> MPI_Type_free -> ended -> next constructor (Go): the entry is free again, or waits for the same call
 *
 * An entry lives as long as its handle, and as receives that C has posted of it (impi_type_hold). Whoever gives back
 * the last of these references lists it as ended, and Go sees to it when it makes or ends a type next. */
#ifndef IMPI_TYPES_H
#define IMPI_TYPES_H

#include <stdint.h>
#include "direct.h"
#include "../kernel/kernels.h"

enum {
    IMPI_TYPE_NAMED = 512,     /* handles of predefined types, from MPI_DATATYPE_NULL on */
    IMPI_TYPE_CHUNK = 1024,    /* entries that are allocated together */
    IMPI_TYPE_CHUNKS = 1 << 12,
    IMPI_TYPE_BLOCKS = 16      /* a list of so many blocks stands in the entry */
};

/* In bytes. */
struct impi_shape {
    int64_t size; /* -1: there is no such type */
    int64_t lb, ub;
};

enum {
    IMPI_TYPE_COMMITTED = 1, /* flags of an entry: the program has committed the type */
    IMPI_TYPE_PLANNED = 2,   /* there is a plan */
    IMPI_TYPE_PLAIN = 4,     /* to end the handle is all that MPI_Type_free has to do */
    IMPI_TYPE_COMPILED = 8,  /* Go has looked whether there is a plan */
    IMPI_TYPE_USABLE = IMPI_TYPE_COMMITTED | IMPI_TYPE_PLANNED
};

struct impi_type {
    uintptr_t handle; /* 0: none, or ended; stored last */
    uint32_t refs;
    uint32_t flags;
    uint32_t slot;
    uint32_t next; /* the one that ended before this, its slot + 1 */
    struct impi_shape shape;
    struct impi_plan plan;
    int32_t offs[IMPI_TYPE_BLOCKS], lens[IMPI_TYPE_BLOCKS];
};

struct impi_types {
    uint32_t ended; /* the entry that ended last, its slot + 1 */
    struct impi_type *chunks[IMPI_TYPE_CHUNKS];
    struct impi_shape named[IMPI_TYPE_NAMED];
};

__attribute__((visibility("hidden"))) extern struct impi_types impi_types;

/* The entry of a handle; NULL if the handle is stale, or of something else. */
static inline struct impi_type *impi_type_find(uintptr_t handle)
{
    uint32_t slot = (uint32_t)handle - IMPI_FIRST_HANDLE;
    if (UNLIKELY(slot / IMPI_TYPE_CHUNK >= IMPI_TYPE_CHUNKS)) return NULL;
    struct impi_type *chunk = __atomic_load_n(&impi_types.chunks[slot / IMPI_TYPE_CHUNK], __ATOMIC_ACQUIRE);
    if (UNLIKELY(!chunk)) return NULL;
    struct impi_type *t = &chunk[slot % IMPI_TYPE_CHUNK];
    return LIKELY(__atomic_load_n(&t->handle, __ATOMIC_ACQUIRE) == handle) ? t : NULL;
}

/* The shape of any datatype; NULL if Go has to be asked. */
static inline const struct impi_shape *impi_type_shape(MPI_Datatype datatype)
{
    uintptr_t handle = (uintptr_t)datatype, named = handle - (uintptr_t)MPI_DATATYPE_NULL;
    if (UNLIKELY(!__atomic_load_n(&impi_in_use, __ATOMIC_ACQUIRE))) return NULL;
    if (named < IMPI_TYPE_NAMED) return LIKELY(impi_types.named[named].size >= 0) ? &impi_types.named[named] : NULL;
    const struct impi_type *t = impi_type_find(handle);
    return LIKELY(t) ? &t->shape : NULL;
}

/* Keeps an entry while its handle may end; NULL if that has ended. */
__attribute__((visibility("hidden"))) struct impi_type *impi_type_hold(uintptr_t handle);

/* Gives a reference back. */
__attribute__((visibility("hidden"))) void impi_type_release(struct impi_type *t);

/* The plan by which C can move so many elements at an address, and their bytes in *n; NULL if Go has to move them. */
const struct impi_plan *impi_type_planned(const void *typed, int64_t count, uintptr_t handle, int64_t *n);

#endif
