/* Ranks that are bound to CPUs: says of each how many CPUs it may use when MPI_Init has returned, and how many ranks
 * are restricted to the same hardware thread; exchanges messages, so that ranks that share a CPU have to take turns. */
#define _GNU_SOURCE
#include "../../check.h"
#include <sched.h>

int main(int argc, char **argv)
{
    static char long_message[200000];
    MPI_Comm same;
    MPI_Info info;
    cpu_set_t mask;
    int rank, size, together = 0, flag, length = 8;
    char value[8] = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank = rank, check_size = size;
    CHECK_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    for (int i = 0; i < 50; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(long_message, sizeof long_message, MPI_BYTE, i % size, MPI_COMM_WORLD);
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://PU");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &same);
    if (same != MPI_COMM_NULL) {
        MPI_Comm_size(same, &together);
        MPI_Comm_free(&same);
    }
    MPI_Info_free(&info);
    MPI_Get_hw_resource_info(&info);
    MPI_Info_get_string(info, "hwloc://PU", &length, value, &flag);
    CHECK(flag);
    CHECK_EQ(strcmp(value, "true") == 0, together > 0);
    MPI_Info_free(&info);
    printf("rank %d: %d CPUs, %d together\n", rank, CPU_COUNT(&mask), together);
    MPI_Finalize();
    return 0;
}
