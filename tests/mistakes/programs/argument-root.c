// A root that is no rank of the communicator, at all ranks.
// ranks: 3
#include <mpi.h>

int main(int argc, char **argv)
{
    int word = 0;
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&word, 1, MPI_INT, 3, MPI_COMM_WORLD);
    return MPI_Finalize();
}
