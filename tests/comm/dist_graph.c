/* Distributed graphs: each process gives its own neighbors, or any process gives any edge. */
#include "../check.h"

/* Read at run time: a compiler that follows the constants warns of reading there. */
static int *volatile unweighted, *volatile no_weights;

/* A ring with a way back over two, in which rank 0 has no way out; edge from r to s weighs 10 r + s. */
static int leads(int r, int s)
{
    return r != 0 && (s == (r + 1) % check_size || s == (r + check_size - 2) % check_size);
}
static int weight(int r, int s) { return 10 * r + s; }

/* The neighbors in any order, but each with its weight and once. */
static void same(const int *rank, const int *w, int n, int out)
{
    int *seen = calloc((size_t)check_size, sizeof *seen);
    for (int i = 0; i < n; i++) {
        CHECK(rank[i] >= 0 && rank[i] < check_size && !seen[rank[i]]++);
        CHECK(out ? leads(check_rank, rank[i]) : leads(rank[i], check_rank));
        if (w) CHECK_EQ(w[i], out ? weight(check_rank, rank[i]) : weight(rank[i], check_rank));
    }
    for (int r = 0; r < check_size; r++) CHECK_EQ(seen[r], out ? leads(check_rank, r) : leads(r, check_rank));
    free(seen);
}

static void verify(MPI_Comm graph, int with_weights)
{
    int in, out, weighted, kind, size;
    MPI_Topo_test(graph, &kind);
    CHECK_EQ(kind, MPI_DIST_GRAPH);
    MPI_Comm_size(graph, &size);
    CHECK_EQ(size, check_size);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK_EQ(!weighted, !with_weights);
    int *from = malloc(sizeof(int) * (size_t)(in + 1)), *to = malloc(sizeof(int) * (size_t)(out + 1));
    int *from_w = malloc(sizeof(int) * (size_t)(in + 1)), *to_w = malloc(sizeof(int) * (size_t)(out + 1));
    MPI_Dist_graph_neighbors(graph, in, from, with_weights ? from_w : unweighted, out, to, with_weights ? to_w
        : unweighted);
    same(from, with_weights ? from_w : NULL, in, 0);
    same(to, with_weights ? to_w : NULL, out, 1);
    if (in > 1 && !check_library("MPICH")) { /* only as many as there is room for, in the same order */
        int first = from[0];
        from[1] = -7;
        MPI_Dist_graph_neighbors(graph, 1, from, unweighted, 0, to, unweighted);
        CHECK(from[0] == first && from[1] == -7);
    }
    free(from), free(to), free(from_w), free(to_w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unweighted = MPI_UNWEIGHTED;
    no_weights = MPI_WEIGHTS_EMPTY;
    MPI_Comm graph, copy;
    int from[2], to[2], from_w[2], to_w[2], in = 0, out = 0;
    for (int r = 0; r < check_size; r++) {
        if (leads(r, check_rank)) from[in] = r, from_w[in++] = weight(r, check_rank);
        if (leads(check_rank, r)) to[out] = r, to_w[out++] = weight(check_rank, r);
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from, in ? from_w : no_weights, out, to, out ? to_w : no_weights,
                                   MPI_INFO_NULL, 0, &graph);
    verify(graph, 1);
    /* The order is the one that was given. */
    int got_from[2], got_to[2];
    MPI_Dist_graph_neighbors(graph, in, got_from, unweighted, out, got_to, unweighted);
    for (int i = 0; i < in; i++) CHECK_EQ(got_from[i], from[i]);
    for (int i = 0; i < out; i++) CHECK_EQ(got_to[i], to[i]);
    MPI_Comm_dup(graph, &copy);
    verify(copy, 1);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from, unweighted, out, to, unweighted, MPI_INFO_NULL, 0, &graph);
    verify(graph, 0);
    MPI_Comm_free(&graph);

    /* The last rank gives all edges; then each rank gives those of the next. */
    int *sources = malloc(sizeof(int) * (size_t)check_size), *degrees = malloc(sizeof(int) * (size_t)check_size);
    int *dests = malloc(sizeof(int) * (size_t)(2 * check_size)),
        *weights = malloc(sizeof(int) * (size_t)(2 * check_size));
    for (int all = 0; all < 2; all++) {
        int n = 0, edges = 0;
        for (int r = 0; r < check_size; r++) {
            if (all ? check_rank != check_size - 1 : r != (check_rank + 1) % check_size) continue;
            sources[n] = r;
            degrees[n] = 0;
            for (int s = 0; s < check_size; s++)
                if (leads(r, s)) dests[edges] = s, weights[edges++] = weight(r, s), degrees[n]++;
            n++;
        }
        MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, dests, edges ? weights : no_weights, MPI_INFO_NULL,
                              0, &graph);
        verify(graph, 1);
        MPI_Comm_free(&graph);
        MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, dests, unweighted, MPI_INFO_NULL, 0, &graph);
        verify(graph, 0);
        MPI_Comm_free(&graph);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    from[0] = check_size;
    if (check_library("libimpi"))
        CHECK_CLASS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, unweighted, 0, to, unweighted,
            MPI_INFO_NULL, 0, &graph), MPI_ERR_RANK);
    free(sources), free(degrees), free(dests), free(weights);
    return check_end();
}
