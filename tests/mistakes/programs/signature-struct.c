// The members of a structure have another order at the receiver.
// ranks: 2
// environment: IMPI_CHECK=types
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct { int i; double d; } mine = {1, 2};
    int ones[2] = {1, 1};
    MPI_Aint at[2] = {0, 8}, turned[2] = {8, 0};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, others[2] = {MPI_DOUBLE, MPI_INT}, type;
    MPI_Type_create_struct(2, ones, rank ? turned : at, rank ? others : types, &type);
    MPI_Type_commit(&type);
    if (rank == 0) MPI_Send(&mine, 1, type, 1, 7, MPI_COMM_WORLD);
    else MPI_Recv(&mine, 1, type, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
