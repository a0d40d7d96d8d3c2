/* Reduce_scatter with unequal parts, some empty, and Reduce_scatter_block, with every predefined type and operation. */
#include "ops.h"

static long double in[1024], out[1024];
static int turn;

static int part(int r) { return r % 3 == 1 ? 0 : r % 4 + 1; }

static void one(const ops_case *c)
{
    int counts[64], first = 0, total = 0, block = turn++ % 4;
    CHECK(check_size <= 64);
    for (int r = 0; r < check_size; r++) {
        counts[r] = part(r);
        if (r < check_rank) first += counts[r];
        total += counts[r];
    }
    ops_fill(c, in, total, check_rank);
    memset(out, 0, sizeof out);
    MPI_Reduce_scatter(in, out, counts, c->type, c->op, MPI_COMM_WORLD);
    ops_check(c, out, first, counts[check_rank], check_size - 1, "Reduce_scatter");
    ops_fill(c, out, total, check_rank);
    MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, c->type, c->op, MPI_COMM_WORLD);
    ops_check(c, out, first, counts[check_rank], check_size - 1, "Reduce_scatter in place");

    ops_fill(c, in, block * check_size, check_rank);
    MPI_Reduce_scatter_block(in, out, block, c->type, c->op, MPI_COMM_WORLD);
    ops_check(c, out, block * check_rank, block, check_size - 1, "Reduce_scatter_block");
    ops_fill(c, out, block * check_size, check_rank);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, out, block, c->type, c->op, MPI_COMM_WORLD);
    ops_check(c, out, block * check_rank, block, check_size - 1, "Reduce_scatter_block in place");
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    ops_each(one);
    int block = 5000, *a = malloc(sizeof(int) * (size_t)(block * check_size)), *b = malloc(sizeof(int) * (size_t)block);
    for (int i = 0; i < block * check_size; i++) a[i] = check_rank + i;
    MPI_Reduce_scatter_block(a, b, block, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < block; i++) {
        CHECK_EQ(b[i], check_size * (check_size - 1) / 2 + check_size * (block * check_rank + i));
    }
    free(a);
    free(b);
    return check_end();
}
