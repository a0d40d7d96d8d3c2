// Each rank sends to the next before it receives, in a mode that waits for the receive.
// ranks: 5
// options: -deadlock abort:0.2
// where: shm machines
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    double x[2] = {0};
    MPI_Datatype pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_set_name(pair, "pair");
    MPI_Type_commit(&pair);
    MPI_Ssend(x, 1, pair, (rank + 1) % size, 3, MPI_COMM_WORLD);
    MPI_Recv(x, 1, pair, (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
