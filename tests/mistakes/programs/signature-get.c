// A row is got as a column of another basic type.
// ranks: 2
// environment: IMPI_CHECK=types
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static double memory[16], mine[4];
    MPI_Win window;
    MPI_Datatype column;
    MPI_Type_vector(8, 1, 2, MPI_FLOAT, &column);
    MPI_Type_commit(&column);
    MPI_Win_create(memory, sizeof memory, sizeof memory[0], MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    if (rank == 1) MPI_Get(mine, 4, MPI_DOUBLE, 0, 0, 1, column, window);
    MPI_Win_unlock(0, window);
    MPI_Win_free(&window);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
