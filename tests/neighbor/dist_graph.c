/* Neighborhood collectives on distributed graphs: directed edges, several of them between two, to oneself, in any order
 * on either side; ranks that only send, only receive, or do neither. */
/* needs: MPI_Ineighbor_alltoallw MPI_Neighbor_alltoallw_init */
#include "neighbor.h"

enum { EDGES = 28 };

static int *volatile unweighted; /* MPI_UNWEIGHTED, of which compilers think that it is read */

/* All ranks know all edges; each has those that concern it, in an order of its own, but those between two ranks in the
 * order of the list. */
static void run(int n, const int (*edge)[2], int longest)
{
    MPI_Comm adjacent, made, copy;
    neighborhood h = {0};
    for (int i = 0; i < n; i++) {
        int e = check_rank % 2 ? n - 1 - i : i; /* odd ranks have them from the last to the first */
        if (edge[e][0] == check_rank) h.to[h.outs++] = edge[e][1];
        if (edge[e][1] == check_rank) h.from[h.ins++] = edge[e][0];
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, h.ins, h.from, unweighted, h.outs, h.to, unweighted, MPI_INFO_NULL,
                                   0, &adjacent);
    neighbor_edges(adjacent, &h);
    neighbor_all(adjacent, &h, longest);
    MPI_Comm_dup(adjacent, &copy);
    MPI_Comm_free(&adjacent);
    neighbor_all(copy, &h, 5);
    MPI_Comm_free(&copy);

    /* The same, told by ranks that are not concerned. */
    int sources[EDGES], degrees[EDGES], to[EDGES], mine = 0, weighted;
    for (int e = 0; e < n; e++)
        if (e % check_size == check_rank) sources[mine] = edge[e][0], degrees[mine] = 1, to[mine++] = edge[e][1];
    MPI_Dist_graph_create(MPI_COMM_WORLD, mine, sources, degrees, to, unweighted, MPI_INFO_NULL, 0, &made);
    neighborhood g = {0};
    MPI_Dist_graph_neighbors_count(made, &g.ins, &g.outs, &weighted);
    CHECK(g.ins == h.ins && g.outs == h.outs);
    MPI_Dist_graph_neighbors(made, NEIGHBOR_MOST, g.from, unweighted, NEIGHBOR_MOST, g.to, unweighted);
    neighbor_edges(made, &g);
    neighbor_all(made, &g, 10);
    MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 8);
    unweighted = MPI_UNWEIGHTED;
    int edge[EDGES][2], n = 0, last = check_size - 1;
    run(0, (const int(*)[2])edge, 10);
    for (int r = 0; r < check_size; r++) edge[n][0] = r, edge[n++][1] = (r + 1) % check_size; /* a ring, one way */
    run(n, (const int(*)[2])edge, 70000);
    n = 0;
    for (int r = 0; r < check_size; r++) edge[n][0] = 0, edge[n++][1] = r; /* rank 0 sends to all, and to itself */
    run(n, (const int(*)[2])edge, 5000);
    n = 0;
    for (int k = 0; k < 5; k++) edge[n][0] = last, edge[n++][1] = 0; /* five times the same */
    for (int k = 0; k < 3; k++) edge[n][0] = last, edge[n++][1] = last;
    run(n, (const int(*)[2])edge, 300);
    for (int seed = 0; seed < 6; seed++) {
        check_stream s = check_seed((uint64_t)seed);
        n = check_below(&s, EDGES + 1);
        for (int e = 0; e < n; e++) edge[e][0] = check_below(&s, check_size), edge[e][1] = check_below(&s, check_size);
        run(n, (const int(*)[2])edge, 200);
    }
    return check_end();
}
