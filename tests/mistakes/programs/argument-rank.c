// All ranks send to one rank too many: one message for all of them.
// ranks: 4
#include <mpi.h>

int main(int argc, char **argv)
{
    int size, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&word, 1, MPI_INT, size, 7, MPI_COMM_WORLD);
    return MPI_Finalize();
}
