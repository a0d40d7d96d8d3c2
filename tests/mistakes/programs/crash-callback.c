// The program's own operation crashes, inside a reduction.
// ranks: 2
#include <mpi.h>

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
    *(volatile int *)16 = 1;
}

int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(add, 1, &op);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
