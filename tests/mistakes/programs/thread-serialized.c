// A thread calls MPI while another one is in MPI, with MPI_THREAD_SERIALIZED.
// ranks: 1
// environment: IMPI_CHECK=threads
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

// The receive below cannot end before this sends.
static void *send_later(void *unused)
{
    int mine = 1;
    usleep(100000);
    MPI_Send(&mine, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
    return unused;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    pthread_t other;
    int got;
    pthread_create(&other, NULL, send_later, NULL);
    MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    pthread_join(other, NULL);
    MPI_Finalize();
    return 0;
}
