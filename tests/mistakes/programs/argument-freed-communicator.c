// A communicator is used after it was freed, by a copy of its handle.
// ranks: 2
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Comm world, copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    copy = world;
    MPI_Comm_free(&world);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(copy);
    return MPI_Finalize();
}
