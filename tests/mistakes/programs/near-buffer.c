// A rank waits until its buffered message has left, which the other receives late.
// ranks: 2
// options: -deadlock abort:0.1
// where: shm machines
#include <mpi.h>
#include <unistd.h>

enum { LONG = 1 << 20 };
static char data[LONG], room[LONG + MPI_BSEND_OVERHEAD];

int main(int argc, char **argv)
{
    int rank, size;
    void *where;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Buffer_attach(room, sizeof room);
    if (rank == 0) MPI_Bsend(data, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) usleep(700000);
    if (rank == 1) MPI_Recv(data, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&where, &size);
    MPI_Finalize();
    return 0;
}
