// A rank looks for a message with a tag that the other does not use.
// ranks: 2
// options: -deadlock abort:0.2
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Probe(1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Ssend(&x, 1, MPI_INT, 0, 40, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
