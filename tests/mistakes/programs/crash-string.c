// A function of the system gets a pointer that leads nowhere, far below a function of the program.
// ranks: 2
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static size_t length(const char *name) { return strlen(name); }

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) printf("%zu\n", length((const char *)8));
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
