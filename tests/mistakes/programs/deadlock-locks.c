// Two ranks lock their own part of a window and then the other's, both for them alone.
// ranks: 2
// options: -deadlock abort:0.2
// where: shm machines
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    long x = 0, *base;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_name(win, "table");
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Put(&x, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win);
    MPI_Win_flush(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - rank, 0, win);
    MPI_Put(&x, 1, MPI_LONG, 1 - rank, 0, 1, MPI_LONG, win);
    MPI_Win_flush(1 - rank, win);
    MPI_Finalize();
    return 0;
}
