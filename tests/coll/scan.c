/* Scan and Exscan with every predefined type and operation, in place and not. */
#include "ops.h"

static long double in[512], out[512];
static int turn;

static void one(const ops_case *c)
{
    static const int lengths[] = {1, 7, 0, 100};
    int n = lengths[turn++ % 4];
    ops_fill(c, in, n, check_rank);
    memset(out, 0, sizeof out);
    MPI_Scan(in, out, n, c->type, c->op, MPI_COMM_WORLD);
    ops_check(c, out, 0, n, check_rank, "Scan");
    ops_fill(c, out, n, check_rank);
    MPI_Scan(MPI_IN_PLACE, out, n, c->type, c->op, MPI_COMM_WORLD);
    ops_check(c, out, 0, n, check_rank, "Scan in place");
    MPI_Exscan(in, out, n, c->type, c->op, MPI_COMM_WORLD);
    if (check_rank > 0) ops_check(c, out, 0, n, check_rank - 1, "Exscan");
    ops_fill(c, out, n, check_rank);
    MPI_Exscan(MPI_IN_PLACE, out, n, c->type, c->op, MPI_COMM_WORLD);
    if (check_rank > 0) ops_check(c, out, 0, n, check_rank - 1, "Exscan in place");
    for (int i = 0; i < n; i++) CHECK(c->is(in, i, ops_value(c->kind, check_rank, i)));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    ops_each(one);
    static long long a[20000], b[20000];
    for (int i = 0; i < 20000; i++) a[i] = check_rank + i;
    MPI_Scan(a, b, 20000, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 20000; i++) {
        CHECK_EQ(b[i], (long long)check_rank * (check_rank + 1) / 2 + (long long)(check_rank + 1) * i);
    }
    return check_end();
}
