// Ranks name different operations.
// ranks: 3
// environment: IMPI_CHECK=calls
#include <mpi.h>
#include <stdio.h>

// say prints what an error is, at rank 0.
static void say(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int rank, n;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Error_string(code, text, &n);
    if (rank == 0) fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = rank, sum;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    say(MPI_Allreduce(&mine, &sum, 1, MPI_INT, rank == 2 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD));
    MPI_Finalize();
    return 0;
}
