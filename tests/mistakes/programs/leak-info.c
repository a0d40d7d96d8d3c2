// Infos are never freed: one that the program has made, and one that it was given.
// ranks: 2
// environment: IMPI_CHECK=leaks
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Info made, used;
    MPI_Info_create(&made);
    MPI_Info_set(made, "key", "value");
    MPI_Comm_get_info(MPI_COMM_WORLD, &used);
    MPI_Finalize();
    return 0;
}
