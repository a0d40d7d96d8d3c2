/* Ranks that are bound to one core each: with reorder, neighbors of a topology come to stand on the same core first.
 * A process that is bound later than MPI_Init is seen where it is bound when the topology is made. */
#include <sched.h>
#include "../check.h"

static cpu_set_t given;

/* Restricts this process to one of the CPUs that it was given: even ranks to the first, odd ones to the last. */
static void bind(void)
{
    cpu_set_t one;
    int first = -1, last = -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &given)) {
            if (first < 0) first = cpu;
            last = cpu;
        }
    CPU_ZERO(&one);
    CPU_SET(check_rank % 2 ? last : first, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

/* The core of each rank, by the lowest rank on it; how many there are. */
static int cores(MPI_Comm comm, int *of)
{
    MPI_Info info;
    MPI_Comm core;
    int mine, n, count = 0;
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(comm, &n);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://Core");
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_GUIDED, 0, info, &core);
    MPI_Info_free(&info);
    if (core == MPI_COMM_NULL) mine = 0; /* the machine does not tell: all are alike */
    else {
        MPI_Bcast(&mine, 1, MPI_INT, 0, core);
        MPI_Comm_free(&core);
    }
    MPI_Allgather(&mine, 1, MPI_INT, of, 1, MPI_INT, comm);
    for (int r = 0; r < n; r++) {
        int known = 0;
        for (int s = 0; s < r; s++) known |= of[s] == of[r];
        count += !known;
    }
    return count;
}

/* The steps of the line or ring of all ranks that lead to another core. */
static void check_cut(MPI_Comm placed, int ring, const char *what)
{
    int n, of[256], steps = 0;
    MPI_Comm_size(placed, &n);
    int count = cores(placed, of);
    for (int v = 0; v + !ring < n; v++) steps += of[v] != of[(v + 1) % n];
    CHECK_SAY(steps == (count == 1 ? 0 : ring ? count : count - 1), "%s: %d steps between %d cores", what, steps,
              count);
}

int main(int argc, char **argv)
{
    CHECK_EQ(sched_getaffinity(0, sizeof given, &given), 0);
    check_start(&argc, &argv);
    int n = check_size, rank, index[256], edges[512];
    MPI_Comm placed, kept;
    MPI_Barrier(MPI_COMM_WORLD);
    bind();

    for (int ring = 0; ring < 2; ring++) {
        MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &ring, 1, &placed);
        check_cut(placed, ring, "grid");
        MPI_Comm_free(&placed);
        MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &ring, 0, &kept);
        MPI_Comm_rank(kept, &rank);
        CHECK_EQ(rank, check_rank);
        MPI_Comm_free(&kept);
    }
    for (int v = 0; v < n; v++) {
        edges[2 * v] = (v + n - 1) % n;
        edges[2 * v + 1] = (v + 1) % n;
        index[v] = 2 * v + 2;
    }
    MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, 1, &placed);
    check_cut(placed, 1, "graph");
    MPI_Comm_free(&placed);

    int weight[2] = {3, 3};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, &edges[2 * check_rank], weight, 2, &edges[2 * check_rank], weight,
                                   MPI_INFO_NULL, 1, &placed);
    check_cut(placed, 1, "distributed graph");
    int from[2], to[2], in_weight[2], out_weight[2];
    MPI_Comm_rank(placed, &rank);
    MPI_Dist_graph_neighbors(placed, 2, from, in_weight, 2, to, out_weight);
    for (int i = 0; i < 2; i++) {
        CHECK(from[i] == edges[2 * rank + i] && to[i] == edges[2 * rank + i] && in_weight[i] == 3 &&
              out_weight[i] == 3);
    }
    MPI_Comm_free(&placed);
    return check_end();
}
