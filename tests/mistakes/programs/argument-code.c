// The program gets an error, and ends the job with its code.
// ranks: 2
#include <mpi.h>
#include <stdlib.h>

static void check(int code)
{
    if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int argc, char **argv)
{
    int rank, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) check(MPI_Send(&word, 1, MPI_INT, -5, 0, MPI_COMM_WORLD));
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
