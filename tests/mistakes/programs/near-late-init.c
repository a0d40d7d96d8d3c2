// A rank starts MPI later than the others.
// ranks: 3
// options: -deadlock abort:0.1
// where: shm machines clients
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank = -1;
    if (getenv("IMPI_RANK") && atoi(getenv("IMPI_RANK")) == 1) usleep(700000);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
