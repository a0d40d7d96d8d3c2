/* neighbor.h - the five neighborhood collectives in each form, on any topology. */
#ifndef NEIGHBOR_H
#define NEIGHBOR_H

#include "../coll/forms.h"

enum { NEIGHBOR_MOST = 32 };

/* Who sends to this rank, and by which of its edges; and whom it sends to. MPI_PROC_NULL is possible. */
typedef struct {
    int ins, from[NEIGHBOR_MOST], edge[NEIGHBOR_MOST];
    int outs, to[NEIGHBOR_MOST];
} neighborhood;

/* Completes a neighborhood whose from and to are known: of several edges from one rank to another the first that is
 * received is the first that is sent. Collective. */
static inline void neighbor_edges(MPI_Comm comm, neighborhood *h) __attribute__((unused));
static inline void neighbor_edges(MPI_Comm comm, neighborhood *h)
{
    int size, rank, seen[8] = {0}, (*out)[NEIGHBOR_MOST + 1], mine[NEIGHBOR_MOST + 1];
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    CHECK(size <= 8 && h->ins <= NEIGHBOR_MOST && h->outs <= NEIGHBOR_MOST);
    out = malloc(sizeof *out * (size_t)size);
    for (int j = 0; j < NEIGHBOR_MOST; j++) mine[j] = j < h->outs ? h->to[j] : -1;
    mine[NEIGHBOR_MOST] = h->outs;
    MPI_Allgather(mine, NEIGHBOR_MOST + 1, MPI_INT, out, NEIGHBOR_MOST + 1, MPI_INT, comm);
    for (int k = 0; k < h->ins; k++) {
        int s = h->from[k], j = 0;
        for (int before = seen[s]++; j < out[s][NEIGHBOR_MOST]; j++)
            if (out[s][j] == rank && before-- == 0) break;
        CHECK(j < out[s][NEIGHBOR_MOST]);
        h->edge[k] = j;
    }
    free(out);
}

/* Turns a layout around: the last block comes first. */
static inline void neighbor_reverse(forms_layout *l, size_t ints)
{
    int end = (int)(ints - 8) / 2;
    for (int b = 0; b < l->n; b++) l->start[b] = end - l->start[b] - l->count[b] * l->stride[b];
}

/* The blocks of a w form relative to MPI_BOTTOM, which only displacements of MPI_Aint allow. */
static inline void neighbor_absolute(forms_side *side, int blocks)
{
    MPI_Aint at;
    MPI_Get_address(side->buf, &at);
    for (int b = 0; b < blocks; b++) side->displs_c[b] = MPI_Aint_add(at, side->displs_c[b]);
    side->buf = MPI_BOTTOM;
}

static inline void neighbor_make(forms_case *c, const forms_world *w, const neighborhood *h, int op, int n,
                                 int absolute)
{
    memset(c, 0, sizeof *c);
    c->w = w, c->op = op, c->n = n, c->at_root = c->leaf = c->spread = 1;
    int each = op >= FORMS_NEIGHBOR_ALLTOALL, mixed = op == FORMS_NEIGHBOR_ALLTOALLW;
    int varies = mixed || op == FORMS_NEIGHBOR_ALLGATHERV || op == FORMS_NEIGHBOR_ALLTOALLV;
    int out[NEIGHBOR_MOST], in[NEIGHBOR_MOST], stride = mixed ? 2 : 1;
    int one = varies ? forms_length(n, w->rank, 0) : n;
    for (int j = 0; j < h->outs; j++) out[j] = varies ? forms_length(n, w->rank, j) : n;
    for (int k = 0; k < h->ins; k++)
        in[k] = !varies ? n : h->from[k] < 0 ? 2 : forms_length(n, h->from[k], each ? h->edge[k] : 0);
    c->sends = each ? forms_lay(&c->s, h->outs, out, varies, stride, mixed) : forms_lay(&c->s, 1, &one, 0, 1, 0);
    c->recvs = forms_lay(&c->r, h->ins, in, varies, stride, mixed);
    if (mixed) neighbor_reverse(&c->s, c->sends), neighbor_reverse(&c->r, c->recvs);
    c->send = malloc(sizeof(int) * c->sends), c->sent = malloc(sizeof(int) * c->sends);
    c->recv = malloc(sizeof(int) * c->recvs), c->want = malloc(sizeof(int) * c->recvs);
    forms_args *a = &c->args;
    forms_arrays(&a->s, &c->s, w, mixed ? 0 : 1);
    forms_arrays(&a->r, &c->r, w, mixed ? 0 : 1);
    a->s.buf = c->send, a->r.buf = c->recv;
    if (absolute && mixed) neighbor_absolute(&a->s, h->outs), neighbor_absolute(&a->r, h->ins);
    a->s.count = each ? n : one, a->r.count = n;
    a->s.type = a->r.type = MPI_INT;
    a->comm = w->comm, a->info = MPI_INFO_NULL;
}

