// A rank waits at a port for a process of another job, which comes late.
// ranks: 2
// options: -deadlock abort:0.1
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// The other job is a process of its own: nobody has started it that it could ask.
static void connect_later(const char *self, int end, char *port)
{
    char *empty[] = {NULL};
    usleep(700000);
    if (read(end, port, MPI_MAX_PORT_NAME) <= 0) _exit(0); // of rank 1
    execle(self, self, port, NULL, empty);
    _exit(1);
}

int main(int argc, char **argv)
{
    int rank, ends[2];
    char port[MPI_MAX_PORT_NAME]; // also the child's argument
    MPI_Comm other;
    if (argc > 1) {
        MPI_Init(&argc, &argv);
        MPI_Comm_connect(argv[1], MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        MPI_Comm_disconnect(&other);
        MPI_Finalize();
        return 0;
    }
    if (pipe(ends)) return 1;
    if (fork() == 0) {
        close(ends[1]);
        connect_later(argv[0], ends[0], port);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) close(ends[1]);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        if (write(ends[1], port, sizeof port) != sizeof port) return 1;
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
        MPI_Comm_disconnect(&other);
        MPI_Close_port(port);
        wait(NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
