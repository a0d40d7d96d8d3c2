// Two threads wait for the same request.
// ranks: 1
// environment: IMPI_CHECK=threads
#include <mpi.h>
#include <pthread.h>

static MPI_Request request;

static void *wait_for_it(void *unused)
{
    MPI_Request mine = request;
    MPI_Wait(&mine, MPI_STATUS_IGNORE);
    return unused;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    pthread_t other;
    int got;
    MPI_Irecv(&got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &request);
    pthread_create(&other, NULL, wait_for_it, NULL);
    wait_for_it(NULL);
    pthread_join(other, NULL);
    MPI_Finalize();
    return 0;
}