static inline void neighbor_fill(forms_case *c, const neighborhood *h, int turn)
{
    int each = c->op >= FORMS_NEIGHBOR_ALLTOALL, me = c->w->rank;
    forms_gaps(c->send, c->sends), forms_gaps(c->recv, c->recvs), forms_gaps(c->want, c->recvs);
    for (int j = 0; j < c->s.n; j++) forms_put(c->send, &c->s, j, 0, me, j, turn);
    for (int k = 0; k < c->r.n; k++)
        if (h->from[k] >= 0) forms_put(c->want, &c->r, k, 0, h->from[k], each ? h->edge[k] : 0, turn);
    memcpy(c->sent, c->send, sizeof(int) * c->sends);
    c->checked = c->recvs;
}

/* One operation in all forms: blocking, nonblocking, and persistent started three times. */
static inline void neighbor_forms(const forms_world *w, const neighborhood *h, int op, int n, int absolute)
{
    forms_case c;
    int turn = 0;
    neighbor_make(&c, w, h, op, n, absolute);
    for (int kind = 0; kind < FORMS_KINDS; kind++) {
        MPI_Request q = MPI_REQUEST_NULL;
        int persistent = kind == FORMS_PERSISTENT || kind == FORMS_PERSISTENT_C;
        for (int starts = 0; starts < (persistent ? 3 : 1); starts++) {
            neighbor_fill(&c, h, ++turn);
            if (starts == 0) CHECK_EQ(forms_call(&c.args, op, kind, &q), MPI_SUCCESS);
            if (persistent) CHECK_EQ(MPI_Start(&q), MPI_SUCCESS);
            CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
            forms_check(&c, forms_kind_name[kind]);
        }
        if (persistent) MPI_Request_free(&q);
    }
    forms_free(&c);
}

/* All operations under way at once, with others between them, and completed from the last to the first. */
static inline void neighbor_at_once(const forms_world *w, const neighborhood *h)
{
    enum { EACH = FORMS_ALL - FORMS_OPS, N = 3 * EACH };
    forms_case c[N];
    MPI_Request q[N], barrier[N];
    int sum = 0;
    for (int i = 0; i < N; i++) {
        int op = FORMS_OPS + i % EACH;
        neighbor_make(&c[i], w, h, op, 1 + 40 * i, i % 2);
        neighbor_fill(&c[i], h, i);
        forms_call(&c[i].args, op, i % 2 ? FORMS_NONBLOCKING : FORMS_NONBLOCKING_C, &q[i]);
        MPI_Ibarrier(w->comm, &barrier[i]);
        if (i % 4 == 0) {
            MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, w->comm);
            CHECK_EQ(sum, i * w->size);
        }
    }
    for (int i = N - 1; i >= 0; i--) {
        MPI_Wait(&q[i], MPI_STATUS_IGNORE);
        forms_check(&c[i], "one of several");
        forms_free(&c[i]);
    }
    MPI_Waitall(N, barrier, MPI_STATUSES_IGNORE);
}

/* Everything on one communicator. longest is a number of ints. */
static inline void neighbor_all(MPI_Comm comm, const neighborhood *h, int longest) __attribute__((unused));
static inline void neighbor_all(MPI_Comm comm, const neighborhood *h, int longest)
{
    const int counts[] = {0, 1, 3, longest};
    forms_world w = forms_world_of(comm, 0);
    for (int op = FORMS_OPS; op < FORMS_ALL; op++)
        for (int k = 0; k < 4; k++)
            for (int absolute = 0; absolute <= (op == FORMS_NEIGHBOR_ALLTOALLW); absolute++)
                neighbor_forms(&w, h, op, counts[k], absolute);
    neighbor_at_once(&w, h);
    forms_world_free(&w);
}

#endif
