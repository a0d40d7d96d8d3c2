// A receive, a send and a barrier are started and never completed.
// ranks: 2
// environment: IMPI_CHECK=leaks
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request receive, send, barrier;
    int got, mine = rank;
    MPI_Irecv(&got, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &receive);
    MPI_Isend(&mine, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &send);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    MPI_Finalize();
    return 0;
}
