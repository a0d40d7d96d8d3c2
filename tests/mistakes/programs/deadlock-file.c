// One rank does not take part in a collective access to a file.
// ranks: 3
// options: -deadlock abort:0.2
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, x = 0;
    char name[200];
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sprintf(name, "/tmp/impi-mistake-%s", getenv("IMPI_TEST_JOB"));
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    unlink(name); // the job ends before it closes the file
    if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_File_write_ordered(file, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
