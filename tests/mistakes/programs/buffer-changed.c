// What is being sent is changed before the send is complete.
// ranks: 2
// environment: IMPI_CHECK=buffers
// where: shm clients
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int data[4] = {1, 2, 3, 4};
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(data, 4, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
        data[2] = 7;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, 4, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
