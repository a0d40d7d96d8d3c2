// An assertion fails at one rank.
// ranks: 3
// where: shm machines clients agents
#include <assert.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    assert(rank != 2);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
