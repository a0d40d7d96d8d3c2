// A group is never freed.
// ranks: 2
// environment: IMPI_CHECK=leaks
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Finalize();
    return 0;
}
