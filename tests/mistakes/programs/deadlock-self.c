// A rank sends itself a message before it receives it, in a mode that waits for the receive.
// ranks: 1
// options: -deadlock abort:0.2
#include <mpi.h>

int main(int argc, char **argv)
{
    int x = 0;
    MPI_Init(&argc, &argv);
    MPI_Ssend(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
