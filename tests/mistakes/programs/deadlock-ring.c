// Each rank sends to the next before it receives, in a mode that waits for the receive.
// ranks: 5
// options: -deadlock abort:0.2
// where: shm machines
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    double x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Ssend(&x, 1, MPI_DOUBLE, (rank + 1) % size, 3, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_DOUBLE, (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
