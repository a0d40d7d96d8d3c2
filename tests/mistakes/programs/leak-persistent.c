// Persistent requests are never freed; one of them is active.
// ranks: 2
// environment: IMPI_CHECK=leaks
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request receive, send;
    int got, mine = rank;
    MPI_Recv_init(&got, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &receive);
    MPI_Send_init(&mine, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, &send);
    MPI_Start(&receive);
    MPI_Start(&send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
