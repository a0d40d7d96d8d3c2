/* With reorder, neighbors of a topology come to stand close together: fewer edges lead from one IMPI client to
 * another, and never more. Every process gets the neighbors of its new rank, and without reorder ranks stay. */
#include "../check.h"

/* The client of each rank. */
static void clients(MPI_Comm comm, int *of)
{
    int *color, found;
    MPI_Comm_get_attr(comm, IMPI_CLIENT_COLOR, &color, &found);
    CHECK(found);
    MPI_Allgather(color, 1, MPI_INT, of, 1, MPI_INT, comm);
}

/* The world with its ranks dealt out to the clients in turn, so that a row of ranks is as far apart as can be. */
static MPI_Comm dealt(void)
{
    int of[256], before = 0;
    MPI_Comm comm;
    clients(MPI_COMM_WORLD, of);
    for (int r = 0; r < check_rank; r++) before += of[r] == of[check_rank];
    MPI_Comm_split(MPI_COMM_WORLD, 0, before * 64 + of[check_rank], &comm);
    return comm;
}

/* The weight of the edges between clients, where the process of rank v has these neighbors. */
static int cut(MPI_Comm comm, int n, const int *to, const int *weight)
{
    int of[256], rank, mine = 0, all;
    clients(comm, of);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < n; i++)
        if (to[i] != MPI_PROC_NULL && of[to[i]] != of[rank]) mine += weight ? weight[i] : 1;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
    return all;
}

static int grid_cut(MPI_Comm comm, int ndims)
{
    int to[8];
    for (int i = 0; i < ndims; i++) MPI_Cart_shift(comm, i, 1, &to[2 * i], &to[2 * i + 1]);
    return cut(comm, 2 * ndims, to, NULL);
}

/* Every rank of base is one rank of comm, or in none. */
static void is_permutation(MPI_Comm base, MPI_Comm comm, int n)
{
    int rank = -1, size, seen[256] = {0}, all[256];
    MPI_Comm_size(base, &size);
    if (comm != MPI_COMM_NULL) MPI_Comm_rank(comm, &rank);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, base);
    for (int r = 0; r < size; r++)
        if (all[r] >= 0) seen[all[r]]++;
    for (int v = 0; v < n; v++) CHECK_EQ(seen[v], 1);
}

static void grid(MPI_Comm base, int ndims, const int *dims, const int *periods)
{
    int n = 1, place, before = -1, after = -1, rank, old;
    MPI_Comm plain, placed;
    for (int i = 0; i < ndims; i++) n *= dims[i];
    if (n > check_size) return;
    MPI_Comm_rank(base, &old);
    MPI_Cart_create(base, ndims, dims, periods, 0, &plain);
    MPI_Cart_create(base, ndims, dims, periods, 1, &placed);
    MPI_Cart_map(base, ndims, dims, periods, &place);
    CHECK((plain != MPI_COMM_NULL) == (old < n));
    CHECK((placed != MPI_COMM_NULL) == (place != MPI_UNDEFINED));
    is_permutation(base, placed, n);
    if (plain != MPI_COMM_NULL) {
        MPI_Comm_rank(plain, &rank);
        CHECK_EQ(rank, old);
        before = grid_cut(plain, ndims);
        MPI_Comm_free(&plain);
    }
    if (placed != MPI_COMM_NULL) {
        MPI_Comm_rank(placed, &rank);
        CHECK_EQ(rank, place);
        after = grid_cut(placed, ndims);
        MPI_Comm_free(&placed);
    }
    MPI_Allreduce(MPI_IN_PLACE, &before, 1, MPI_INT, MPI_MAX, base);
    MPI_Allreduce(MPI_IN_PLACE, &after, 1, MPI_INT, MPI_MAX, base);
    CHECK_SAY(after <= before, "a grid of %d dimensions: %d edges between clients, %d without reorder", ndims, after,
              before);
    if (ndims == 1 && n == check_size && n > 2) { /* each client one piece of the line */
        int of[256], count = 0;
        clients(base, of);
        for (int v = 0; v < n; v++) {
            int first = 1;
            for (int u = 0; u < v; u++) first &= of[u] != of[v];
            count += first;
        }
        CHECK_EQ(after, count == 1 ? 0 : 2 * (periods[0] ? count : count - 1));
    }
}

