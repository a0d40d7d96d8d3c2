// One rank does not take part in making a communicator.
// ranks: 4
// options: -deadlock abort:0.2
// where: shm machines
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 3) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Finalize();
    return 0;
}
