// Some ranks free a communicator, and others do not.
// ranks: 4
// environment: IMPI_CHECK=leaks
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half, both[2];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    for (int i = 0; i < 2; i++) MPI_Comm_dup(half, &both[i]);
    if (rank % 2) MPI_Comm_free(&half);
    if (rank == 1) MPI_Comm_free(&both[0]);
    if (rank == 1) MPI_Comm_free(&both[1]);
    if (rank == 3) MPI_Comm_free(&both[0]);
    MPI_Finalize();
    return 0;
}
