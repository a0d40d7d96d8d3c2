/* Short vectors: every operation on every type, at lengths up to and beyond those that processes of a machine exchange
 * in a slot of a board (120 bytes); Reduce to every root, in place and not, by both forms of the functions, which ranks
 * mix. */
#include "ops.h"

enum { MOST = 60 };
static long double in[MOST * 2], out[MOST * 2];
static int turn;

/* Ranks differ in the form they call. */
static int large(void) { return (turn + check_rank) % 2; }

static void reduce(const void *from, void *to, int n, const ops_case *c, int root)
{
#if MPI_VERSION >= 4
    if (large()) {
        CHECK_EQ(MPI_Reduce_c(from, to, n, c->type, c->op, root, MPI_COMM_WORLD), MPI_SUCCESS);
        return;
    }
#endif
    CHECK_EQ(MPI_Reduce(from, to, n, c->type, c->op, root, MPI_COMM_WORLD), MPI_SUCCESS);
}

static void allreduce(const void *from, void *to, int n, const ops_case *c)
{
#if MPI_VERSION >= 4
    if (large()) {
        CHECK_EQ(MPI_Allreduce_c(from, to, n, c->type, c->op, MPI_COMM_WORLD), MPI_SUCCESS);
        return;
    }
#endif
    CHECK_EQ(MPI_Allreduce(from, to, n, c->type, c->op, MPI_COMM_WORLD), MPI_SUCCESS);
}

/* Nothing is written behind n elements. */
static void clear(void) { memset(out, 0x5a, sizeof out); }

static void intact(const ops_case *c, int n)
{
    const unsigned char *b = (unsigned char *)out;
    for (size_t i = (size_t)n * c->size; i < sizeof out; i++)
        CHECK_SAY(b[i] == 0x5a, "byte %zu behind %d elements of %s", i, n, c->type_name);
}

static void length(const ops_case *c, int n)
{
    int root = turn % check_size;
    ops_fill(c, in, n, check_rank);
    clear();
    allreduce(in, out, n, c);
    ops_check(c, out, 0, n, check_size - 1, "Allreduce");
    intact(c, n);
    clear();
    reduce(in, out, n, c, root);
    if (check_rank == root) ops_check(c, out, 0, n, check_size - 1, "Reduce");
    intact(c, check_rank == root ? n : 0);
    clear();
    ops_fill(c, out, n, check_rank);
    allreduce(MPI_IN_PLACE, out, n, c);
    ops_check(c, out, 0, n, check_size - 1, "Allreduce in place");
    intact(c, n);
    clear();
    ops_fill(c, out, n, check_rank);
    if (check_rank == root) reduce(MPI_IN_PLACE, out, n, c, root);
    else reduce(out, NULL, n, c, root);
    if (check_rank == root) ops_check(c, out, 0, n, check_size - 1, "Reduce in place");
    turn++;
}

static void one(const ops_case *c)
{
    int last = 56 / (int)c->size + 1;
    length(c, 1);
    length(c, 1 + turn % last);
    length(c, last - 1 > 0 ? last - 1 : 1);
    length(c, last);
    length(c, MOST);
}

/* Elements may lie anywhere in the program's memory. */
static void unaligned(int n)
{
    char memory[2][(MOST + 1) * 8];
    for (int at = 0; at < 8; at++) {
        for (int k = 0; k < n; k++) {
            double x = check_rank + at + k;
            memcpy(memory[0] + at + k * 8, &x, sizeof x);
        }
        MPI_Allreduce(memory[0] + at, memory[1] + 7 - at, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int k = 0; k < n; k++) {
            double sum;
            memcpy(&sum, memory[1] + 7 - at + k * 8, sizeof sum);
            CHECK(sum == check_size * (check_size - 1) / 2 + (at + k) * check_size);
        }
    }
}

/* All ranks get the same bits, in the order of ranks. */
static void same_bits(void)
{
    for (int i = 0; i < 200; i++) {
        check_stream s = check_seed((uint64_t)(i * 100 + check_rank));
        double x = (double)check_next(&s) / 3e9 - 2e9, sum, sums[64];
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allgather(&sum, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, MPI_COMM_WORLD);
        for (int r = 0; r < check_size; r++) CHECK(memcmp(&sums[r], &sum, sizeof sum) == 0);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    ops_each(one);
    unaligned(1);
    unaligned(MOST);
    same_bits();
    return check_end();
}
