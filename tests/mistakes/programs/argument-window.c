// Data is put behind the end of the target's window.
// ranks: 2
// where: shm machines
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, word = 1, *base;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(4 * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_name(win, "halo");
    MPI_Win_fence(0, win);
    if (rank == 1) MPI_Put(&word, 1, MPI_INT, 0, 4, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
