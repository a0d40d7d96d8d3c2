// A message is matched by a probe, and never received.
// ranks: 2
// environment: IMPI_CHECK=leaks
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = rank;
    MPI_Message message;
    MPI_Status status;
    if (rank == 0) MPI_Send(&mine, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    else MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, &status);
    MPI_Finalize();
    return 0;
}
