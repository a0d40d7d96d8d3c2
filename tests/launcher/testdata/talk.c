/* The first rank sends 50 messages to the last and gets them back for each line of standard input, until that ends. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, more = 1, data[100] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (more) {
        char line[100];
        if (rank == 0) more = fgets(line, sizeof line, stdin) != NULL;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        for (int i = 0; more && i < 50; i++) {
            if (rank == 0) MPI_Send(data, 100, MPI_INT, size - 1, 1, MPI_COMM_WORLD);
            if (rank == 0) MPI_Recv(data, 100, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == size - 1) MPI_Recv(data, 100, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == size - 1) MPI_Send(data, 100, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
