// A rank waits in a broadcast of its row for another that waits in a reduction of its column.
// ranks: 4
// options: -deadlock abort:0.2
// where: shm machines clients
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[9] = {0};
    MPI_Comm row, column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    MPI_Comm_set_name(row, "row");
    MPI_Comm_set_name(column, "column");
    if (rank == 0 || rank == 3) {
        MPI_Allreduce(MPI_IN_PLACE, x, 9, MPI_INT, MPI_SUM, row);
        MPI_Allreduce(MPI_IN_PLACE, x, 9, MPI_INT, MPI_SUM, column);
    } else {
        MPI_Allreduce(MPI_IN_PLACE, x, 9, MPI_INT, MPI_SUM, column);
        MPI_Allreduce(MPI_IN_PLACE, x, 9, MPI_INT, MPI_SUM, row);
    }
    MPI_Finalize();
    return 0;
}
