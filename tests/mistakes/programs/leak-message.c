// Messages are never received.
// ranks: 2
// environment: IMPI_CHECK=leaks
// where: shm hydra
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = rank;
    for (int i = 0; i < 3 && rank == 0; i++) MPI_Send(&mine, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
