// A rank waits for a spawned process that sleeps before it starts MPI, and then before it sends.
// ranks: 2
// options: -deadlock abort:0.1
// where: shm machines
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, x = 0;
    char *arguments[] = {"child", NULL};
    MPI_Comm parent, child;
    if (argc > 1) usleep(500000);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        usleep(400000);
        MPI_Send(&x, 1, MPI_INT, 0, 0, parent);
        MPI_Comm_disconnect(&parent);
    } else {
        MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
        if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_disconnect(&child);
    }
    MPI_Finalize();
    return 0;
}
