// A thread calls MPI that has not called MPI_Init.
// ranks: 2
// environment: IMPI_CHECK=threads
#include <mpi.h>
#include <pthread.h>

static void *call(void *unused)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return unused;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_t other;
    if (rank == 1) {
        pthread_create(&other, NULL, call, NULL);
        pthread_join(other, NULL);
    }
    MPI_Finalize();
    return 0;
}
