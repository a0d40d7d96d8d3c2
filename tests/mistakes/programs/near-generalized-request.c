// A rank waits for a request that its own thread completes after a while.
// ranks: 2
// options: -deadlock abort:0.1
#include <mpi.h>

#include <pthread.h>
#include <unistd.h>

static int query(void *state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return state ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int release(void *state) { return state ? MPI_ERR_OTHER : MPI_SUCCESS; }

static int cancel(void *state, int complete) { return state || complete ? MPI_SUCCESS : MPI_SUCCESS; }

static void *later(void *request)
{
    MPI_Request copy = *(MPI_Request *)request;
    usleep(700000);
    MPI_Grequest_complete(copy);
    return request;
}

int main(int argc, char **argv)
{
    int rank, provided;
    pthread_t thread;
    MPI_Request request;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Grequest_start(query, release, cancel, NULL, &request);
        pthread_create(&thread, NULL, later, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
