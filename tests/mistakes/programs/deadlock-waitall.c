// A rank waits for two messages of which one never comes.
// ranks: 3
// options: -deadlock abort:0.2
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[2] = {0};
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(&x[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&x[1], 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        MPI_Send(&x[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Bcast(x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
