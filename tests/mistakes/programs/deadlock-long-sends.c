// Two ranks send long messages to each other before they receive: short ones would do.
// ranks: 2
// options: -deadlock abort:0.2
// where: shm machines clients agents
#include <mpi.h>

enum { LONG = 1 << 20 };
static char in[LONG], out[LONG];

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(out, LONG, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(in, LONG, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
