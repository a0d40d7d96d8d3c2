/* IMPI_CHECK=1: communicators, topologies and windows that ranks make in different ways. */
/* ranks: 2 3 4 */
#include "differ.h"

static MPI_Comm world, made;
static MPI_Win win;

static int barrier(void) { return MPI_Barrier(world); }

/* A call that names something of all ranks, while the last one calls MPI_Barrier. */
#define BESIDE_BARRIER(call, name) OTHER_CALL(barrier(), call, MPI_ERR_OTHER, "MPI_Barrier", name)

static MPI_Group group_of(int n, const int *ranks)
{
    MPI_Group all, some;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, n, ranks, &some);
    MPI_Group_free(&all);
    return some;
}

static void groups(void)
{
    int both[2] = {0, check_size - 1}, turned[2] = {check_size - 1, 0};
    MPI_Group g = group_of(2, ODD ? turned : both);
    if (check_rank != 0 && !ODD) {
        MPI_Group_free(&g);
        g = MPI_GROUP_EMPTY;
    }
    DIFFERS(MPI_Comm_create(world, g, &made), MPI_ERR_GROUP, "MPI_Comm_create", differ_odd());
    if (g != MPI_GROUP_EMPTY) MPI_Group_free(&g);

    g = group_of(1, &check_rank); /* each its own one: that is allowed */
    CHECK_EQ(MPI_Comm_create(world, g, &made), MPI_SUCCESS);
    MPI_Comm_free(&made);
    BESIDE_BARRIER(MPI_Comm_create(world, g, &made), "MPI_Comm_create");
    MPI_Group_free(&g);
}

static void splits(void)
{
    BESIDE_BARRIER(MPI_Comm_dup(world, &made), "MPI_Comm_dup");
    BESIDE_BARRIER(MPI_Comm_dup_with_info(world, MPI_INFO_NULL, &made), "MPI_Comm_dup_with_info");
    BESIDE_BARRIER(MPI_Comm_split(world, 0, 0, &made), "MPI_Comm_split");
    OTHER_CALL(MPI_Comm_dup(world, &made), MPI_Comm_split(world, 0, 0, &made), MPI_ERR_OTHER, "MPI_Comm_dup",
               "MPI_Comm_split");
    DIFFERS(MPI_Comm_split_type(world, ODD ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made),
            MPI_ERR_ARG, "split_type", differ_odd());
    CHECK_EQ(MPI_Comm_split_type(world, ODD ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made),
             MPI_SUCCESS);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Comm copy;
    CHECK_EQ(MPI_Comm_dup(world, &copy), MPI_SUCCESS);
    OTHER_CALL(MPI_Barrier(copy), MPI_Comm_disconnect(&copy), MPI_ERR_OTHER, "MPI_Barrier", "MPI_Comm_disconnect");
    CHECK_EQ(MPI_Comm_disconnect(&copy), MPI_SUCCESS);
}

static void topologies(void)
{
    int dims[2] = {check_size, 1}, turned[2] = {1, check_size}, none[2] = {0, 0}, periods[2] = {0, ODD};
    DIFFERS(MPI_Cart_create(world, 2, ODD ? turned : dims, none, 0, &made), MPI_ERR_DIMS, "MPI_Cart_create",
            "argument dims");
    DIFFERS(MPI_Cart_create(world, 2 - ODD, dims, none, 0, &made), MPI_ERR_DIMS, "MPI_Cart_create", differ_odd());
    DIFFERS(MPI_Cart_create(world, 2, dims, periods, 0, &made), MPI_ERR_DIMS, "argument periods", differ_odd());
    DIFFERS(MPI_Cart_create(world, 2, dims, none, ODD, &made), MPI_ERR_ARG, "argument reorder", differ_odd());
    BESIDE_BARRIER(MPI_Cart_create(world, 2, dims, none, 0, &made), "MPI_Cart_create");
    MPI_Comm grid;
    CHECK_EQ(MPI_Cart_create(world, 2, dims, none, 0, &grid), MPI_SUCCESS);
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
    int remain[2] = {1, ODD};
    DIFFERS(MPI_Cart_sub(grid, remain, &made), MPI_ERR_DIMS, "MPI_Cart_sub", differ_odd());
    MPI_Comm_free(&grid);

    int index[2] = {1, 2}, edges[2] = {1, 0}, to_itself[2] = {0, 1};
    DIFFERS(MPI_Graph_create(world, 2, index, ODD ? to_itself : edges, 0, &made), MPI_ERR_TOPOLOGY, "argument edges",
            differ_odd());
    int other[2] = {0, 2};
    DIFFERS(MPI_Graph_create(world, 2, ODD ? other : index, edges, 0, &made), MPI_ERR_TOPOLOGY, "argument index",
            differ_odd());
    BESIDE_BARRIER(MPI_Graph_create(world, 2, index, edges, 0, &made), "MPI_Graph_create");
}

