/* Cartesian topologies at their limits: no dimension, long shifts, duplicates, wrong arguments. */
#include "../check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int size, rank, n, from, to, coords[2] = {0, 0}, dims[2] = {0, 0}, periods[2] = {1, 1}, kind;
    MPI_Comm cart, copy, part, point;

    /* A grid without dimensions has one process. */
    MPI_Cart_create(MPI_COMM_WORLD, 0, dims, periods, 0, &point);
    CHECK((point == MPI_COMM_NULL) == (check_rank > 0));
    if (point != MPI_COMM_NULL) {
        MPI_Comm_size(point, &size);
        CHECK_EQ(size, 1);
        MPI_Cartdim_get(point, &n);
        CHECK_EQ(n, 0);
        MPI_Comm_free(&point);
    }

    MPI_Dims_create(check_size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Comm_rank(cart, &rank);
    /* Shifts by more than a round. */
    for (int disp = -2 * check_size; disp <= 2 * check_size; disp++) {
        int want[2] = {rank / dims[1], rank % dims[1] + disp}, there;
        MPI_Cart_shift(cart, 1, disp, &from, &to);
        MPI_Cart_rank(cart, want, &there);
        CHECK_EQ(to, there);
        want[1] -= 2 * disp;
        MPI_Cart_rank(cart, want, &there);
        CHECK_EQ(from, there);
    }
    /* A duplicate has the topology, a split communicator has none. */
    MPI_Comm_dup(cart, &copy);
    MPI_Topo_test(copy, &kind);
    CHECK_EQ(kind, MPI_CART);
    int got[2] = {0, 0}, round[2] = {0, 0};
    MPI_Cart_get(copy, 2, got, round, coords);
    CHECK(got[0] == dims[0] && got[1] == dims[1] && round[0] && round[1]);
    MPI_Comm_split(copy, 0, 0, &part);
    MPI_Topo_test(part, &kind);
    CHECK_EQ(kind, MPI_UNDEFINED);
    MPI_Comm_free(&part);
    /* Nothing remains: each process is alone on a grid without dimensions. */
    int none[2] = {0, 0}, second[2] = {1, 0};
    if (!check_library("MPICH")) { /* which leaves all but one out */
        MPI_Cart_sub(copy, none, &part);
        MPI_Comm_size(part, &size);
        CHECK_EQ(size, 1);
        MPI_Cartdim_get(part, &n);
        CHECK_EQ(n, 0);
        MPI_Comm_free(&part);
    }
    /* Columns: the sum of the ranks above each other. */
    MPI_Cart_sub(copy, second, &part);
    int sum = 0, want = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part);
    for (int y = 0; y < dims[0]; y++) want += y * dims[1] + rank % dims[1];
    CHECK_EQ(sum, want);
    MPI_Comm_free(&part);
    MPI_Comm_free(&copy);

    /* Where reordering would put a process. */
    int line[1] = {check_size - 1 ? check_size - 1 : 1}, in = 0, place = -5;
    MPI_Cart_map(MPI_COMM_WORLD, 1, line, periods, &place);
    in = place != MPI_UNDEFINED;
    MPI_Allreduce(MPI_IN_PLACE, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!check_library("Open MPI")) CHECK_EQ(in, line[0]); /* which finds a place for everybody */

    /* Wrong arguments. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
    if (check_library("libimpi")) {
        int large[1] = {check_size + 1}, bad[2] = {-1, 1};
        CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, large, periods, 0, &part), MPI_ERR_DIMS);
        CHECK_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 2, bad, periods, 0, &part), MPI_ERR_DIMS);
        CHECK_CLASS(MPI_Dims_create(check_size, 2, bad), MPI_ERR_DIMS);
        CHECK_CLASS(MPI_Dims_create(check_size, 1, large), MPI_ERR_DIMS);
        CHECK_CLASS(MPI_Cart_get(cart, 1, dims, periods, coords), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Cart_coords(cart, check_size, 2, coords), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Cart_shift(cart, 2, 1, &from, &to), MPI_ERR_DIMS);
    }
    CHECK_CLASS(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY);
    CHECK_CLASS(MPI_Graphdims_get(cart, &n, &n), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&cart);
    return check_end();
}
