// Ranks that do not go on, in a way that the first argument says.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0;
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(how, "ring"))
        MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(how, "tag") && rank == 0)
        MPI_Send(&x, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
    if (!strcmp(how, "tag") && rank == 1)
        MPI_Recv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(how, "computes") && rank == 1) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
        for (;;)
            ++*(volatile int *)&x;
    }
    if (!strcmp(how, "spawns")) {
        MPI_Comm parent, child;
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "host", "m5,m6");
        MPI_Comm_get_parent(&parent);
        if (parent == MPI_COMM_NULL)
            MPI_Comm_spawn(argv[0], argv + 1, 2, info, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
        else
            MPI_Recv(&x, 1, MPI_INT, 0, 3, parent, MPI_STATUS_IGNORE);
        MPI_Recv(&x, 1, MPI_INT, 0, 4, child, MPI_STATUS_IGNORE);
    }
    if (!strcmp(how, "sleeps") && rank == 1)
        usleep(700000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
