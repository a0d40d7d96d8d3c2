// The same as deadlock-barrier, with clients that have launchers of their own: the first one tells.
// ranks: 4
// options: -deadlock abort:0.2
// lines: any
// where: servers
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 2, 8, MPI_COMM_WORLD);
    if (rank == 2) MPI_Recv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
