// A datatype is never freed; one that is made of it is.
// ranks: 2
// environment: IMPI_CHECK=leaks
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Datatype row, rows;
    MPI_Type_contiguous(3, MPI_INT, &row);
    MPI_Type_vector(2, 1, 2, row, &rows);
    MPI_Type_commit(&rows);
    MPI_Type_free(&rows);
    MPI_Finalize();
    return 0;
}
