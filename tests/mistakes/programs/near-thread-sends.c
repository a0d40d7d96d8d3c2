// A rank waits for a message of a thread of its own that sleeps, and the other rank for that one.
// ranks: 2
// options: -deadlock abort:0.1
// where: shm machines clients hydra
#include <mpi.h>

#include <pthread.h>
#include <unistd.h>

// The message that the rank's other thread waits for.
static void *later(void *unused)
{
    int x = 0;
    usleep(700000);
    MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    return unused;
}

int main(int argc, char **argv)
{
    int rank, provided, x;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        pthread_create(&thread, NULL, later, NULL);
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        pthread_join(thread, NULL);
        MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
