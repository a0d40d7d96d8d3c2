/* A rank that is lost is replaced: rank 0 spawns another, which says hello. Then the new one dies, and rank 0, who
 * waits for it, hears of that; a second one, spawned in its place, ends well. */
#include <mpi.h>
#include <mpix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(int code)
{
    int class_ = 0;
    MPI_Error_class(code, &class_);
    return class_ == MPIX_ERR_PROC_FAILED;
}

static int spawn(char *program, char *how, MPI_Comm *child)
{
    char *args[] = {how, NULL};
    int x = 0, code = MPI_Comm_spawn(program, args, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, child, MPI_ERRCODES_IGNORE);
    if (code) return 0;
    MPI_Comm_set_errhandler(*child, MPI_ERRORS_RETURN);
    return !MPI_Recv(&x, 1, MPI_INT, 0, 1, *child, MPI_STATUS_IGNORE) && x == 1;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, child;
    int rank, x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Ssend(&x, 1, MPI_INT, 0, 1, parent); /* else MPI_Comm_spawn may raise, which has not ended there */
        if (argv[1][0] == 'd') raise(SIGKILL);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) raise(SIGKILL);
    int lost = failed(MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    int first = spawn(argv[0], "dies", &child);
    int died = failed(MPI_Recv(&x, 1, MPI_INT, 0, 2, child, MPI_STATUS_IGNORE));
    printf("%d %d %d %d\n", lost, first, died, spawn(argv[0], "ends", &child));
    MPI_Finalize();
    return 0;
}
