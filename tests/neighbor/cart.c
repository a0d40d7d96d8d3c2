/* Neighborhood collectives on grids of no to three dimensions. What is sent in the negative direction of a dimension
 * arrives from the positive one, also where both neighbors are one process, or the process itself. */
/* needs: MPI_Ineighbor_alltoallw MPI_Neighbor_alltoallw_init */
#include "neighbor.h"

static void grid(int ndims, const int *dims, const int *periods, int longest)
{
    MPI_Comm cart, copy;
    neighborhood h = {0};
    MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart);
    if (cart == MPI_COMM_NULL) return;
    h.ins = h.outs = 2 * ndims;
    for (int d = 0; d < ndims; d++) {
        int negative, positive;
        MPI_Cart_shift(cart, d, 1, &negative, &positive);
        h.from[2 * d] = h.to[2 * d] = negative;
        h.from[2 * d + 1] = h.to[2 * d + 1] = positive;
        h.edge[2 * d] = 2 * d + 1; /* the negative neighbor has sent it in its positive direction */
        h.edge[2 * d + 1] = 2 * d;
    }
    neighbor_all(cart, &h, longest);
    MPI_Comm_dup(cart, &copy); /* has the same neighbors */
    MPI_Comm_free(&cart);
    neighbor_all(copy, &h, 10);
    MPI_Comm_free(&copy);
}

/* With periods in all dimensions, in none and in the first; among few ranks with all others, too. */
static void grids(int ndims, const int *dims, int longest)
{
    const int last = (1 << ndims) - 1;
    for (int mask = 0; mask <= last; mask++) {
        if (check_size > 3 && mask > 1 && mask < last) continue;
        int periods[3];
        for (int d = 0; d < ndims; d++) periods[d] = mask >> d & 1;
        grid(ndims, dims, periods, longest);
    }
}

/* The use of it: the edges of a field go to the halos of the neighbors' fields, out of and into the field itself. */
static void halo(void)
{
    enum { ROWS = 6, COLUMNS = 9, STEPS = 4 };
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], there[2], size[2] = {ROWS + 2, COLUMNS + 2};
    int field[ROWS + 2][COLUMNS + 2], rank, other, ones[4] = {1, 1, 1, 1};
    MPI_Comm cart;
    MPI_Request q;
    MPI_Datatype out[4], in[4];
    MPI_Aint none[4] = {0, 0, 0, 0};
    MPI_Dims_create(check_size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
    MPI_Comm_rank(cart, &rank);
    MPI_Cart_coords(cart, rank, 2, coords);
    for (int e = 0; e < 4; e++) {
        int d = e / 2, last = e % 2, part[2] = {ROWS, COLUMNS}, inner[2] = {1, 1}, outer[2] = {1, 1};
        part[d] = 1;
        inner[d] = last ? size[d] - 2 : 1;
        outer[d] = last ? size[d] - 1 : 0;
        MPI_Type_create_subarray(2, size, part, inner, MPI_ORDER_C, MPI_INT, &out[e]);
        MPI_Type_create_subarray(2, size, part, outer, MPI_ORDER_C, MPI_INT, &in[e]);
        MPI_Type_commit(&out[e]);
        MPI_Type_commit(&in[e]);
    }
    MPI_Neighbor_alltoallw_init(field, ones, none, out, field, ones, none, in, cart, MPI_INFO_NULL, &q);
    for (int e = 0; e < 4; e++) MPI_Type_free(&out[e]), MPI_Type_free(&in[e]);
    for (int step = 0; step < STEPS; step++) {
        for (int y = 0; y < ROWS + 2; y++)
            for (int x = 0; x < COLUMNS + 2; x++) {
                int inside = y > 0 && y <= ROWS && x > 0 && x <= COLUMNS;
                field[y][x] = inside ? ((rank * 10 + step) * 10 + y) * 20 + x : -5;
            }
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        for (int y = 0; y < ROWS + 2; y++)
            for (int x = 0; x < COLUMNS + 2; x++) {
                int dy = y == 0 ? -1 : y > ROWS, dx = x == 0 ? -1 : x > COLUMNS;
                there[0] = (coords[0] + dy + dims[0]) % dims[0], there[1] = coords[1] + dx;
                if ((dy && dx) || there[1] < 0 || there[1] >= dims[1]) {
                    CHECK_EQ(field[y][x], -5); /* a corner, or the end of the grid */
                    continue;
                }
                MPI_Cart_rank(cart, there, &other);
                CHECK_EQ(field[y][x], ((other * 10 + step) * 10 + y - dy * ROWS) * 20 + x - dx * COLUMNS);
            }
    }
    MPI_Request_free(&q);
    MPI_Comm_free(&cart);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 8);
    const int all[1] = {check_size}, high[2] = {check_size, 1}, wide[2] = {1, check_size}, one[3] = {1, 1, 1};
    const int pair[1] = {2}, flat[3] = {1, 2, 1}, square[2] = {2, 2}, cube[3] = {2, 2, 2};
    int two[2] = {0, 0}, three[3] = {0, 0, 0};
    MPI_Dims_create(check_size, 2, two);
    MPI_Dims_create(check_size, 3, three);
    grids(0, NULL, 1);
    grids(1, one, 5000);
    grids(1, all, 20000);
    grids(2, high, 100);
    grids(2, wide, 100);
    grids(2, two, 3000);
    grids(3, one, 100);
    grids(3, three, 100);
    if (check_size >= 2) grids(1, pair, 70000), grids(3, flat, 100);
    if (check_size >= 4) grids(2, square, 100);
    if (check_size >= 8) grids(3, cube, 100);
    halo();
    return check_end();
}
