// Memory is given back while it is being sent.
// ranks: 2
// environment: IMPI_CHECK=buffers
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    enum { N = 1 << 22 };
    char *data = calloc(N, 1);
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(data, N, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &request);
        MPI_Recv(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        free(data);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, N, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD);
        free(data);
    }
    MPI_Finalize();
    return 0;
}
