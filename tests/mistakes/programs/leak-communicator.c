// Communicators are never freed.
// ranks: 3
// environment: IMPI_CHECK=leaks
// where: shm machines clients agents hydra
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 2; i++) {
        MPI_Comm one;
        MPI_Comm_dup(MPI_COMM_WORLD, &one);
    }
    MPI_Finalize();
    return 0;
}
