// Two ranks wait for nonblocking collective operations that they have begun in different orders.
// ranks: 2
// options: -deadlock abort:0.2
// where: shm machines
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x = 0, sum;
    MPI_Comm comm[2];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm[rank], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm[1 - rank], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
