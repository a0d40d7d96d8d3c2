// Two threads of a rank wait for messages from a rank that waits for one of theirs.
// ranks: 2
// lines: any
// options: -deadlock abort:0.2
#include <mpi.h>

#include <pthread.h>

static void *receive(void *tag)
{
    int x;
    MPI_Recv(&x, 1, MPI_INT, 1, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return tag;
}

int main(int argc, char **argv)
{
    int rank, provided, one = 1, two = 2;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        pthread_create(&thread, NULL, receive, &one);
        receive(&two);
        pthread_join(thread, NULL);
    } else {
        MPI_Recv(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
