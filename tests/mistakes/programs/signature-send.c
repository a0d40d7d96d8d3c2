// An integer is received as a float.
// ranks: 2
// environment: IMPI_CHECK=types
// where: shm machines clients
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = 5;
    float got;
    if (rank == 0) MPI_Send(&mine, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    else MPI_Recv(&got, 1, MPI_FLOAT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
