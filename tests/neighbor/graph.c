/* Neighborhood collectives on graphs: neighbors in any order, oneself among them, and several edges between two. */
/* needs: MPI_Ineighbor_alltoallw MPI_Neighbor_alltoallw_init */
#include "neighbor.h"

static void run(int nodes, const int *index, const int *edges, int longest)
{
    MPI_Comm comm;
    neighborhood h = {0};
    int rank;
    MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &comm);
    if (comm == MPI_COMM_NULL) return;
    MPI_Comm_rank(comm, &rank);
    MPI_Graph_neighbors_count(comm, rank, &h.ins);
    CHECK_EQ(h.ins, index[rank] - (rank ? index[rank - 1] : 0));
    h.outs = h.ins;
    MPI_Graph_neighbors(comm, rank, NEIGHBOR_MOST, h.from);
    memcpy(h.to, h.from, sizeof h.to);
    neighbor_edges(comm, &h);
    neighbor_all(comm, &h, longest);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 8);
    int index[8], edges[8 * 20], n = 0;
    /* Nobody has a neighbor. */
    for (int r = 0; r < check_size; r++) index[r] = 0;
    run(check_size, index, edges, 10);
    /* A ring: with two ranks, two edges between them; with one, two to itself. */
    for (int r = 0; r < check_size; r++) {
        edges[n++] = (r + 1) % check_size;
        edges[n++] = (r + check_size - 1) % check_size;
        index[r] = n;
    }
    run(check_size, index, edges, 20000);
    /* A star, whose middle is its own neighbor, too, and the last rank of which is left out. */
    n = 0;
    int nodes = check_size > 1 ? check_size - 1 : 1;
    for (int r = 0; r < nodes; r++) {
        for (int to = nodes - 1; to >= 0; to--)
            if (r == 0 || to == 0) edges[n++] = to;
        index[r] = n;
    }
    run(nodes, index, edges, 3000);
    /* Everybody with everybody and with oneself, between neighbors in the ring twice or three times. */
    n = 0;
    for (int r = 0; r < check_size; r++) {
        for (int k = 0; k < check_size; k++) {
            int to = (r * 3 + k) % check_size, apart = (to - r + check_size) % check_size;
            edges[n++] = to;
            if (apart == 1 || apart == check_size - 1) edges[n++] = to;
        }
        if (r < 2 && check_size > 1) edges[n++] = 1 - r;
        index[r] = n;
    }
    run(check_size, index, edges, 500);
    return check_end();
}
