// A program that could survive a loss is started without -with-ft ulfm.
// ranks: 2
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm world;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) raise(SIGKILL);
    if (MPI_Barrier(MPI_COMM_WORLD)) MPIX_Comm_shrink(MPI_COMM_WORLD, &world);
    MPI_Finalize();
    return 0;
}
