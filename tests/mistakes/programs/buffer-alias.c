// A collective operation sends from memory that it receives into.
// ranks: 1
// environment: IMPI_CHECK=buffers
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int data[4] = {1, 2, 3, 4};
    MPI_Alltoall(data, 3, MPI_INT, data + 1, 3, MPI_INT, MPI_COMM_SELF);
    MPI_Finalize();
    return 0;
}