/* A ring in which each rank says who its neighbors are. */
static void distributed_graphs(void)
{
    int left = (check_rank + check_size - 1) % check_size, right = (check_rank + 1) % check_size, weight = 3;
    int sources[2] = {left, left},
        one = 1, *volatile unweighted = MPI_UNWEIGHTED; /* else the compiler knows too much */
    CHECK_EQ(MPI_Dist_graph_create_adjacent(world, 1, &left, &weight, 1, &right, &weight, MPI_INFO_NULL, 0, &made),
             MPI_SUCCESS);
    MPI_Comm_free(&made);
    DIFFERS(MPI_Dist_graph_create_adjacent(world, 1 + ODD, sources, unweighted, 1, &right, unweighted,
                                           MPI_INFO_NULL, 0, &made),
            MPI_ERR_TOPOLOGY, "MPI_Dist_graph_create_adjacent", differ_odd());
    int heavy = 3 + ODD;
    DIFFERS(MPI_Dist_graph_create_adjacent(world, 1, &left, &weight, 1, &right, &heavy, MPI_INFO_NULL, 0, &made),
            MPI_ERR_TOPOLOGY, "MPI_Dist_graph_create_adjacent", differ_odd());
    DIFFERS(MPI_Dist_graph_create_adjacent(world, 1, &left, ODD ? &weight : unweighted, 1, &right,
                                           ODD ? &weight : unweighted, MPI_INFO_NULL, 0, &made),
            MPI_ERR_ARG, "weights", differ_odd());
    DIFFERS(MPI_Dist_graph_create(world, 1, &check_rank, &one, &right, unweighted, MPI_INFO_NULL, ODD, &made),
            MPI_ERR_ARG, "argument reorder", differ_odd());
}

static void intercommunicators(void)
{
    MPI_Comm half, inter;
    int mine = check_rank % 2, first = mine == 0 ? 1 : 0;
    CHECK_EQ(MPI_Comm_split(world, mine, 0, &half), MPI_SUCCESS);
    int rank, size;
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    DIFFERS(MPI_Intercomm_create(half, 0, world, first, 5 + mine, &inter), MPI_ERR_TAG, "argument tag", "5");
    CHECK_EQ(MPI_Intercomm_create(half, 0, world, first, 5, &inter), MPI_SUCCESS);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);

    if (check_size > 2) { /* the even group has two ranks, which do not agree; the other hears of it */
        DIFFERS(MPI_Intercomm_merge(inter, mine == 0 ? rank : 0, &made), MPI_ERR_ARG, "MPI_Intercomm_merge",
                mine == 0 ? "argument high" : "the remote group");
    }
    CHECK_EQ(MPI_Intercomm_merge(inter, mine, &made), MPI_SUCCESS);
    MPI_Comm_free(&made);

    int value = 1, root = mine ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    CHECK_EQ(MPI_Bcast(&value, 1, MPI_INT, root, inter), MPI_SUCCESS);
    DIFFERS(MPI_Bcast(&value, 1, MPI_INT, mine ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : (int)(check_size > 3), inter),
            check_size > 3 ? MPI_ERR_ROOT : MPI_SUCCESS, "", "");
    DIFFERS(MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter), MPI_ERR_ROOT, "MPI_Bcast",
            "MPI_ROOT");
    DIFFERS(mine ? MPI_Barrier(inter) : MPI_Comm_dup(inter, &made), MPI_ERR_OTHER, "MPI_Barrier", "MPI_Comm_dup");
    CHECK_EQ(MPI_Barrier(inter), MPI_SUCCESS);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);

    DIFFERS(MPI_Intercomm_create(world, ODD, MPI_COMM_SELF, 0, 5, &inter), MPI_ERR_RANK, "argument local_leader",
            differ_odd());
}

static void windows(void)
{
    static int memory[4];
    BESIDE_BARRIER(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, world, &win), "MPI_Win_create");
    OTHER_CALL(MPI_Win_create_dynamic(MPI_INFO_NULL, world, &win),
               MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, world, &win), MPI_ERR_OTHER,
               "MPI_Win_create_dynamic", "MPI_Win_create");
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", ODD ? "true" : "false");
    DIFFERS(MPI_Win_create(memory, sizeof memory, 1, info, world, &win), MPI_ERR_INFO_VALUE, "no_locks=true",
            differ_odd());
    MPI_Info_set(info, "no_locks", "false");
    MPI_Info_set(info, "same_size", "true");
    DIFFERS(MPI_Win_create(memory, 4 + ODD, 1, info, world, &win), MPI_ERR_SIZE, "same_size", differ_odd());
    MPI_Info_set(info, "same_disp_unit", "true");
    DIFFERS(MPI_Win_create(memory, 4, 1 + ODD, info, world, &win), MPI_ERR_DISP, "same_disp_unit", differ_odd());
    MPI_Info_free(&info);

    CHECK_EQ(MPI_Win_create(memory, 4 * check_rank, 1 + check_rank, MPI_INFO_NULL, world, &win), MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Win_fence(ODD ? MPI_MODE_NOSTORE : MPI_MODE_NOPUT, win), MPI_SUCCESS); /* these may differ */
    DIFFERS(MPI_Win_fence(ODD ? MPI_MODE_NOPRECEDE : 0, win), MPI_ERR_ASSERT, "MPI_MODE_NOPRECEDE", differ_odd());
    DIFFERS(MPI_Win_fence(ODD ? MPI_MODE_NOSUCCEED : 0, win), MPI_ERR_ASSERT, "MPI_MODE_NOSUCCEED", differ_odd());
    CHECK_EQ(MPI_Win_fence(MPI_MODE_NOSUCCEED, win), MPI_SUCCESS);
    OTHER_CALL(MPI_Win_fence(0, win), MPI_Win_free(&win), MPI_ERR_OTHER, "MPI_Win_fence", "MPI_Win_free");
    CHECK_EQ(MPI_Win_free(&win), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    differ_start(&argc, &argv);
    world = MPI_COMM_WORLD;
    groups();
    splits();
    topologies();
    distributed_graphs();
    intercommunicators();
    windows();
    CHECK_EQ(MPI_Barrier(world), MPI_SUCCESS);
    return check_end();
}
