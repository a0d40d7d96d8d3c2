/* forms.h - the 17 collective operations in each of their six forms, with buffers whose contents are known beforehand.
 *
 * Usage:
 *     forms_case c;
 *     forms_make(&c, &world, FORMS_SCATTERV, n, side, root, in_place, spread);
 *     forms_fill(&c, turn);                       // what is sent depends on turn
 *     forms_call(&c.args, FORMS_GATHER, FORMS_NONBLOCKING, &request); MPI_Wait(&request, MPI_STATUS_IGNORE);
 *     forms_check(&c);                            // every element that was received, and all between them
 *     forms_free(&c);
 */
#ifndef FORMS_H
#define FORMS_H

#include "../check.h"
#include <sched.h>

typedef enum {
    FORMS_BARRIER, FORMS_BCAST, FORMS_GATHER, FORMS_GATHERV, FORMS_SCATTER, FORMS_SCATTERV, FORMS_ALLGATHER,
    FORMS_ALLGATHERV, FORMS_ALLTOALL, FORMS_ALLTOALLV, FORMS_ALLTOALLW, FORMS_REDUCE, FORMS_ALLREDUCE,
    FORMS_REDUCE_SCATTER_BLOCK, FORMS_REDUCE_SCATTER, FORMS_SCAN, FORMS_EXSCAN, FORMS_OPS,
    FORMS_NEIGHBOR_ALLGATHER = FORMS_OPS, FORMS_NEIGHBOR_ALLGATHERV, FORMS_NEIGHBOR_ALLTOALL,
    FORMS_NEIGHBOR_ALLTOALLV, FORMS_NEIGHBOR_ALLTOALLW, FORMS_ALL
} forms_op;

typedef enum {
    FORMS_BLOCKING, FORMS_NONBLOCKING, FORMS_PERSISTENT, FORMS_BLOCKING_C, FORMS_NONBLOCKING_C, FORMS_PERSISTENT_C,
    FORMS_KINDS
} forms_kind;

static const char *const forms_name[FORMS_ALL] __attribute__((unused)) = {
    "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
    "alltoallw", "reduce", "allreduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan",
    "neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw",
};

static const char *const forms_kind_name[FORMS_KINDS] __attribute__((unused)) = {
    "MPI_X", "MPI_Ix", "MPI_X_init", "MPI_X_c", "MPI_Ix_c", "MPI_X_init_c"};

/* Blocks of one side: counts and displacements in both widths. Those of w forms are in bytes. */
typedef struct {
    void *buf;
    MPI_Count count;    /* of operations with one count */
    MPI_Datatype type;  /* of those with one type */
    int *counts, *displs;
    MPI_Count *counts_c;
    MPI_Aint *displs_c;
    MPI_Datatype *types;
} forms_side;

typedef struct {
    forms_side s, r;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    MPI_Info info;
} forms_args;

