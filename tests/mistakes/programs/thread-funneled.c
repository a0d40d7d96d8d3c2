// A thread calls MPI that has not called MPI_Init_thread with MPI_THREAD_FUNNELED.
// ranks: 1
// environment: IMPI_CHECK=threads
#include <mpi.h>
#include <pthread.h>

static void *call(void *unused)
{
    int mine = 1, got, flag;
    MPI_Is_thread_main(&flag);
    for (int i = 0; i < 3; i++)
        MPI_Sendrecv(&mine, 1, MPI_INT, 0, 7, &got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return unused;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    pthread_t other;
    pthread_create(&other, NULL, call, NULL);
    pthread_join(other, NULL);
    MPI_Finalize();
    return 0;
}
