// Eight ranks shift long messages to the left: all wait for the last.
// ranks: 8
// options: -deadlock abort:0.2
#include <mpi.h>

enum { LONG = 1 << 18 };
static char x[LONG];

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(x, LONG, MPI_BYTE, (rank + 7) % 8, 0, MPI_COMM_WORLD);
    MPI_Recv(x, LONG, MPI_BYTE, (rank + 1) % 8, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
