// A rank is stopped by a signal for a while, in a call that another waits for.
// ranks: 2
// options: -deadlock abort:0.1
#include <mpi.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, x = 0;
    const pid_t parent = getpid(), child = fork(); // before MPI
    if (child == 0) {
        usleep(200000);
        kill(parent, SIGSTOP);
        usleep(500000);
        kill(parent, SIGCONT);
        _exit(0);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(rank * 600000);
    if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    waitpid(child, NULL, 0);
    MPI_Finalize();
    return 0;
}
