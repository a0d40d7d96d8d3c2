// One of two groups does not enter a barrier of both.
// ranks: 4
// options: -deadlock abort:0.2
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x;
    MPI_Comm half, both;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 0, &both);
    if (rank < 2) MPI_Barrier(both);
    else MPI_Recv(&x, 1, MPI_INT, 0, 0, both, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
