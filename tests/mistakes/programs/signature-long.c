// A long message of doubles is received as integers by a request.
// ranks: 2
// environment: IMPI_CHECK=types
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static double mine[100000];
    MPI_Request request;
    if (rank == 0) {
        MPI_Send(mine, 100000, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        MPI_Recv(mine, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(mine, 200000, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