/* Calls an operation in one of its forms. */
static inline int forms_call(const forms_args *a, int op, int kind, MPI_Request *q) __attribute__((unused));
static inline int forms_call(const forms_args *a, int op, int kind, MPI_Request *q)
{
    const forms_side *s = &a->s, *r = &a->r;
    MPI_Comm comm = a->comm;
    MPI_Info info = a->info;
#define FORMS_ARGS(...) __VA_ARGS__,
#define FORMS_NARROW(OP, Name, name, args) \
    case OP * FORMS_KINDS + FORMS_BLOCKING: return MPI_##Name(args comm); \
    case OP * FORMS_KINDS + FORMS_NONBLOCKING: return MPI_I##name(args comm, q); \
    case OP * FORMS_KINDS + FORMS_PERSISTENT: return MPI_##Name##_init(args comm, info, q);
#define FORMS_WIDE(OP, Name, name, args) \
    case OP * FORMS_KINDS + FORMS_BLOCKING_C: return MPI_##Name##_c(args comm); \
    case OP * FORMS_KINDS + FORMS_NONBLOCKING_C: return MPI_I##name##_c(args comm, q); \
    case OP * FORMS_KINDS + FORMS_PERSISTENT_C: return MPI_##Name##_init_c(args comm, info, q)
#define FORMS_BOTH(OP, Name, name, args, wide) \
    FORMS_NARROW(OP, Name, name, FORMS_ARGS args) \
    FORMS_WIDE(OP, Name, name, FORMS_ARGS wide)
#define FORMS_EVEN (s->buf, sn, s->type, r->buf, rn, r->type)
#define FORMS_EVEN_C (s->buf, s->count, s->type, r->buf, r->count, r->type)
#define FORMS_ONE_V (s->buf, sn, s->type, r->buf, r->counts, r->displs, r->type)
#define FORMS_ONE_V_C (s->buf, s->count, s->type, r->buf, r->counts_c, r->displs_c, r->type)
#define FORMS_V (s->buf, s->counts, s->displs, s->type, r->buf, r->counts, r->displs, r->type)
#define FORMS_V_C (s->buf, s->counts_c, s->displs_c, s->type, r->buf, r->counts_c, r->displs_c, r->type)
#define FORMS_W (s->buf, s->counts, s->displs, s->types, r->buf, r->counts, r->displs, r->types)
#define FORMS_W_AINT (s->buf, s->counts, s->displs_c, s->types, r->buf, r->counts, r->displs_c, r->types)
#define FORMS_W_C (s->buf, s->counts_c, s->displs_c, s->types, r->buf, r->counts_c, r->displs_c, r->types)
#define FORMS_VECTOR (s->buf, r->buf, sn, s->type, a->op)
#define FORMS_VECTOR_C (s->buf, r->buf, s->count, s->type, a->op)
    int sn = (int)s->count, rn = (int)r->count;
    switch (op * FORMS_KINDS + kind) {
    case FORMS_BARRIER * FORMS_KINDS + FORMS_BLOCKING:
    case FORMS_BARRIER * FORMS_KINDS + FORMS_BLOCKING_C: return MPI_Barrier(comm);
    case FORMS_BARRIER * FORMS_KINDS + FORMS_NONBLOCKING:
    case FORMS_BARRIER * FORMS_KINDS + FORMS_NONBLOCKING_C: return MPI_Ibarrier(comm, q);
    case FORMS_BARRIER * FORMS_KINDS + FORMS_PERSISTENT:
    case FORMS_BARRIER * FORMS_KINDS + FORMS_PERSISTENT_C: return MPI_Barrier_init(comm, info, q);
        FORMS_BOTH(FORMS_BCAST, Bcast, bcast, (r->buf, rn, r->type, a->root), (r->buf, r->count, r->type, a->root));
        FORMS_BOTH(FORMS_GATHER, Gather, gather, (s->buf, sn, s->type, r->buf, rn, r->type, a->root),
                   (s->buf, s->count, s->type, r->buf, r->count, r->type, a->root));
        FORMS_BOTH(FORMS_GATHERV, Gatherv, gatherv,
                   (s->buf, sn, s->type, r->buf, r->counts, r->displs, r->type, a->root),
                   (s->buf, s->count, s->type, r->buf, r->counts_c, r->displs_c, r->type, a->root));
        FORMS_BOTH(FORMS_SCATTER, Scatter, scatter, (s->buf, sn, s->type, r->buf, rn, r->type, a->root),
                   (s->buf, s->count, s->type, r->buf, r->count, r->type, a->root));
        FORMS_BOTH(FORMS_SCATTERV, Scatterv, scatterv,
                   (s->buf, s->counts, s->displs, s->type, r->buf, rn, r->type, a->root),
                   (s->buf, s->counts_c, s->displs_c, s->type, r->buf, r->count, r->type, a->root));
        FORMS_BOTH(FORMS_ALLGATHER, Allgather, allgather, FORMS_EVEN, FORMS_EVEN_C);
        FORMS_BOTH(FORMS_ALLGATHERV, Allgatherv, allgatherv, FORMS_ONE_V, FORMS_ONE_V_C);
        FORMS_BOTH(FORMS_ALLTOALL, Alltoall, alltoall, FORMS_EVEN, FORMS_EVEN_C);
        FORMS_BOTH(FORMS_ALLTOALLV, Alltoallv, alltoallv, FORMS_V, FORMS_V_C);
        FORMS_BOTH(FORMS_ALLTOALLW, Alltoallw, alltoallw, FORMS_W, FORMS_W_C);
        FORMS_BOTH(FORMS_REDUCE, Reduce, reduce, (s->buf, r->buf, sn, s->type, a->op, a->root),
                   (s->buf, r->buf, s->count, s->type, a->op, a->root));
        FORMS_BOTH(FORMS_ALLREDUCE, Allreduce, allreduce, FORMS_VECTOR, FORMS_VECTOR_C);
        FORMS_BOTH(FORMS_REDUCE_SCATTER_BLOCK, Reduce_scatter_block, reduce_scatter_block,
                   (s->buf, r->buf, rn, s->type, a->op), (s->buf, r->buf, r->count, s->type, a->op));
        FORMS_BOTH(FORMS_REDUCE_SCATTER, Reduce_scatter, reduce_scatter, (s->buf, r->buf, r->counts, s->type, a->op),
                   (s->buf, r->buf, r->counts_c, s->type, a->op));
        FORMS_BOTH(FORMS_SCAN, Scan, scan, FORMS_VECTOR, FORMS_VECTOR_C);
        FORMS_BOTH(FORMS_EXSCAN, Exscan, exscan, FORMS_VECTOR, FORMS_VECTOR_C);
        FORMS_BOTH(FORMS_NEIGHBOR_ALLGATHER, Neighbor_allgather, neighbor_allgather, FORMS_EVEN, FORMS_EVEN_C);
        FORMS_BOTH(FORMS_NEIGHBOR_ALLGATHERV, Neighbor_allgatherv, neighbor_allgatherv, FORMS_ONE_V, FORMS_ONE_V_C);
        FORMS_BOTH(FORMS_NEIGHBOR_ALLTOALL, Neighbor_alltoall, neighbor_alltoall, FORMS_EVEN, FORMS_EVEN_C);
        FORMS_BOTH(FORMS_NEIGHBOR_ALLTOALLV, Neighbor_alltoallv, neighbor_alltoallv, FORMS_V, FORMS_V_C);
        FORMS_BOTH(FORMS_NEIGHBOR_ALLTOALLW, Neighbor_alltoallw, neighbor_alltoallw, FORMS_W_AINT, FORMS_W_C);
    }
    check_fail(__FILE__, __LINE__, "there is no operation %d in form %d", op, kind);
}

