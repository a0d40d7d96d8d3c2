// A message is longer than the buffer of its receive.
// ranks: 2
// where: shm machines clients
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, numbers[10] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Send(numbers, 10, MPI_INT, 1, 5, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(numbers, 4, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
