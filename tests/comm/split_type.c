/* MPI_Comm_split_type for each kind, and MPI_Get_hw_resource_info: ranks that are bound to one CPU meet those bound
 * to the same one, and nobody else. */
#include <sched.h>
#include "../check.h"

static int cpus[1024], ncpus, bound;

/* Restricts this process to one of the CPUs that it was given: even ranks to the first, odd ones to the last. */
static void bind(int rank)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    bound = cpus[rank % 2 ? ncpus - 1 : 0];
    CPU_SET(bound, &set);
    CHECK_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

static void unbind(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < ncpus; i++) CPU_SET(cpus[i], &set);
    CHECK_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

static int size_of(MPI_Comm comm)
{
    int n = 0;
    if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &n);
    return n;
}

static MPI_Comm split(int kind, const char *key, const char *value)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm comm;
    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    CHECK_EQ(MPI_Comm_split_type(MPI_COMM_WORLD, kind, -check_rank, info, &comm), MPI_SUCCESS);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return comm;
}

/* What the resource info says of a type: 1 true, 0 false, -1 nothing. */
static int restricted(const char *type)
{
    MPI_Info info;
    char value[16];
    int flag, len = sizeof value;
    CHECK_EQ(MPI_Get_hw_resource_info(&info), MPI_SUCCESS);
    MPI_Info_get_string(info, type, &len, value, &flag);
    MPI_Info_free(&info);
    if (!flag) return -1;
    CHECK(!strcmp(value, "true") || !strcmp(value, "false"));
    return value[0] == 't';
}

/* On an intercommunicator both groups are split by the same parts, and the results are intercommunicators. */
static void between_groups(void)
{
    static const int kinds[] = {
        MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_HW_UNGUIDED, MPI_UNDEFINED};
    MPI_Comm half, inter, c;
    MPI_Info info;
    int mine = check_rank % 2;
    if (check_size < 2 || check_spans()) return;
    MPI_Comm_split(MPI_COMM_WORLD, mine, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !mine, 3, &inter);
    MPI_Info_create(&info);
    for (int i = 0; i < 4; i++) {
        int is = 0, ours = 0, theirs = 0, sum = -1, all[64];
        MPI_Info_set(info, "mpi_hw_resource_type", i == 1 ? "hwloc://Machine" : "hwloc://PU");
        CHECK_EQ(MPI_Comm_split_type(inter, kinds[i], -check_rank, info, &c), MPI_SUCCESS);
        if (i >= 2) { /* nobody shares a CPU with the other group, if there are several */
            if (i == 3 || ncpus > 1) CHECK(c == MPI_COMM_NULL);
            if (c != MPI_COMM_NULL) MPI_Comm_free(&c);
            continue;
        }
        CHECK(c != MPI_COMM_NULL);
        MPI_Comm_test_inter(c, &is);
        CHECK_EQ(is, 1);
        MPI_Comm_size(c, &ours);
        MPI_Comm_remote_size(c, &theirs);
        CHECK_EQ(ours + theirs, check_size);
        MPI_Allreduce(&ours, &sum, 1, MPI_INT, MPI_SUM, c);
        CHECK_EQ(sum, theirs * theirs);
        MPI_Allgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, c);
        for (int k = 0; k < theirs; k++) CHECK_EQ(all[k], 2 * (theirs - 1 - k) + !mine); /* the key */
        MPI_Comm_free(&c);
    }
    MPI_Info_free(&info);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    cpu_set_t mine;
    CHECK_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    for (int c = 0; c < CPU_SETSIZE && ncpus < 1024; c++)
        if (CPU_ISSET(c, &mine)) cpus[ncpus++] = c;
    check_start(&argc, &argv);

    MPI_Comm shared = split(MPI_COMM_TYPE_SHARED, NULL, NULL),
             same = split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory"), c;
    int relation, local = size_of(shared), rank;
    MPI_Comm_compare(shared, same, &relation);
    CHECK_EQ(relation, MPI_CONGRUENT);
    MPI_Comm_free(&same);
    if (ncpus > 1) CHECK_EQ(restricted("hwloc://PU"), 0);

    bind(check_rank);
    CHECK_EQ(restricted("hwloc://PU"), 1);
    CHECK_EQ(restricted("hwloc://Machine"), 1);
    CHECK_EQ(restricted("hwloc://Galaxy"), -1);
    /* Those of the same memory that are bound to the same CPU. */
    c = split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://PU");
    CHECK(c != MPI_COMM_NULL);
    int all[64], together = 0, n = size_of(c);
    MPI_Allgather(&bound, 1, MPI_INT, all, 1, MPI_INT, shared);
    for (int i = 0; i < local; i++) together += all[i] == bound;
    CHECK_EQ(n, together);
    MPI_Allgather(&bound, 1, MPI_INT, all, 1, MPI_INT, c);
    for (int i = 0; i < n; i++) CHECK_EQ(all[i], bound);
    MPI_Allgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, c);
    for (int i = 1; i < n; i++) CHECK(all[i] < all[i - 1]); /* the key */
    MPI_Comm_free(&c);
    c = split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", "hwloc://PU");
    CHECK_EQ(size_of(c), together);
    MPI_Comm_free(&c);
    c = split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://Machine");
    CHECK_EQ(size_of(c), local);
    MPI_Comm_free(&c);

    /* Down the hardware: each step a proper part of the one before, its type named, until there is none. */
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    for (;;) {
        MPI_Info info;
        MPI_Comm smaller;
        char type[64] = "";
        int flag, len = sizeof type, before = size_of(c);
        MPI_Info_create(&info);
        CHECK_EQ(MPI_Comm_split_type(c, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &smaller), MPI_SUCCESS);
        MPI_Info_get_string(info, "mpi_hw_resource_type", &len, type, &flag);
        MPI_Info_free(&info);
        CHECK_EQ(flag, smaller != MPI_COMM_NULL);
        MPI_Comm_free(&c);
        if (smaller == MPI_COMM_NULL) break;
        CHECK(size_of(smaller) < before && !strncmp(type, "hwloc://", 8));
        CHECK_EQ(restricted(type), 1);
        c = smaller;
    }

    unbind();
    if (ncpus > 1) {
        c = split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://PU");
        CHECK(c == MPI_COMM_NULL);
    }
    /* Nothing is asked for, or nothing that is known. */
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL) == MPI_COMM_NULL);
    CHECK(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://Galaxy") == MPI_COMM_NULL);
    CHECK(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "other", "x") == MPI_COMM_NULL);
    CHECK(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://NOBODY") == MPI_COMM_NULL);
    CHECK(split(MPI_UNDEFINED, NULL, NULL) == MPI_COMM_NULL);
    c = split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD");
    CHECK_EQ(size_of(c), check_size);
    MPI_Comm_rank(c, &rank);
    CHECK_EQ(rank, check_size - 1 - check_rank);
    MPI_Comm_free(&c);
    c = split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF");
    CHECK_EQ(size_of(c), 1);
    MPI_Comm_free(&c);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, -99, 0, MPI_INFO_NULL, &c), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Get_hw_resource_info(NULL), MPI_ERR_ARG);
    MPI_Comm_free(&shared);
    bind(check_rank);
    if (!check_library("Open MPI")) between_groups();
    unbind();
    return check_end();
}
