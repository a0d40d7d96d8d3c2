// A process that is in no new communicator calls on it.
// ranks: 3
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Comm some;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, 0, &some);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, some);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
