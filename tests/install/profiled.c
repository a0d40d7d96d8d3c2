/* A program for profile.c. Rank 0 sends 3 messages and receives 2; everybody reduces 4 times, duplicates once, asks for
 * 5 attributes and looks at the clock 6 times; what is called by its other name, or while profiling is off, does not
 * count. Without the library it prints nothing. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, sum = 0, flag;
    void *value;
    double t = 0;
    MPI_Comm c;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3; i++) {
        if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; i++) {
        if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 4; i++) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2) return 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    for (int i = 0; i < 5; i++) MPI_Comm_get_attr(c, MPI_TAG_UB, &value, &flag);
    for (int i = 0; i < 6; i++) t += MPI_Wtime();

    PMPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
    PMPI_Comm_get_attr(c, MPI_TAG_UB, &value, &flag);
    t += PMPI_Wtime();
    MPI_Pcontrol(0);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
    MPI_Pcontrol(1);
    MPI_Comm_free(&c);
    MPI_Finalize();
    return t <= 0 || !flag;
}
