// A datatype that has not been committed.
// ranks: 2
// where: shm clients
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, matrix[4][4];
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    if (rank == 0) MPI_Bcast(matrix, 1, column, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
