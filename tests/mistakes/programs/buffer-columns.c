// Columns that are received side by side share their last element: the second one is a row too long.
// ranks: 2
// environment: IMPI_CHECK=buffers
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int matrix[5][2], mine[6] = {0};
    MPI_Request requests[2];
    MPI_Datatype column;
    MPI_Type_vector(4, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank == 0) {
        MPI_Irecv(&matrix[0][0], 1, column, 1, 7, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&matrix[0][1], 1, column, 1, 8, MPI_COMM_WORLD, &requests[1]);
        MPI_Recv(&matrix[3][1], 3, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        for (int i = 7; i <= 9; i++) MPI_Send(mine, i < 9 ? 4 : 3, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
