// Two ranks enter barriers of two communicators in different orders.
// ranks: 2
// options: -deadlock abort:0.2
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm comm[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    MPI_Comm_set_name(comm[0], "left");
    MPI_Comm_set_name(comm[1], "right");
    MPI_Barrier(comm[rank]);
    MPI_Barrier(comm[1 - rank]);
    MPI_Finalize();
    return 0;
}