/* What an operation runs on. In an intracommunicator remote is size, and side 0 on all ranks. */
typedef struct {
    MPI_Comm comm;
    int rank, size, remote, side, inter;
    MPI_Datatype spread; /* an int, and a gap of one */
} forms_world;

static inline forms_world forms_world_of(MPI_Comm comm, int side) __attribute__((unused));
static inline forms_world forms_world_of(MPI_Comm comm, int side)
{
    forms_world w = {.comm = comm, .side = side};
    MPI_Comm_rank(comm, &w.rank);
    MPI_Comm_size(comm, &w.size);
    MPI_Comm_test_inter(comm, &w.inter);
    w.remote = w.size;
    if (w.inter) MPI_Comm_remote_size(comm, &w.remote);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &w.spread);
    MPI_Type_commit(&w.spread);
    return w;
}

static inline void forms_world_free(forms_world *w) __attribute__((unused));
static inline void forms_world_free(forms_world *w) { MPI_Type_free(&w->spread); }

/* Where blocks are in a buffer, in ints: block b has count[b] of them, each stride[b] after the one before. */
typedef struct {
    int n, *start, *count, *stride;
} forms_layout;

typedef struct {
    const forms_world *w;
    int op, n, root_side, root, in_place, spread, at_root, leaf;
    forms_args args;
    forms_layout s, r;                /* blocks that are sent, and that are received */
    int *send, *sent, *recv, *want;   /* sent is a copy of send */
    size_t sends, recvs, checked;     /* in ints; of recv, checked ones are known beforehand */
} forms_case;

/* What a rank sends to another one as element i. Reductions, and what everybody gets, count as sent to rank 0. */
static inline int forms_value(int side, int from, int to, int i, int turn)
{
    return ((side * 8 + from) * 8 + to) * 100000 + i + 37 * turn;
}

enum { FORMS_GAP = -77 };

static inline int forms_rooted(int op)
{
    return op == FORMS_BCAST || op == FORMS_REDUCE || (op >= FORMS_GATHER && op <= FORMS_SCATTERV);
}

static inline int forms_to_each(int op) { return op >= FORMS_ALLTOALL && op <= FORMS_ALLTOALLW; }

/* The elements of a block in operations with counts of several sizes: those between two ranks are alike. */
static inline int forms_length(int n, int from, int to) { return n ? n + (from + to) % 3 : 0; }

