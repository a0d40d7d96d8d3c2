/* matmul.c - C = A B, rows of A dealt out, B passed round the ranks block by block.
 *
 *   mpiexec -n 4 ./matmul [order]
 *
 * While a block of B is in use, the next one is already on its way. The entries are small whole numbers and
 * the product is known in closed form, so the result is checked exactly.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static int first(int n, int part) { return (int)((long long)n * part / size); }

static double *need(int rows, int columns)
{
    double *p = calloc((size_t)rows * (size_t)columns + 1, sizeof *p);
    if (!p) MPI_Abort(MPI_COMM_WORLD, 1);
    return p;
}

/* C += A[, from .. from+depth) times the block, all row by row. */
static void add_product(double *c, const double *a, const double *block, int rows, int n, int from, int depth)
{
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < depth; k++) {
            double f = a[(size_t)i * (size_t)n + (size_t)(from + k)];
            for (int j = 0; j < n; j++) {
                c[(size_t)i * (size_t)n + (size_t)j] += f * block[(size_t)k * (size_t)n + (size_t)j];
            }
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = argc > 1 ? atoi(argv[1]) : 256;
    if (n < 1 || n > 20000) {
        if (rank == 0) fprintf(stderr, "usage: matmul [order]\n");
        MPI_Finalize();
        return 2;
    }
    int top = first(n, rank), rows = first(n, rank + 1) - top, most = n / size + 1;
    double *a = need(rows, n), *c = need(rows, n), *block = need(most, n), *coming = need(most, n);
    /* A[i][k] = i - k, B[k][j] = k + j (both modulo 8): C is checked against a direct sum below. */
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < n; k++) {
            a[(size_t)i * (size_t)n + (size_t)k] = (top + i + 7 * k) % 8;
            block[(size_t)i * (size_t)n + (size_t)k] = (top + i + k) % 8;
        }

    MPI_Datatype row;
    MPI_Type_contiguous(n, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int turn = 0; turn < size; turn++) {
        int holds = (rank + size - turn) % size, from = first(n, holds), depth = first(n, holds + 1) - from;
        MPI_Request request[2];
        MPI_Irecv(coming, most, row, previous, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(block, depth, row, next, 0, MPI_COMM_WORLD, &request[1]);
        add_product(c, a, block, rows, n, from, depth);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        double *swap = block;
        block = coming;
        coming = swap;
    }
    double seconds = MPI_Wtime() - began;
    MPI_Type_free(&row);

    /* C[i][j] depends on i and j modulo 8 only. */
    double expected[8][8], trace = 0, sum = 0;
    memset(expected, 0, sizeof expected);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < n; k++) expected[i][j] += (double)((i + 7 * k) % 8 * ((k + j) % 8));
    int wrong = 0, any;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) {
            double got = c[(size_t)i * (size_t)n + (size_t)j];
            wrong += got != expected[(top + i) % 8][j % 8];
            if (top + i == j) trace += got;
        }
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&trace, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("order %d on %d ranks, %.3f s, %.2f GFLOP/s: %d entries wrong\n", n, size, seconds,
               2.0 * n * n * n / seconds / 1e9, any);
        printf("answer: trace=%.0f\n", sum);
    }
    free(a);
    free(c);
    free(block);
    free(coming);
    MPI_Finalize();
    return any != 0;
}
