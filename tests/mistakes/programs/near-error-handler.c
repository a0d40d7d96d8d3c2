// A rank waits for one that is in an error handler of the program.
// ranks: 2
// options: -deadlock abort:0.1
#include <mpi.h>

#include <unistd.h>

static void slow(MPI_Comm *comm, int *code, ...)
{
    usleep(*comm == MPI_COMM_SELF && *code != MPI_SUCCESS ? 700000 : 0);
}

int main(int argc, char **argv)
{
    int rank, x = 0;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(slow, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    if (rank == 1) MPI_Send(&x, 1, MPI_INT, 5, 0, MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
