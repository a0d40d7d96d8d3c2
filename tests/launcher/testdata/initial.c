/* Says which error handler a program begins with: what becomes of errors before MPI_Init and after MPI_Finalize, and
 * the handlers of MPI_COMM_WORLD, MPI_COMM_SELF and what is made of them. With the name of a handler that lets it go
 * on. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static const char *name(MPI_Comm comm)
{
    MPI_Errhandler h;
    MPI_Comm_get_errhandler(comm, &h);
    const char *n = h == MPI_ERRORS_ARE_FATAL ? "fatal" : h == MPI_ERRORS_ABORT ? "abort" : h == MPI_ERRORS_RETURN
        ? "return" : "other";
    MPI_Errhandler_free(&h);
    return n;
}

int main(int argc, char **argv)
{
    int size, before = -1, after = -1, during = -1, rank;
    MPI_Comm dup;
    const char *error_in = argc > 1 ? argv[1] : "none";
    if (!strcmp(error_in, "before")) before = MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char world[10], self[10], made[10];
    strcpy(world, name(MPI_COMM_WORLD)), strcpy(self, name(MPI_COMM_SELF)), strcpy(made, name(dup));
    MPI_Comm_free(&dup);
    if (!strcmp(error_in, "during")) during = MPI_Comm_size(MPI_COMM_NULL, &size); /* raised on MPI_COMM_SELF */
    MPI_Finalize();
    if (!strcmp(error_in, "after")) after = MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%s %s %s %d%d%d\n", world, self, made, before > 0, during > 0, after > 0);
    return 0;
}
