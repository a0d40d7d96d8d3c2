// A rank ends MPI later than the others.
// ranks: 3
// options: -deadlock abort:0.1
// where: shm machines clients agents servers
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) usleep(700000);
    MPI_Finalize();
    return 0;
}
