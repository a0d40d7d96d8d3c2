// An error handler is never freed, though it is attached to a communicator.
// ranks: 2
// environment: IMPI_CHECK=leaks
#include <mpi.h>

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Finalize();
    return 0;
}
