// Two receives under way share memory.
// ranks: 2
// environment: IMPI_CHECK=buffers
// where: shm clients
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int got[6], mine[4] = {0};
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(got, 4, MPI_INT, 1, 7, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(got + 2, 4, MPI_INT, 1, 8, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Send(mine, 4, MPI_INT, 0, 7, MPI_COMM_WORLD);
        MPI_Send(mine, 4, MPI_INT, 0, 8, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
