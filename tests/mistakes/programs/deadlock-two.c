// Two ranks receive from each other before they send.
// ranks: 2
// options: -deadlock abort:0.2
// where: shm machines clients
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, got, mine = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv(&got, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&mine, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
