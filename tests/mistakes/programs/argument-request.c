// A persistent request is started twice.
// ranks: 2
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, word = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv_init(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    if (rank == 0) MPI_Start(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