/* A ring whose ranks are dealt out: in any order of clients that keeps each together, two edges a client are cut. */
static void ring_graph(MPI_Comm base)
{
    int n = check_size, index[256], edges[512], of[256], count = 0, rank, place;
    MPI_Comm placed;
    if (n < 3) return;
    for (int v = 0; v < n; v++) {
        edges[2 * v] = (v + n - 1) % n;
        edges[2 * v + 1] = (v + 1) % n;
        index[v] = 2 * v + 2;
    }
    clients(base, of);
    for (int v = 0; v < n; v++) {
        int first = 1;
        for (int u = 0; u < v; u++) first &= of[u] != of[v];
        count += first;
    }
    MPI_Graph_create(base, n, index, edges, 1, &placed);
    MPI_Graph_map(base, n, index, edges, &place);
    MPI_Comm_rank(placed, &rank);
    CHECK_EQ(rank, place);
    is_permutation(base, placed, n);
    int to[2] = {(rank + n - 1) % n, (rank + 1) % n};
    CHECK_EQ(cut(placed, 2, to, NULL), count > 1 ? 2 * count : 0);
    MPI_Comm_free(&placed);
}

/* Pairs that talk a lot, in a ring that does not: heavy edges are inside of clients, if the clients' sizes are even. */
static void weighted(MPI_Comm base, int adjacent)
{
    int n = check_size, rank, of[256], even = 1, in, out, is_weighted;
    MPI_Comm placed;
    if (n < 4 || n % 2) return;
    clients(base, of);
    for (int v = 0; v < n; v++) {
        int same = 0;
        for (int u = 0; u < n; u++) same += of[u] == of[v];
        even &= same % 2 == 0;
    }
    MPI_Comm_rank(base, &rank);
    /* Node v talks much with the one half way round, and little with the next. */
    if (adjacent) {
        int from[2] = {(rank + n / 2) % n, (rank + n - 1) % n}, to[2] = {(rank + n / 2) % n, (rank + 1) % n},
            weight[2] = {100, 1};
        MPI_Dist_graph_create_adjacent(base, 2, from, weight, 2, to, weight, MPI_INFO_NULL, 1, &placed);
    } else { /* each edge is told by somebody else than its ends */
        int source = (rank + 1) % n, degree = 2, to[2] = {(source + n / 2) % n, (source + 1) % n}, weight[2] = {100, 1};
        MPI_Dist_graph_create(base, 1, &source, &degree, to, weight, MPI_INFO_NULL, 1, &placed);
    }
    is_permutation(base, placed, n);
    MPI_Comm_rank(placed, &rank);
    MPI_Dist_graph_neighbors_count(placed, &in, &out, &is_weighted);
    CHECK(in == 2 && out == 2 && is_weighted);
    int from[2], to[2], from_weight[2], to_weight[2];
    MPI_Dist_graph_neighbors(placed, 2, from, from_weight, 2, to, to_weight);
    for (int i = 0; i < 2; i++) { /* in any order */
        CHECK_EQ(from[i], from_weight[i] == 100 ? (rank + n / 2) % n : (rank + n - 1) % n);
        CHECK_EQ(to[i], to_weight[i] == 100 ? (rank + n / 2) % n : (rank + 1) % n);
    }
    int weight = cut(placed, 2, to, to_weight);
    if (even) CHECK_SAY(weight < 100, "%d cut, and no heavy edge need be", weight);
    MPI_Comm_free(&placed);
}

/* Without weights, and with parts of different length, some of them empty: node 0 gives to all. */
static void star(MPI_Comm base)
{
    int n = check_size, rank, in, out, is_weighted, to[256], zero = 0, *volatile unweighted = MPI_UNWEIGHTED,
        *none = unweighted;
    MPI_Comm placed;
    MPI_Comm_rank(base, &rank);
    for (int i = 1; i < n; i++) to[i - 1] = i;
    MPI_Dist_graph_create_adjacent(base, rank > 0, &zero, none, rank ? 0 : n - 1, to, none, MPI_INFO_NULL, 1, &placed);
    MPI_Comm_rank(placed, &rank);
    MPI_Dist_graph_neighbors_count(placed, &in, &out, &is_weighted);
    CHECK(in == (rank > 0) && out == (rank ? 0 : n - 1) && !is_weighted);
    MPI_Comm_free(&placed);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm bases[2] = {MPI_COMM_WORLD, dealt()};
    for (int b = 0; b < 2; b++) {
        int line[1] = {check_size}, part[1] = {(check_size + 1) / 2}, two[2] = {2, check_size / 2},
            half[2] = {check_size / 2, 2}, cube[3] = {2, 2, 2};
        int open[3] = {0, 0, 0}, closed[3] = {1, 1, 1};
        for (int p = 0; p < 2; p++) {
            const int *periods = p ? closed : open;
            grid(bases[b], 1, line, periods);
            grid(bases[b], 1, part, periods);
            if (check_size > 1) {
                grid(bases[b], 2, two, periods);
                grid(bases[b], 2, half, periods);
            }
            grid(bases[b], 3, cube, periods);
        }
        ring_graph(bases[b]);
        weighted(bases[b], 0);
        weighted(bases[b], 1);
        star(bases[b]);
    }
    MPI_Comm_free(&bases[1]);
    return check_end();
}