/* n blocks of the lengths that length answers, with gaps if apart. Answers how many ints there are. */
static inline size_t forms_lay(forms_layout *l, int n, const int *length, int apart, int stride, int mixed)
{
    int at = apart;
    size_t memory = sizeof(int) * (size_t)(n + 1);
    l->n = n, l->start = malloc(memory), l->count = malloc(memory), l->stride = malloc(memory);
    for (int b = 0; b < n; b++) {
        l->stride[b] = mixed ? 1 + b % 2 : stride;
        l->start[b] = mixed ? at : at * stride;
        l->count[b] = length[b];
        at += length[b] * (mixed ? l->stride[b] : 1) + apart;
    }
    return (size_t)(at * stride + 8);
}

static inline void forms_arrays(forms_side *side, const forms_layout *l, const forms_world *w, int stride)
{
    size_t n = (size_t)l->n + 1;
    side->counts = malloc(sizeof(int) * n), side->displs = malloc(sizeof(int) * n);
    side->counts_c = malloc(sizeof(MPI_Count) * n), side->displs_c = malloc(sizeof(MPI_Aint) * n);
    side->types = malloc(sizeof(MPI_Datatype) * n);
    for (int b = 0; b < l->n; b++) {
        side->counts_c[b] = side->counts[b] = l->count[b];
        side->displs_c[b] = side->displs[b] = stride ? l->start[b] / stride : l->start[b] * (int)sizeof(int);
        side->types[b] = l->stride[b] == 2 ? w->spread : MPI_INT;
    }
}

/* The case of an operation with about n elements a block. root is a rank of root_side. in_place is for those that
 * forms_may_be_in_place; spread says that the receive buffer has gaps between its elements. */
static inline void forms_make(forms_case *c, const forms_world *w, int op, int n, int root_side, int root, int in_place,
                              int spread) __attribute__((unused));
