// A rank holds a lock while it sleeps, and the others wait for it.
// ranks: 3
// options: -deadlock abort:0.1
// where: shm machines
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    long x = 0, *base;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    if (rank == 0) MPI_Put(&x, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    if (rank == 0) MPI_Win_flush(1, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) usleep(700000);
    if (rank != 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    if (rank != 0) MPI_Put(&x, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(1, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
