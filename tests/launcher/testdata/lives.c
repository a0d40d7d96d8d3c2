/* One MPI program of several that a rank runs: says NAME RANK/SIZE and the sum of all ranks, then, if it is told so,
 * runs another program before or after MPI_Finalize, or ends without it.
 *
 *   lives NAME [during COMMAND | after COMMAND | leave] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, sum;
    const char *what = argc > 2 ? argv[2] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%s %d/%d %d\n", argv[1], rank, size, sum);
    fflush(stdout);
    if (!strcmp(what, "leave") && rank == 1) _exit(0);
    int code = strcmp(what, "during") ? 0 : system(argv[3]);
    MPI_Finalize();
    if (!strcmp(what, "after")) code = system(argv[3]);
    return code != 0;
}
