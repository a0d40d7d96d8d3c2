/* All operations that use boards in any order, with any root, on several communicators in turn: duplicates, parts, and
 * ones that are freed and made again, more often than a machine has boards for them. */
#include "../check.h"

enum { COMMS = 6 };

static struct {
    MPI_Comm comm;
    int rank, size, world[64];
    check_stream next;   /* what its members do next */
    long step;
} on[COMMS];

static void adopt(int i, MPI_Comm comm, uint64_t seed)
{
    on[i].comm = comm;
    on[i].next = check_seed(seed);
    on[i].step = 0;
    if (comm == MPI_COMM_NULL) return;
    MPI_Comm_rank(comm, &on[i].rank);
    MPI_Comm_size(comm, &on[i].size);
    MPI_Allgather(&check_rank, 1, MPI_INT, on[i].world, 1, MPI_INT, comm);
}

static long value(int i, int rank, int k) { return (rank * 37L + on[i].step * 11 + k * 5 + i) % 101; }

/* Where element k of a block for or from a rank lies, and how long the memory for so many is. */
enum { GAP = 2, FEW = 9, MOST = 1200, MANY_BLOCKS = 64 * MOST * GAP };

/* Gather, Scatter, Allgather and Alltoall of n elements a block; with gaps between them on one side or both; in place
 * or not. */
static MPI_Datatype gapped = MPI_DATATYPE_NULL;

static void blocks(int i, int what, int root, int n, int gaps, int in_place)
{
    static long in[MANY_BLOCKS], out[MANY_BLOCKS];
    MPI_Comm comm = on[i].comm;
    int p = on[i].size, me = on[i].rank, from = 1 + gaps % 2, to = 1 + gaps / 2;
    if (gapped == MPI_DATATYPE_NULL) {
        MPI_Type_create_resized(MPI_LONG, 0, GAP * sizeof(long), &gapped);
        MPI_Type_commit(&gapped);
    }
    MPI_Datatype a = gaps % 2 ? gapped : MPI_LONG, b = gaps / 2 ? gapped : MPI_LONG;
    for (int k = 0; k < p * n * GAP; k++) out[k] = in[k] = -1;
    for (int k = 0; k < p * n; k++) in[k * from] = value(i, me, k);
    int mine = what == 1 || what == 3 ? n : 0; /* the piece for this rank lies so far behind the one before */
    if (what < 2 && me != root) in_place = 0;
    for (int k = 0; in_place && k < p * n; k++)
        if (what == 3 || (what != 1 && k / n == me)) out[k * to] = value(i, me, what == 3 ? k : k % n);
    const void *from_here = in_place ? MPI_IN_PLACE : in;
    if (what == 0) MPI_Gather(from_here, n, a, out, n, b, root, comm);
    else if (what == 1) MPI_Scatter(in, n, a, in_place ? MPI_IN_PLACE : out, n, b, root, comm);
    else if (what == 2) MPI_Allgather(from_here, n, a, out, n, b, comm);
    else MPI_Alltoall(from_here, n, a, out, n, b, comm);
    for (int r = 0; r < p; r++)
        for (int k = 0; k < n * to; k++) {
            int gets = what == 0 ? me == root : what == 1 ? r == 0 && !in_place : 1, source = what == 1 ? root : r;
            CHECK_EQ(out[r * n * to + k], gets && k % to == 0 ? value(i, source, me * mine + k / to) : -1);
        }
}

/* Scan, Exscan and Reduce_scatter_block, in place or not. */
static void prefixes(int i, int what, int n, int in_place)
{
    static long in[MANY_BLOCKS], out[MANY_BLOCKS];
    MPI_Comm comm = on[i].comm;
    int p = on[i].size, me = on[i].rank, first = what == 2 ? me * n : 0, end = what == 0 ? me + 1 : what == 1 ? me : p;
    for (int k = 0; k < p * n; k++) {
        in[k] = value(i, me, k);
        out[k] = in_place ? in[k] : -1;
    }
    const void *from = in_place ? MPI_IN_PLACE : in;
    if (what == 0) MPI_Scan(from, out, n, MPI_LONG, MPI_SUM, comm);
    else if (what == 1) MPI_Exscan(from, out, n, MPI_LONG, MPI_SUM, comm);
    else MPI_Reduce_scatter_block(from, out, n, MPI_LONG, MPI_SUM, comm);
    for (int k = 0; k < n; k++) {
        long sum = end == 0 ? out[k] : 0;
        for (int r = 0; r < end; r++) sum += value(i, r, first + k);
        CHECK_EQ(out[k], sum);
    }
    if (what == 1 && me == 0) CHECK_EQ(out[0], in_place ? in[0] : -1);
}

