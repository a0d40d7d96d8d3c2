// An operation is never freed.
// ranks: 2
// environment: IMPI_CHECK=leaks
#include <mpi.h>

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    MPI_Finalize();
    return 0;
}
