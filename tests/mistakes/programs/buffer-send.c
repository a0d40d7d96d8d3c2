// A message is received into memory that is being sent.
// ranks: 2
// environment: IMPI_CHECK=buffers
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int data[4] = {1, 2, 3, 4}, other[4];
    MPI_Request request;
    MPI_Isend(data, 4, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &request);
    MPI_Recv(rank ? other : data + 3, rank ? 4 : 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