static inline void forms_make(forms_case *c, const forms_world *w, int op, int n, int root_side, int root, int in_place,
                              int spread)
{
    memset(c, 0, sizeof *c);
    c->w = w, c->op = op, c->n = n, c->root_side = root_side, c->root = root, c->in_place = in_place;
    int rooted = forms_rooted(op);
    int reduces = op >= FORMS_REDUCE, varies = op == FORMS_GATHERV || op == FORMS_SCATTERV ||
                                              op == FORMS_ALLGATHERV || op == FORMS_ALLTOALLV || op == FORMS_ALLTOALLW;
    int mixed = op == FORMS_ALLTOALLW, stride = c->spread = mixed ? 2 : spread && !reduces ? 2 : 1;
    c->at_root = !rooted || (w->rank == root && w->side == root_side);
    c->leaf = !rooted || !w->inter || w->side != root_side;
    int wide = w->remote > w->size ? w->remote : w->size, *length = calloc((size_t)wide + 1, sizeof(int));
    int alltoall = forms_to_each(op), scatters = op == FORMS_SCATTER || op == FORMS_SCATTERV;
    int gathers = op == FORMS_GATHER || op == FORMS_GATHERV || op == FORMS_ALLGATHER || op == FORMS_ALLGATHERV;
    int part = n * (w->inter ? w->remote : 1); /* of Reduce_scatter: all ranks of both sides have vectors alike */

    /* A block for each rank, or one. */
    for (int b = 0; b < wide; b++) length[b] = varies ? forms_length(n, alltoall ? w->rank : 0, b) : n;
    int one = varies ? forms_length(n, 0, w->rank) : n;
    if (op == FORMS_REDUCE_SCATTER || op == FORMS_REDUCE_SCATTER_BLOCK) {
        int uneven = op == FORMS_REDUCE_SCATTER && n && w->size > 1, all = part * w->size;
        for (int b = 0; b < w->size; b++) length[b] = part;
        if (uneven) length[0]--, length[w->size - 1]++;
        c->recvs = forms_lay(&c->r, w->size, length, 0, 1, 0);
        c->sends = forms_lay(&c->s, 1, &all, 0, 1, 0);
    } else if (alltoall) {
        c->sends = forms_lay(&c->s, w->remote, length, varies, mixed ? 2 : 1, mixed);
        c->recvs = forms_lay(&c->r, w->remote, length, varies, stride, mixed);
    } else if (scatters) {
        c->sends = forms_lay(&c->s, c->at_root ? w->remote : 0, length, varies, 1, 0);
        c->recvs = forms_lay(&c->r, c->leaf, &one, 0, stride, 0);
    } else if (gathers) {
        c->sends = forms_lay(&c->s, c->leaf, &one, 0, 1, 0);
        c->recvs = forms_lay(&c->r, c->at_root ? w->remote : 0, length, varies, stride, 0);
    } else {
        int nothing = op == FORMS_BARRIER ? 0 : n;
        c->sends = forms_lay(&c->s, 1, &nothing, 0, 1, 0);
        c->recvs = forms_lay(&c->r, 1, &nothing, 0, stride, 0);
    }
    free(length);
    if (op == FORMS_BARRIER) c->sends = c->recvs = 8;
    c->send = malloc(sizeof(int) * c->sends), c->sent = malloc(sizeof(int) * c->sends);
    c->recv = malloc(sizeof(int) * c->recvs), c->want = malloc(sizeof(int) * c->recvs);

    forms_args *a = &c->args;
    forms_arrays(&a->s, &c->s, w, mixed ? 0 : 1);
    forms_arrays(&a->r, &c->r, w, mixed ? 0 : stride);
    a->s.buf = c->send, a->r.buf = c->recv;
    a->s.count = gathers && c->leaf ? one : n, a->r.count = scatters ? one : n;
    a->s.type = MPI_INT, a->r.type = stride == 2 ? w->spread : MPI_INT;
    if (op == FORMS_REDUCE_SCATTER_BLOCK) a->r.count = part;
    if (in_place && (!rooted || c->at_root)) {
        if (scatters) a->r.buf = MPI_IN_PLACE;
        else a->s.buf = MPI_IN_PLACE;
    }
    a->op = MPI_SUM, a->comm = w->comm, a->info = MPI_INFO_NULL;
    a->root = !w->inter || w->side != root_side ? root : w->rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

static inline int forms_may_be_in_place(int op) __attribute__((unused));
static inline int forms_may_be_in_place(int op) { return op != FORMS_BARRIER && op != FORMS_BCAST; }

static inline void forms_put(int *buf, const forms_layout *l, int b, int side, int from, int to, int turn)
{
    int *at = buf + l->start[b];
    for (int i = 0; i < l->count[b]; i++) at[i * l->stride[b]] = forms_value(side, from, to, i, turn);
}

static inline int *forms_gaps(int *buf, size_t n)
{
    for (size_t i = 0; i < n; i++) buf[i] = FORMS_GAP;
    return buf;
}

/* Fills the buffers for a turn, and computes what has to arrive. */
static inline void forms_fill(forms_case *c, int turn) __attribute__((unused));
static inline void forms_fill(forms_case *c, int turn)
{
    const forms_world *w = c->w;
    int other = w->inter ? 1 - w->side : w->side, op = c->op, me = w->rank;
    int in_place = c->in_place && c->at_root;
    int *send = forms_gaps(c->send, c->sends), *recv = forms_gaps(c->recv, c->recvs);
    int *want = forms_gaps(c->want, c->recvs);
    const forms_layout *s = &c->s, *r = &c->r;
    c->checked = c->recvs;
    switch (op) {
    case FORMS_BARRIER: break;
    case FORMS_BCAST:
        if (c->at_root) forms_put(recv, r, 0, w->side, me, 0, turn);
        if (c->at_root || c->leaf) forms_put(want, r, 0, c->root_side, c->root, 0, turn);
        break;
    case FORMS_SCATTER:
    case FORMS_SCATTERV:
        for (int b = 0; b < s->n; b++) forms_put(send, s, b, w->side, me, b, turn);
        if (c->leaf && !in_place) forms_put(want, r, 0, c->root_side, c->root, me, turn);
        break;
    case FORMS_GATHER:
    case FORMS_GATHERV:
    case FORMS_ALLGATHER:
    case FORMS_ALLGATHERV:
        if (c->leaf) forms_put(send, s, 0, w->side, me, 0, turn);
        if (in_place) forms_put(recv, r, me, w->side, me, 0, turn);
        for (int b = 0; b < r->n; b++) forms_put(want, r, b, other, b, 0, turn);
        break;
    case FORMS_ALLTOALL:
    case FORMS_ALLTOALLV:
    case FORMS_ALLTOALLW:
        for (int b = 0; b < s->n; b++) forms_put(send, s, b, w->side, me, b, turn);
        for (int b = 0; in_place && b < r->n; b++) forms_put(recv, r, b, w->side, me, b, turn);
        for (int b = 0; b < r->n; b++) forms_put(want, r, b, other, b, me, turn);
        break;
    default: {
        int first = 0, from = 0, to = w->remote, n = s->count[0], scattered = r->n > 1;
        if (c->leaf) forms_put(send, s, 0, w->side, me, 0, turn);
        if (in_place) forms_put(recv, s, 0, w->side, me, 0, turn);
        if (op == FORMS_SCAN) to = me + 1;
        if (op == FORMS_EXSCAN) to = me;
        if (scattered) {
            first = r->start[me], n = r->count[me];
            if (in_place) c->checked = (size_t)n;
        }
        if (to > from && c->at_root)
            for (int i = 0; i < n; i++) {
                want[i] = 0;
                for (int p = from; p < to; p++) want[i] += forms_value(other, p, 0, first + i, turn);
            }
        else if (in_place) c->checked = 0; /* Exscan at rank 0 leaves no result */
    }
    }
    memcpy(c->sent, send, sizeof(int) * c->sends);
}

/* Everything that was to arrive has arrived, nothing else has changed, and neither has what was sent. */
static inline void forms_check(const forms_case *c, const char *how) __attribute__((unused));
static inline void forms_check(const forms_case *c, const char *how)
{
    if (memcmp(c->recv, c->want, sizeof(int) * c->checked))
        for (size_t i = 0; i < c->checked; i++)
            CHECK_SAY(c->recv[i] == c->want[i],
                      "%s as %s, n %d, root %d of side %d%s%s: int %zu of %zu is %d, not %d", forms_name[c->op], how,
                      c->n, c->root, c->root_side, c->in_place ? ", in place" : "", c->spread > 1 ? ", spread" : "", i,
                      c->recvs, c->recv[i], c->want[i]);
    CHECK_SAY(memcmp(c->send, c->sent, sizeof(int) * c->sends) == 0, "%s as %s, n %d, changed what it sends",
              forms_name[c->op], how, c->n);
}

static inline void forms_side_free(forms_side *s)
{
    free(s->counts), free(s->displs), free(s->counts_c), free(s->displs_c), free(s->types);
}

static inline void forms_free(forms_case *c) __attribute__((unused));
static inline void forms_free(forms_case *c)
{
    forms_side_free(&c->args.s), forms_side_free(&c->args.r);
    free(c->s.start), free(c->s.count), free(c->s.stride);
    free(c->r.start), free(c->r.count), free(c->r.stride);
    free(c->send), free(c->sent), free(c->recv), free(c->want);
}

/* One operation in all forms: blocking, nonblocking, and persistent started three times, each time with other data. */
static inline void forms_all(const forms_world *w, int op, int n, int root_side, int root, int in_place, int spread)
    __attribute__((unused));
static inline void forms_all(const forms_world *w, int op, int n, int root_side, int root, int in_place, int spread)
{
    forms_case c;
    int turn = 0;
    forms_make(&c, w, op, n, root_side, root, in_place, spread);
    for (int kind = 0; kind < FORMS_KINDS; kind++) {
        MPI_Request q = MPI_REQUEST_NULL;
        int flag = 0, persistent = kind == FORMS_PERSISTENT || kind == FORMS_PERSISTENT_C;
        for (int starts = 0; starts < (persistent ? 3 : 1); starts++) {
            forms_fill(&c, ++turn);
            if (starts == 0) CHECK_EQ(forms_call(&c.args, op, kind, &q), MPI_SUCCESS);
            if (persistent) CHECK_EQ(MPI_Start(&q), MPI_SUCCESS);
            if (turn % 2)
                for (flag = 0; !flag; sched_yield())
                    CHECK_EQ(MPI_Test(&q, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
            else CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
            forms_check(&c, forms_kind_name[kind]);
            CHECK((q != MPI_REQUEST_NULL) == persistent);
        }
        if (persistent) MPI_Request_free(&q);
        CHECK(q == MPI_REQUEST_NULL);
    }
    forms_free(&c);
}

#endif
