/* What clients have negotiated, as a program meets it: MPI_TAG_UB, and messages and collectives of all sizes that
 * the values divide into short and long. Says "tagub N" on rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *what, int rank, int n)
{
    fprintf(stderr, "rank %d: %s of %d bytes is wrong\n", rank, what, n);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 2, 6, 7, 8, 14, 15, 63, 64, 65, 128, 1000, 5000};
    enum { MAX = 5000 };
    static unsigned char out[MAX], in[MAX * 16];
    int rank, size, flag, *bound;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
    if (!flag || size > 16)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0)
        printf("tagub %d\n", *bound);
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int n = sizes[k], to = (rank + 1) % size, from = (rank + size - 1) % size;
        for (int i = 0; i < n; i++)
            out[i] = (unsigned char)(i * 7 + rank + n);
        MPI_Sendrecv(out, n, MPI_BYTE, to, *bound, in, n, MPI_BYTE, from, *bound, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            if (in[i] != (unsigned char)(i * 7 + from + n))
                fail("a message", rank, n);
        MPI_Gather(out, n, MPI_BYTE, in, n, MPI_BYTE, size - 1, MPI_COMM_WORLD);
        for (int r = 0; rank == size - 1 && r < size; r++)
            for (int i = 0; i < n; i++)
                if (in[r * n + i] != (unsigned char)(i * 7 + r + n))
                    fail("a gather", rank, n);
        MPI_Bcast(out, n, MPI_BYTE, 1 % size, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++)
            if (out[i] != (unsigned char)(i * 7 + 1 % size + n))
                fail("a broadcast", rank, n);
    }
    enum { MANY = 500 }; /* unexpected messages: the window closes and opens */
    static int sent[MANY];
    MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++) {
        sent[i] = i;
        requests[i] = MPI_REQUEST_NULL;
        if (rank == 0)
            MPI_Isend(&sent[i], 1, MPI_INT, size - 1, i % 5, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0, got; i < MANY && rank == size - 1; i++) {
        MPI_Recv(&got, 1, MPI_INT, 0, i % 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (got != i)
            fail("a message in a queue", rank, i);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
