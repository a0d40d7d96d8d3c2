/* rma.h - windows of every kind, and data in every layout, for the tests of one-sided communication.
 *
 * A test that holds for any window runs over all kinds: RMA_EACH(kind) { rma_open(...); ...; rma_close(...); }.
 * Displacements in a dynamic window are addresses, in others they count units from the start: rma_at hides that.
 */
#ifndef RMA_H
#define RMA_H

#include "../check.h"

typedef enum { RMA_CREATE, RMA_ALLOCATE, RMA_SHARED, RMA_DYNAMIC, RMA_KINDS } rma_kind;

static const char *const rma_name[RMA_KINDS] = {"create", "allocate", "allocate_shared", "create_dynamic"};

typedef struct {
    rma_kind kind;
    MPI_Win win;
    char *base;      /* this rank's memory, */
    MPI_Aint size;   /* its bytes, */
    int unit;        /* and what displacements in the memory of any rank are multiples of */
    int ranks;
    MPI_Aint *start; /* the displacement of each rank's first byte */
} rma_window;

/* Can a window of this kind be made on the communicator? Shared memory needs ranks that share it. */
static inline int rma_can(rma_kind kind, MPI_Comm comm) __attribute__((unused));
static inline int rma_can(rma_kind kind, MPI_Comm comm)
{
    MPI_Comm node;
    int all, here, can;
    if (kind != RMA_SHARED) return 1;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(comm, &all);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    here = here == all;
    MPI_Allreduce(&here, &can, 1, MPI_INT, MPI_LAND, comm);
    return can;
}

#define RMA_EACH(kind) \
    for (rma_kind kind = RMA_CREATE; kind < RMA_KINDS; kind++) \
        if (rma_can(kind, MPI_COMM_WORLD))

/* A window of size bytes at this rank. Its memory is aligned for any type, and is filled with 0x5a. */
static inline void rma_open(rma_window *w, rma_kind kind, MPI_Aint size, int unit, MPI_Comm comm)
    __attribute__((unused));
static inline void rma_open(rma_window *w, rma_kind kind, MPI_Aint size, int unit, MPI_Comm comm)
{
    size_t room = size ? ((size_t)size + 63) / 64 * 64 : 64;
    MPI_Aint start = 0;
    *w = (rma_window){.kind = kind, .size = size, .unit = unit};
    MPI_Comm_size(comm, &w->ranks);
    w->start = calloc((size_t)w->ranks, sizeof *w->start);
    switch (kind) {
    case RMA_CREATE:
        w->base = aligned_alloc(64, room);
        CHECK_EQ(MPI_Win_create(w->base, size, unit, MPI_INFO_NULL, comm, &w->win), MPI_SUCCESS);
        break;
    case RMA_ALLOCATE: /* MPICH 4.0 maps the next rank's memory elsewhere if a size is not a multiple of 16 */
        if (check_library("MPICH Version:\t4.0")) size = (MPI_Aint)room;
        CHECK_EQ(MPI_Win_allocate(size, unit, MPI_INFO_NULL, comm, &w->base, &w->win), MPI_SUCCESS);
        break;
    case RMA_SHARED: /* neighbors in memory: sizes that keep the next one aligned */
        CHECK_EQ(MPI_Win_allocate_shared((MPI_Aint)room, unit, MPI_INFO_NULL, comm, &w->base, &w->win), MPI_SUCCESS);
        break;
    default:
        w->base = aligned_alloc(64, room);
        CHECK_EQ(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_attach(w->win, w->base, size), MPI_SUCCESS);
        MPI_Get_address(w->base, &start);
    }
    if (size) memset(w->base, 0x5a, (size_t)size);
    MPI_Allgather(&start, 1, MPI_AINT, w->start, 1, MPI_AINT, comm); /* and nobody's memory is filled from here on */
}

/* The displacement of what lies n units from the start of a rank's memory. */
static inline MPI_Aint rma_at(const rma_window *w, int rank, MPI_Aint n) __attribute__((unused));
static inline MPI_Aint rma_at(const rma_window *w, int rank, MPI_Aint n)
{
    return w->kind == RMA_DYNAMIC ? w->start[rank] + n * w->unit : n;
}

static inline void rma_close(rma_window *w) __attribute__((unused));
static inline void rma_close(rma_window *w)
{
    MPI_Barrier(MPI_COMM_WORLD); /* nobody works on the memory any more */
    if (w->kind == RMA_DYNAMIC) CHECK_EQ(MPI_Win_detach(w->win, w->base), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_free(&w->win), MPI_SUCCESS);
    CHECK(w->win == MPI_WIN_NULL);
    if (w->kind == RMA_CREATE || w->kind == RMA_DYNAMIC) free(w->base);
    free(w->start);
}

