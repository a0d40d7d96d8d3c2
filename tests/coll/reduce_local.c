/* Reduce_local is the operation itself: inout = in op inout, for every predefined type and operation. */
/* ranks: 1 2 */
#include "ops.h"

static long double in[512], inout[512];

static void one(const ops_case *c)
{
    for (int n = 0; n < 100; n = n * 2 + 1) {
        ops_fill(c, in, n, 0);
        ops_fill(c, inout, n, 1);
        CHECK_EQ(MPI_Reduce_local(in, inout, n, c->type, c->op), MPI_SUCCESS);
        ops_check(c, inout, 0, n, 1, "Reduce_local");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    ops_each(one);
    return check_end();
}
