// The same buffer to send from and to receive into.
// ranks: 2
#include <mpi.h>

int main(int argc, char **argv)
{
    double sum[2] = {1, 2};
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(sum, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Finalize();
}
