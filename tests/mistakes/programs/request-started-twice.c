// A persistent request is started while it is active.
// ranks: 1
// environment: IMPI_CHECK=all
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int got;
    MPI_Request request;
    MPI_Recv_init(&got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &request);
    MPI_Start(&request);
    MPI_Start(&request);
    MPI_Finalize();
    return 0;
}
