/* More short nonblocking collectives under way than a board has slots, of all kinds and of lengths beside those of a
 * slot, with blocking ones and messages among them, completed in another order at each process. */
/* needs: MPI_Iallreduce */
#include "../check.h"

enum { MANY = 80, MOST = 40, RANKS = 8, KINDS = 11 };

struct one {
    int kind, n, root, step;
    long in[MOST * RANKS], out[MOST * RANKS];
};
static struct one all[MANY];
static MPI_Request q[MANY];

static long value(const struct one *a, int rank, int k) { return (a->step * 13L + rank * 37 + k * 5 + a->kind) % 1009; }

static void start(struct one *a, MPI_Comm comm, MPI_Request *r)
{
    int n = a->n, root = a->root;
    for (int k = 0; k < n * check_size; k++) {
        a->in[k] = value(a, check_rank, k);
        a->out[k] = -1;
    }
    if (a->kind == 1 && check_rank == root) memcpy(a->out, a->in, sizeof a->out);
    switch (a->kind) {
    case 0: MPI_Ibarrier(comm, r); break;
    case 1: MPI_Ibcast(a->out, n, MPI_LONG, root, comm, r); break;
    case 2: MPI_Igather(a->in, n, MPI_LONG, a->out, n, MPI_LONG, root, comm, r); break;
    case 3: MPI_Iscatter(a->in, n, MPI_LONG, a->out, n, MPI_LONG, root, comm, r); break;
    case 4: MPI_Iallgather(a->in, n, MPI_LONG, a->out, n, MPI_LONG, comm, r); break;
    case 5: MPI_Ialltoall(a->in, n, MPI_LONG, a->out, n, MPI_LONG, comm, r); break;
    case 6: MPI_Ireduce(a->in, a->out, n, MPI_LONG, MPI_SUM, root, comm, r); break;
    case 7: MPI_Iallreduce(a->in, a->out, n, MPI_LONG, MPI_SUM, comm, r); break;
    case 8: MPI_Iscan(a->in, a->out, n, MPI_LONG, MPI_SUM, comm, r); break;
    case 9: MPI_Iexscan(a->in, a->out, n, MPI_LONG, MPI_SUM, comm, r); break;
    default: MPI_Ireduce_scatter_block(a->in, a->out, n, MPI_LONG, MPI_SUM, comm, r);
    }
}

/* Element k of the result for block r; -1 where nothing is written. */
static long expected(const struct one *a, int r, int k)
{
    int me = check_rank, n = a->n, one_block = a->kind != 2 && a->kind != 4 && a->kind != 5;
    if (a->kind == 0 || (one_block && r > 0 && !(a->kind == 1 && me == a->root))) return -1;
    if ((a->kind == 2 || a->kind == 6) && me != a->root) return -1;
    switch (a->kind) {
    case 1: return value(a, a->root, r * n + k);
    case 2: case 4: return value(a, r, k);
    case 3: return value(a, a->root, me * n + k);
    case 5: return value(a, r, me * n + k);
    }
    int end = a->kind == 8 ? me + 1 : a->kind == 9 ? me : check_size, at = a->kind == 10 ? me * n : 0;
    long sum = end ? 0 : -1;
    for (int other = 0; other < end; other++) sum += value(a, other, at + k);
    return sum;
}

static void complete(int i)
{
    const struct one *a = &all[i];
    MPI_Wait(&q[i], MPI_STATUS_IGNORE);
    for (int r = 0; r < check_size; r++)
        for (int k = 0; k < a->n; k++) CHECK_EQ(a->out[r * a->n + k], expected(a, r, k));
}

/* What else happens meanwhile. */
static void beside(MPI_Comm comm, int what, int step)
{
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size, flag, got = -1;
    int mine = step + check_rank, sum = 0;
    switch (what) {
    case 0:
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK_EQ(sum, step * check_size + check_size * (check_size - 1) / 2);
        break;
    case 1:
        MPI_Sendrecv(&mine, 1, MPI_INT, next, 1, &got, 1, MPI_INT, before, 1, comm, MPI_STATUS_IGNORE);
        CHECK_EQ(got, step + before);
        break;
    case 2: MPI_Barrier(comm); break;
    case 3: MPI_Testall(MANY, q, &flag, MPI_STATUSES_IGNORE); break;
    default: break;
    }
}

static void round_of(MPI_Comm comm, int round)
{
    static const int lengths[] = {1, 1, 1, 2, 3, 7, 8, MOST};
    int order[MANY];
    check_stream s = check_seed((uint64_t)round), own = check_seed((uint64_t)(round * 64 + check_rank));
    for (int i = 0; i < MANY; i++) q[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < MANY; i++) {
        all[i].kind = check_below(&s, KINDS);
        all[i].n = lengths[check_below(&s, 8)];
        all[i].root = round % 4 == 0 ? 0 : check_below(&s, check_size);
        all[i].step = round * MANY + i;
        order[i] = i;
        start(&all[i], comm, &q[i]);
        beside(comm, check_below(&s, round % 3 ? 30 : 300), i);
    }
    for (int i = MANY - 1; i > 0; i--) {
        int j = check_below(&own, i + 1), t = order[i];
        order[i] = order[j], order[j] = t;
    }
    for (int i = 0; i < MANY; i++) complete(order[i]);
}

/* Some are under way when their communicator is freed. */
static void freed(int round)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    for (int i = 0; i < MANY; i++) {
        all[i] = (struct one){.kind = (i + round) % KINDS, .n = 1 + i % 3, .root = i % check_size, .step = i};
        start(&all[i], comm, &q[i]);
    }
    MPI_Comm_free(&comm);
    for (int i = MANY - 1; i >= 0; i--) complete(i);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= RANKS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < (check_spans() ? 30 : 300); round++) round_of(MPI_COMM_WORLD, round);
    for (int round = 0; round < 10; round++) freed(round);
    return check_end();
}