/* MPI_MODE_NOCHECK where it works: MPICH 4.0 and Open MPI 4.1 hang later, having given back what they never took. */
static inline int rma_nocheck(void) __attribute__((unused));
static inline int rma_nocheck(void)
{
    return check_library("MPICH Version:\t4.0") || check_library("Open MPI v4.1") ? 0 : MPI_MODE_NOCHECK;
}

/* RMA_LONG elements of a type in different layouts, each within RMA_SPAN: place[i] is where the i-th lies. */
enum { RMA_LONG = 24, RMA_SPAN = 80, RMA_LAYOUTS = 8 };

typedef struct {
    const char *name;
    MPI_Datatype type;
    int count, place[RMA_LONG];
} rma_layout;

static inline void rma_layouts(rma_layout l[RMA_LAYOUTS], MPI_Datatype element, MPI_Aint extent)
    __attribute__((unused));
static inline void rma_layouts(rma_layout l[RMA_LAYOUTS], MPI_Datatype element, MPI_Aint extent)
{
    static const int length[] = {3, 1, 0, 5, 3}, offset[] = {20, 2, 9, 5, 12};
    static const int pair[] = {0, 1, 2, 4, 5, 6}, two[] = {1, 3};
    const MPI_Aint byte[] = {45 * extent, 36 * extent, 27 * extent, 18 * extent, 9 * extent, 0};
    const MPI_Aint at[] = {60 * extent, 2 * extent};
    MPI_Datatype inner, inners[2];

    l[0] = (rma_layout){"no derived type", element, RMA_LONG, {0}};
    l[1] = (rma_layout){"contiguous(8), 3 times", element, 3, {0}};
    MPI_Type_contiguous(8, element, &l[1].type);
    for (int i = 0; i < RMA_LONG; i++) l[0].place[i] = l[1].place[i] = i;

    l[2] = (rma_layout){"vector(6, 4, 7)", element, 1, {0}};
    MPI_Type_vector(6, 4, 7, element, &l[2].type);
    for (int i = 0; i < RMA_LONG; i++) l[2].place[i] = i / 4 * 7 + i % 4;

    l[3] = (rma_layout){"column, 3 times", element, 3, {0}};
    MPI_Type_vector(8, 1, 5, element, &inner);
    MPI_Type_create_resized(inner, 0, extent, &l[3].type);
    MPI_Type_free(&inner);
    for (int i = 0; i < RMA_LONG; i++) l[3].place[i] = i % 8 * 5 + i / 8;

    l[4] = (rma_layout){"indexed out of order, 2 times", element, 2, {0}};
    MPI_Type_indexed(5, length, offset, element, &l[4].type);
    for (int time = 0, i = 0; time < 2; time++) /* from element 2 to 22: 21 apart */
        for (int b = 0; b < 5; b++)
            for (int k = 0; k < length[b]; k++) l[4].place[i++] = time * 21 + offset[b] + k;

    l[5] = (rma_layout){"struct of vectors", element, 1, {0}};
    MPI_Type_vector(2, 3, 4, element, &inner);
    inners[0] = inners[1] = inner;
    MPI_Type_create_struct(2, two, at, inners, &l[5].type);
    MPI_Type_free(&inner);
    for (int i = 0; i < 6; i++) l[5].place[i] = 60 + pair[i];
    for (int i = 0; i < 18; i++) l[5].place[6 + i] = 2 + i / 6 * 7 + pair[i % 6];

    static const int whole[] = {8, 10}, part[] = {6, 4}, from[] = {1, 3};
    l[6] = (rma_layout){"subarray", element, 1, {0}};
    MPI_Type_create_subarray(2, whole, part, from, MPI_ORDER_C, element, &l[6].type);
    for (int i = 0; i < RMA_LONG; i++) l[6].place[i] = (1 + i / 4) * 10 + 3 + i % 4;

    l[7] = (rma_layout){"blocks in descending order", element, 1, {0}};
    MPI_Type_create_hindexed_block(6, 4, byte, element, &l[7].type);
    for (int i = 0; i < RMA_LONG; i++) l[7].place[i] = (5 - i / 4) * 9 + i % 4;

    for (int k = 1; k < RMA_LAYOUTS; k++) MPI_Type_commit(&l[k].type);
}

static inline void rma_layouts_free(rma_layout l[RMA_LAYOUTS]) __attribute__((unused));
static inline void rma_layouts_free(rma_layout l[RMA_LAYOUTS])
{
    for (int k = 1; k < RMA_LAYOUTS; k++) MPI_Type_free(&l[k].type);
}

#endif
