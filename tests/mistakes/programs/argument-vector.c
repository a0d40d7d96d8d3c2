// One of many counts is negative: the array is shown, as far as it is short.
// ranks: 4
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, counts[4] = {1, 1, 1, -1}, displs[4] = {0, 1, 2, 3}, all[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2) MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
