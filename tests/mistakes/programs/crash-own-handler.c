// The program has a handler of its own, which keeps the signal.
// ranks: 2
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void mine(int number)
{
    (void)number;
    if (write(STDERR_FILENO, "the program's own handler\n", 26) != 26) abort();
    _exit(7);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGSEGV, mine);
    if (rank == 0) *(volatile int *)16 = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
