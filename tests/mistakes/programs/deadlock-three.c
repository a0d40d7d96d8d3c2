// Three ranks wait for each other in different calls.
// ranks: 3
// options: -deadlock abort:0.2
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Probe(2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 2) MPI_Ssend(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
