// Buffers for buffered sends are never detached.
// ranks: 2
// environment: IMPI_CHECK=leaks
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    static char some[1000], more[1000];
    MPI_Buffer_attach(some, sizeof some);
    MPI_Comm_attach_buffer(MPI_COMM_WORLD, more, sizeof more);
    MPI_Finalize();
    return 0;
}
