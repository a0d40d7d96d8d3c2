/* Graph topologies: a star that every process knows, its neighbors, copies, processes left out. */
#include "../check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int size, rank, kind, nodes = check_size > 2 ? check_size - 1 : check_size, n, edges;
    /* Node 0 knows all others, twice itself if it is alone; each of the others knows node 0 and itself. */
    int *index = malloc(sizeof *index * (size_t)nodes), *edge = malloc(sizeof *edge * (size_t)(3 * nodes + 2)), at = 0;
    for (int i = 1; i < nodes; i++) edge[at++] = i;
    if (nodes == 1) edge[at++] = 0, edge[at++] = 0;
    index[0] = at;
    for (int i = 1; i < nodes; i++) {
        edge[at++] = 0;
        edge[at++] = i;
        index[i] = at;
    }
    int place = -5, placed;
    MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edge, &place);
    placed = place != MPI_UNDEFINED;
    MPI_Allreduce(MPI_IN_PLACE, &placed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!check_library("Open MPI")) CHECK_EQ(placed, nodes); /* which finds a place for everybody */

    MPI_Comm graph, copy;
    MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edge, 0, &graph);
    CHECK((graph == MPI_COMM_NULL) == (check_rank >= nodes));
    if (graph != MPI_COMM_NULL) {
        MPI_Comm_dup(graph, &copy);
        MPI_Comm_free(&graph);
        MPI_Topo_test(copy, &kind);
        CHECK_EQ(kind, MPI_GRAPH);
        MPI_Comm_size(copy, &size);
        CHECK_EQ(size, nodes);
        MPI_Comm_rank(copy, &rank);
        CHECK_EQ(rank, check_rank);
        MPI_Graphdims_get(copy, &n, &edges);
        CHECK_EQ(n, nodes);
        CHECK_EQ(edges, at);
        int *got_index = malloc(sizeof *index * (size_t)n), *got_edge = malloc(sizeof *edge * (size_t)edges);
        MPI_Graph_get(copy, n, edges, got_index, got_edge);
        CHECK(!memcmp(got_index, index, sizeof *index * (size_t)n) &&
              !memcmp(got_edge, edge, sizeof *edge * (size_t)edges));
        for (int r = 0; r < nodes; r++) {
            int first = r ? index[r - 1] : 0;
            MPI_Graph_neighbors_count(copy, r, &n);
            CHECK_EQ(n, index[r] - first);
            MPI_Graph_neighbors(copy, r, n, got_edge);
            CHECK(!memcmp(got_edge, edge + first, sizeof *edge * (size_t)n));
        }
        MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
        CHECK_CLASS(MPI_Cartdim_get(copy, &n), MPI_ERR_TOPOLOGY);
        if (check_library("libimpi")) CHECK_CLASS(MPI_Graph_neighbors_count(copy, nodes, &n), MPI_ERR_RANK);
        free(got_index);
        free(got_edge);
        MPI_Comm_free(&copy);
    }
    /* No node at all: nobody gets a communicator. */
    MPI_Graph_create(MPI_COMM_WORLD, 0, index, edge, 0, &graph);
    CHECK(graph == MPI_COMM_NULL);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    edge[0] = nodes;
    if (check_library("libimpi")) {
        CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edge, 0, &graph), MPI_ERR_ARG);
        edge[0] = 0;
        index[0] = -1;
        CHECK_CLASS(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edge, 0, &graph), MPI_ERR_ARG);
    }
    free(index);
    free(edge);
    return check_end();
}
