/* Each rank but the last waits for it in a call of its own; the last never comes. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int value;

static void receive(int from) { MPI_Recv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void wait_for(int from)
{
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void meet(MPI_Comm comm) { MPI_Barrier(comm); }

static void be_told(MPI_Comm comm) { MPI_Bcast(&value, 1, MPI_INT, 1, comm); }

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm pair = MPI_COMM_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int last = size - 1;
    for (int i = 0; i < last; i++) {
        MPI_Comm made;
        MPI_Comm_split(MPI_COMM_WORLD, rank == i || rank == last ? 0 : MPI_UNDEFINED, 0, &made);
        if (rank == i) pair = made;
    }
    printf("rank %d is %ld\n", rank, (long)getpid());
    fflush(stdout);
    switch (rank) {
    case 0: receive(last); break;
    case 1: wait_for(last); break;
    case 2: meet(pair); break;
    case 3: be_told(pair); break;
    default: pause();
    }
    MPI_Finalize();
    return 0;
}
