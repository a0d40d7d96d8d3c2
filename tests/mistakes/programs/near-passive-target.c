// A rank reads from a window of another that sleeps outside of MPI.
// ranks: 2
// options: -deadlock abort:0.1
// where: shm machines agents
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    long x = 0, window = 1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&window, sizeof window, sizeof window, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 1) usleep(700000);
    if (rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    if (rank == 0) MPI_Get(&x, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    if (rank == 0) MPI_Win_unlock(1, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
