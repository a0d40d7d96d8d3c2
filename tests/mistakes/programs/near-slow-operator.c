// An operator of the program takes long, once in a blocking reduction and once in a wait.
// ranks: 3
// options: -deadlock abort:0.1
// where: shm machines
#include <mpi.h>

#include <unistd.h>

static void slow(void *in, void *out, int *n, MPI_Datatype *type)
{
    usleep(300000);
    for (int i = 0; i < *n && *type == MPI_INT; i++) ((int *)out)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int x = 1, sum;
    MPI_Op op;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Op_create(slow, 1, &op);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Iallreduce(&x, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
