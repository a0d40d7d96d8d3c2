/* Datatypes that C records and Go makes on first need.
 *
 * Many types are made, built upon and freed without ever being used themselves, and a call into Go costs more than all
 * that the construction of a small type needs. So a constructor whose arguments are beyond doubt only records them here;
 * MPI_Type_commit sets a flag, and MPI_Type_free of a type that Go has not seen releases the record. What uses the type
 * (dataTypeOf) has Go make it from the record (type_record.go). Beyond doubt are old types that are predefined or
 * recorded, and numbers with which no sum can exceed 64 bits; everything else goes to Go, which checks and raises.
 * A simple one needs no Go even when it is packed or sent: C makes its plan (type_plan.c).
 *
 *     constructor -> record -> [MPI_Type_commit: IMPI_TYPE_COMMITTED] -> MPI_Type_free -> idle
 *                       \-> first use: pinned, made by Go, IMPI_TYPE_KNOWN -> MPI_Type_free in Go -> stale -> idle
 *
 * Handles are as all are (handles.go); slots from IMPI_TYPE_FIRST on are records. One lock guards what changes but the
 * state, which is read and committed without it. A record lives as long as its handle and as records made of it that Go
 * has not made yet: those are its references. */
#ifndef IMPI_TYPE_RECORD_H
#define IMPI_TYPE_RECORD_H

#include <stdint.h>
#include "kernels.h"

enum {
    IMPI_TYPE_KIND = 2,        /* kindType */
    IMPI_TYPE_FIRST = 1 << 24, /* above all slots of Go's table */
    IMPI_TYPE_CHUNK = 1024,    /* records that are allocated together */
    IMPI_TYPE_CHUNKS = 1 << 12,
    IMPI_TYPE_DEPTH = 32,      /* of types made of types made of ... */
    IMPI_TYPE_OWN = 192,       /* bytes of arrays that stand in the record */
    IMPI_TYPE_NAMED = 512
};

/* The low bits of a record's state; the generation of its handle stands above. */
enum { IMPI_TYPE_LIVE = 1, IMPI_TYPE_COMMITTED = 2, IMPI_TYPE_KNOWN = 4, IMPI_TYPE_GENERATION = 8, IMPI_TYPE_GENERATIONS = 1 << 24 };

/* Where the data of an element is, its bounds, and what it consists of (datatype/shape.go). */
struct impi_shape {
    int64_t size, lb, ub, lo, hi;
    int64_t size32;        /* bytes of data in external32 */
    int64_t elems;         /* basic elements */
    int32_t align, marked; /* marked: the bounds were set, and do not follow from the data */
    int32_t unit;          /* bytes of each basic element, 0 if they differ */
    int32_t word;          /* external32 has the bytes of words of this size reversed, in all of it; 1: none, -1: of several
                              sizes, 0: it is otherwise */
};

enum {
    IMPI_PIECES = 16,        /* blocks that are listed in the plan */
    IMPI_PLAN_SMALL = 2 << 10 /* bytes up to which elements are moved one by one: Go has the best order for more */
};

/* How one element lies in memory, if it is loops around a block or a list of blocks: then C packs it (pack_fast.c). */
struct impi_type_plan {
    struct impi_shape shape;
    int64_t at;
    int32_t dense;         /* consecutive elements are one block */
    struct impi_list list; /* of the arrays of the record, or of those here */
    union {
        struct impi_nest nest; /* if there is no list */
        struct { int64_t offs[IMPI_PIECES]; int32_t lens[IMPI_PIECES]; int8_t words[IMPI_PIECES]; } pieces;
    };
};

/* What is known of a type here: nothing yet, its shape, or a plan. */
enum { IMPI_PLAN_UNKNOWN, IMPI_PLAN_SHAPE, IMPI_PLAN_MADE };

struct impi_type_record {
    uintptr_t handle; /* 0: none */
    uint32_t state;
    uint32_t slot;
    uint32_t next;    /* the one after this among the idle or the stale, counted from 1 */
    uint64_t refs;
    int32_t combiner;
    int32_t large;    /* made by a constructor with large counts */
    int32_t depth;
    uint32_t planned; /* stored after the plan */
    uintptr_t old;    /* 0: a struct */
    int64_t n[4];     /* the arguments that are no arrays, in their order; first the length of the arrays */
    int64_t size;     /* bytes of data */
    double reach;     /* no size, bound or extent exceeds it in either direction */
    char *arrays;     /* own, or allocated: those of 8 bytes an element first, then those of 4; NULL once nobody needs them */
    struct impi_type_plan plan;
    struct impi_type_plan *external; /* pieces of words of several sizes, which external32 has reversed; NULL: nobody has asked */
    _Alignas(8) char own[IMPI_TYPE_OWN];
};

