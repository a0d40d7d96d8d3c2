/* Reduce and Allreduce with every predefined type and operation, in place and not, from every root. */
#include "ops.h"

static long double in[OPS_LONGEST * 2], out[OPS_LONGEST * 2];
static int turn;

static void one(const ops_case *c)
{
    static const int lengths[] = {1, 7, 0, 100};
    int n = lengths[turn % 4], root = turn % check_size;
    turn++;
    ops_fill(c, in, n, check_rank);
    memset(out, 0, sizeof(long double) * 256);
    CHECK_EQ(MPI_Reduce(in, out, n, c->type, c->op, root, MPI_COMM_WORLD), MPI_SUCCESS);
    if (check_rank == root) ops_check(c, out, 0, n, check_size - 1, "Reduce");
    ops_fill(c, out, n, check_rank);
    CHECK_EQ(MPI_Allreduce(MPI_IN_PLACE, out, n, c->type, c->op, MPI_COMM_WORLD), MPI_SUCCESS);
    ops_check(c, out, 0, n, check_size - 1, "Allreduce in place");
    for (int i = 0; i < n; i++) CHECK(c->is(in, i, ops_value(c->kind, check_rank, i))); /* input untouched */
}

/* Lengths at which algorithms change. */
static void lengths(void)
{
    static const int length[] = {1, 2, 3, 255, 256, 257, 2047, 2048, 2049, OPS_LONGEST};
    static double a[OPS_LONGEST], b[OPS_LONGEST];
    for (size_t l = 0; l < sizeof length / sizeof *length; l++) {
        int n = length[l], root = (int)l % check_size;
        if (check_library("MPICH Version:\t4.0")) root = 0; /* from 1024 on it crashes in place at other roots */
        for (int i = 0; i < n; i++) a[i] = check_rank * 3 + i;
        memset(b, 0, sizeof b);
        MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) CHECK_EQ(b[i], 3 * check_size * (check_size - 1) / 2 + check_size * i);
        if (check_rank == root) {
            MPI_Reduce(MPI_IN_PLACE, a, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
            for (int i = 0; i < n; i++) CHECK_EQ(a[i], 3 * check_size * (check_size - 1) / 2 + check_size * i);
        } else {
            MPI_Reduce(a, NULL, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    ops_each(one);
    lengths();
    return check_end();
}
