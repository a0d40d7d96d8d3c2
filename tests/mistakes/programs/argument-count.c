// A count that is a product which an int cannot hold.
// ranks: 2
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    static char buffer[1];
    unsigned side = 50000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Send(buffer, (int)(side * side), MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(buffer, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