struct impi_types {
    struct impi_type_record *chunks[IMPI_TYPE_CHUNKS];
    uint32_t used;  /* records that were ever in use */
    uint32_t idle;  /* the first free record, counted from 1; 0: none */
    uint32_t stale; /* free, but Go has still an object for it */
    struct impi_shape named[IMPI_TYPE_NAMED]; /* of predefined types, by handle; no elements where there is none */
};

__attribute__((visibility("hidden")))
extern struct impi_types impi_types;

/* The arrays of a structure. */
struct impi_fields {
    int64_t n;
    const int64_t *away;
    const uintptr_t *olds;
    const int32_t *lens;
};

static inline struct impi_fields impi_fields_of(const struct impi_type_record *r)
{
    const int64_t n = r->n[0], *away = (const int64_t *)r->arrays;
    const uintptr_t *olds = (const uintptr_t *)(away + n);
    return (struct impi_fields){n, away, olds, (const int32_t *)(olds + n)};
}

/* For Go. Pin keeps the record of a handle while Go makes the type; NULL if the handle is stale. */
struct impi_type_record *impi_type_pin(uintptr_t handle);
void impi_type_unpin(struct impi_type_record *r);

/* Go has made the type, as committed as the given state says, and maybe a plan; 0 if the state has changed. What the record
 * keeps for its maker alone is given back, and as many pins. */
int impi_type_made(struct impi_type_record *r, uint32_t state, int pins, const struct impi_type_plan *plan);

/* Go has committed a type that it had made before, and has maybe a plan. */
void impi_type_committed(uintptr_t handle, const struct impi_type_plan *plan);

/* With the records' lock: the shape of a type from the arguments of its constructor, and the rest of its plan, if that is simple
 * (type_plan.c); 0 if not. The record of a type that it is made of, of which as much is known. */
int impi_type_make_plan(const struct impi_type_record *r, struct impi_type_plan *p);
int impi_type_make_external(const struct impi_type_record *r, struct impi_type_plan *p);
const struct impi_type_record *impi_type_part(uintptr_t old);
const struct impi_type_plan *impi_type_part_external(uintptr_t old);

/* Handles for what a recorded type was made of, new ones where that is derived; 0 if Go has to make them. */
int impi_type_olds(const struct impi_type_record *r, uintptr_t *handles);

/* The shape of a recorded type that nobody has looked at, NULL if its handle is stale (type_find.h). */
const struct impi_shape *impi_type_first_look(uintptr_t handle);

/* The plan by which so many elements at an address can be moved in C, and their bytes; NULL if Go has to do it: several that
 * are neither one block nor few bytes. */
const struct impi_type_plan *impi_type_planned(const void *typed, int count, uintptr_t handle, int64_t *n);

/* Moves those n bytes from typed memory to a packed buffer, or back; with the bytes of words of so many bytes reversed. */
void impi_type_move(const struct impi_type_plan *p, const void *typed, const void *packed, int64_t n, int unpack);
void impi_type_swap(const struct impi_type_plan *p, const void *typed, const void *packed, int64_t n, int word, int unpack);

/* As impi_type_planned, of a type whose words are of several sizes, from or to external32; and those bytes moved. */
const struct impi_type_plan *impi_type_planned_external(const void *typed, int count, uintptr_t handle, int64_t *n);
void impi_type_move_external(const struct impi_type_plan *p, const void *typed, const void *packed, int64_t n, int unpack);

/* The same in parts, if the element is made of rows that follow each other in the buffer: bytes of a row, 0 if it is not; and
 * the same if the element is worth handing over in parts, else 0. */
int64_t impi_type_row(const struct impi_type_plan *p, int64_t n);
int64_t impi_type_growth(const struct impi_type_plan *p, int64_t n);

/* Moves the n packed bytes from `from` on, all of them whole rows. */
void impi_type_move_rows(const struct impi_type_plan *p, const void *typed, const void *packed, int64_t from, int64_t n, int unpack);

/* Ends a handle; 0 if it was stale. */
int impi_type_drop(uintptr_t handle);

/* Makes the first stale record idle, after Go has forgotten its object. */
void impi_type_reclaim(void);

#endif