static void step(int i)
{
    if (on[i].comm == MPI_COMM_NULL) return;
    MPI_Comm comm = on[i].comm;
    int what = check_below(&on[i].next, 15), root = check_below(&on[i].next, on[i].size);
    int n = 1 + check_below(&on[i].next, check_below(&on[i].next, 8) ? FEW : MOST);
    int way = check_below(&on[i].next, 4), in_place = check_below(&on[i].next, 2);
    static long in[MOST], out[MOST], sum[MOST];
    on[i].step++;
    if (what >= 12) {
        prefixes(i, what - 12, n, in_place);
        return;
    }
    if (what >= 8) {
        blocks(i, what - 8, root, n, way, in_place);
        return;
    }
    for (int k = 0; k < n; k++) {
        in[k] = value(i, on[i].rank, k);
        out[k] = -1;
        sum[k] = 0;
        for (int r = 0; r < on[i].size; r++) sum[k] += value(i, r, k);
    }
    switch (what) {
    case 0:
        MPI_Barrier(comm);
        return;
    case 1: case 2:
        if (on[i].rank == root) memcpy(out, in, (size_t)n * sizeof *out);
        MPI_Bcast(out, n, MPI_LONG, root, comm);
        for (int k = 0; k < n; k++) CHECK_EQ(out[k], value(i, root, k));
        return;
    case 3: case 4:
        MPI_Reduce(in, out, n, MPI_LONG, MPI_SUM, root, comm);
        for (int k = 0; k < n; k++) CHECK_EQ(out[k], on[i].rank == root ? sum[k] : -1);
        return;
    case 5:
        for (int k = 0; k < n; k++) out[k] = in[k];
        MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_LONG, MPI_SUM, comm);
        break;
    default:
        MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, comm);
    }
    for (int k = 0; k < n; k++) CHECK_EQ(out[k], sum[k]);
}

static MPI_Comm made(int kind)
{
    MPI_Comm comm;
    if (kind == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (kind == 3) MPI_Comm_split(MPI_COMM_WORLD, check_rank < 2 ? 1 : MPI_UNDEFINED, 0, &comm);
    else MPI_Comm_split(MPI_COMM_WORLD, check_rank % kind, -check_rank, &comm);
    return comm;
}

/* Steps on the communicators, in an order that all processes share. */
static void mix(check_stream *s, int steps)
{
    for (int k = 0; k < steps; k++) step(check_below(s, COMMS));
}

static void remade(check_stream *s)
{
    int rounds = check_spans() ? 60 : 240; /* to make communicators takes long there */
    for (int round = 0; round < rounds; round++) {
        int i = round % COMMS;
        if (on[i].comm != MPI_COMM_NULL) MPI_Comm_free(&on[i].comm);
        adopt(i, made(round % 4), (uint64_t)(1000 + round * 10 + (round % 4 == 2 ? check_rank % 2 : 0)));
        for (int k = 0; k < 20; k++) step(i);
        mix(s, 10);
    }
}

/* More at once than there are boards: some get none. */
static void many(void)
{
    enum { MANY = 300 };
    static MPI_Comm all[MANY];
    for (int i = 0; i < MANY; i++) MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < MANY; i++) {
            int in = check_rank + i, sum = 0;
            MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, all[i]);
            CHECK_EQ(sum, check_size * (check_size - 1) / 2 + i * check_size);
        }
    for (int i = 0; i < MANY; i++) MPI_Comm_free(&all[i]);
}

/* More than the library has quick places for, at other places in each process. */
static void very_many(void)
{
    enum { MANY = 1100 };
    static MPI_Comm own[200], all[MANY];
    for (int i = 0; i < check_rank % 4 * 50; i++) MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
    for (int i = 0; i < MANY; i++) MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
    for (int k = 0; k < 10; k++)
        for (int i = MANY - 1; i > MANY - 200; i -= 3) {
            int root = i % check_size, word = check_rank == root ? i + k : -1, in = check_rank + i, sum = 0;
            MPI_Bcast(&word, 1, MPI_INT, root, all[i]);
            CHECK_EQ(word, i + k);
            MPI_Reduce(&in, &sum, 1, MPI_INT, MPI_SUM, root, all[i]);
            CHECK_EQ(sum, check_rank == root ? check_size * (check_size - 1) / 2 + i * check_size : 0);
            MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_MAX, all[i]);
            CHECK_EQ(sum, check_size - 1 + i);
        }
    for (int i = 0; i < MANY; i++) MPI_Comm_free(&all[i]);
    for (int i = 0; i < check_rank % 4 * 50; i++) MPI_Comm_free(&own[i]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    check_stream s = check_seed(7);
    adopt(0, MPI_COMM_WORLD, 1);
    adopt(1, made(0), 2);
    adopt(2, made(1), 3);
    adopt(3, made(2), 4 + (uint64_t)(check_rank % 2));
    adopt(4, made(3), 6);
    adopt(5, MPI_COMM_NULL, 0);
    mix(&s, 1500);
    on[0].comm = MPI_COMM_NULL;
    remade(&s);
    for (int i = 0; i < COMMS; i++)
        if (on[i].comm != MPI_COMM_NULL) MPI_Comm_free(&on[i].comm);
    if (!check_spans()) {
        many();
        very_many();
    }
    if (gapped != MPI_DATATYPE_NULL) MPI_Type_free(&gapped);
    return check_end();
}
