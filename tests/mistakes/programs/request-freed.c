// A receive is freed while it is under way, and its memory is used for another one.
// ranks: 2
// environment: IMPI_CHECK=buffers
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int data = rank, got = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&got, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Recv(&got, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Send(&data, 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
