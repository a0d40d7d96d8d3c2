// Ranks wait in a barrier for one that computes.
// ranks: 3
// options: -deadlock abort:0.1
// where: shm machines clients
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (double end = MPI_Wtime() + 0.1; rank == 1 && MPI_Wtime() < end;)
        ;
    if (rank == 1) usleep(500000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
