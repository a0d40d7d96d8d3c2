// A negative tag, on a communicator with a name whose ranks are not those of the world.
// ranks: 3
// where: shm machines clients agents
#include <mpi.h>

static void report(int rank, MPI_Comm rows)
{
    double words[2] = {0, 0};
    if (rank == 1) MPI_Send(words, 2, MPI_DOUBLE, 1, -rank, rows);
    if (rank == 2) MPI_Recv(words, 2, MPI_DOUBLE, 0, MPI_ANY_TAG, rows, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm rows;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &rows);
    MPI_Comm_set_name(rows, "rows");
    report(rank, rows);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
