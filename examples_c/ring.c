/* ring.c - a token goes round all ranks; each adds its rank to it.
 *
 *   mpiexec -n 4 ./ring [rounds]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
    if (rounds < 1) {
        if (rank == 0) fprintf(stderr, "usage: ring [rounds]\n");
        MPI_Finalize();
        return 2;
    }
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    long long token = 0;
    for (long round = 0; round < rounds; round++) {
        if (rank == 0) {
            /* Sendrecv, not Send and Recv: with one rank, both ends are the same process. */
            MPI_Sendrecv_replace(&token, 1, MPI_LONG_LONG, next, 0, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_LONG_LONG, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG_LONG, next, 0, MPI_COMM_WORLD);
        }
    }
    int wrong = 0;
    if (rank == 0) {
        long long expected = (long long)rounds * size * (size - 1) / 2;
        wrong = token != expected;
        printf("token %lld after %ld rounds of %d ranks: %s\n", token, rounds, size, wrong ? "wrong" : "right");
    }
    MPI_Finalize();
    return wrong;
}
