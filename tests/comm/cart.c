/* Cartesian topologies: coordinates, ranks, neighbors, parts. */
#include "../check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], n = -1, rank, kind = -1, back;
    MPI_Comm cart, row;
    MPI_Dims_create(check_size, 2, dims);
    CHECK_EQ(dims[0] * dims[1], check_size);
    CHECK(dims[0] >= dims[1]);
    int fixed[3] = {0, 1, 0};
    MPI_Dims_create(check_size, 3, fixed);
    CHECK(fixed[1] == 1 && fixed[0] * fixed[2] == check_size && fixed[0] >= fixed[2]);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Topo_test(cart, &kind);
    CHECK_EQ(kind, MPI_CART);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK_EQ(kind, MPI_UNDEFINED);
    MPI_Cartdim_get(cart, &n);
    CHECK_EQ(n, 2);
    MPI_Comm_rank(cart, &rank);
    CHECK_EQ(rank, check_rank); /* no reordering was allowed */
    int got_dims[2], got_periods[2];
    MPI_Cart_get(cart, 2, got_dims, got_periods, coords);
    CHECK(got_dims[0] == dims[0] && got_dims[1] == dims[1] && got_periods[0] == 1 && got_periods[1] == 0);
    CHECK(coords[0] == rank / dims[1] && coords[1] == rank % dims[1]); /* row by row */
    MPI_Cart_rank(cart, coords, &back);
    CHECK_EQ(back, rank);
    for (int r = 0; r < check_size; r++) {
        MPI_Cart_coords(cart, r, 2, coords);
        CHECK(coords[0] == r / dims[1] && coords[1] == r % dims[1]);
    }
    coords[0] = -1; /* wraps round, the dimension is periodic */
    coords[1] = 0;
    MPI_Cart_rank(cart, coords, &back);
    CHECK_EQ(back, (dims[0] - 1) * dims[1]);

    int y = rank / dims[1], x = rank % dims[1], from, to;
    MPI_Cart_shift(cart, 0, 1, &from, &to);
    CHECK_EQ(to, (y + 1) % dims[0] * dims[1] + x);
    CHECK_EQ(from, (y + dims[0] - 1) % dims[0] * dims[1] + x);
    MPI_Cart_shift(cart, 1, 1, &from, &to);
    CHECK_EQ(to, x + 1 < dims[1] ? rank + 1 : MPI_PROC_NULL);
    CHECK_EQ(from, x > 0 ? rank - 1 : MPI_PROC_NULL);
    int in = -2;
    MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, cart, MPI_STATUS_IGNORE);
    CHECK_EQ(in, x > 0 ? rank - 1 : -2);

    int keep[2] = {0, 1}, size;
    MPI_Cart_sub(cart, keep, &row);
    MPI_Comm_size(row, &size);
    CHECK_EQ(size, dims[1]);
    MPI_Comm_rank(row, &back);
    CHECK_EQ(back, x);
    MPI_Cartdim_get(row, &n);
    CHECK_EQ(n, 1);
    MPI_Comm_free(&row);
    /* A grid smaller than the world leaves ranks out. */
    MPI_Comm_free(&cart);
    if (check_size > 1) {
        int small[1] = {check_size - 1};
        MPI_Cart_create(MPI_COMM_WORLD, 1, small, periods, 0, &cart);
        if (check_rank == check_size - 1) CHECK(cart == MPI_COMM_NULL);
        else MPI_Comm_free(&cart);
    }
    return check_end();
}
