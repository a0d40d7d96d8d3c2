/* Example 6.6 of "MPI: The Complete Reference": the product of two matrices on a grid of processes. Slices of rows of A
 * go to the first column of the grid, slices of columns of B to its first row, and on along the rows and the columns;
 * the parts of C are gathered.
 *
 * ranks: 4
 */
#include "../check.h"

/* Consecutive elements of the type begin width floats apart. */
static MPI_Datatype part(int rows, int width, int stride)
{
    MPI_Datatype vector, t;
    MPI_Type_vector(rows, width, stride, MPI_FLOAT, &vector);
    MPI_Type_create_resized(vector, 0, (MPI_Aint)sizeof(float) * width, &t);
    MPI_Type_commit(&t);
    MPI_Type_free(&vector);
    return t;
}

/* C = A x B, of n[0] x n[1] and n[1] x n[2] numbers; p[0] divides n[0], and p[1] n[2]. All arguments are rank 0's. */
static void multiply(const float *a, const float *b, float *c, int n[3], int p[2], MPI_Comm comm)
{
    int periods[2] = {0, 0}, coords[2], rank;
    MPI_Comm private, grid, line[2];
    MPI_Comm_dup(comm, &private);
    MPI_Bcast(n, 3, MPI_INT, 0, private);
    MPI_Bcast(p, 2, MPI_INT, 0, private);
    MPI_Cart_create(private, 2, p, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    for (int i = 0; i < 2; i++) MPI_Cart_sub(grid, (int[]){i == 0, i == 1}, &line[i]);

    int rows = n[0] / p[0], columns = n[2] / p[1];
    float *aa = malloc(sizeof *aa * (size_t)(rows * n[1])), *bb = malloc(sizeof *bb * (size_t)(n[1] * columns));
    float *cc = calloc((size_t)(rows * columns), sizeof *cc);
    MPI_Datatype slice = part(n[1], columns, n[2]), block = part(rows, columns, n[2]);
    int *counts = malloc(sizeof *counts * (size_t)(p[0] * p[1]));
    int *displs = malloc(sizeof *displs * (size_t)(p[0] * p[1]));
    for (int i = 0; i < p[0] * p[1]; i++) {
        counts[i] = 1;
        displs[i] = i / p[1] * rows * p[1] + i % p[1];
    }

    if (coords[1] == 0) MPI_Scatter(a, rows * n[1], MPI_FLOAT, aa, rows * n[1], MPI_FLOAT, 0, line[0]);
    if (coords[0] == 0) MPI_Scatter(b, 1, slice, bb, n[1] * columns, MPI_FLOAT, 0, line[1]);
    MPI_Bcast(aa, rows * n[1], MPI_FLOAT, 0, line[1]);
    MPI_Bcast(bb, n[1] * columns, MPI_FLOAT, 0, line[0]);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            for (int k = 0; k < n[1]; k++) cc[i * columns + j] += aa[i * n[1] + k] * bb[k * columns + j];
    MPI_Gatherv(cc, rows * columns, MPI_FLOAT, c, counts, displs, block, 0, grid);

    free(aa);
    free(bb);
    free(cc);
    free(counts);
    free(displs);
    MPI_Type_free(&slice);
    MPI_Type_free(&block);
    for (int i = 0; i < 2; i++) MPI_Comm_free(&line[i]);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&private);
}

static void example_6_6(int rows, int depth, int columns, int flat)
{
    int n[3] = {0, 0, 0}, p[2] = {flat, 0};
    float *a = NULL, *b = NULL, *c = NULL;
    if (check_rank == 0) {
        MPI_Dims_create(check_size, 2, p);
        n[0] = rows * p[0];
        n[1] = depth;
        n[2] = columns * p[1];
        a = malloc(sizeof *a * (size_t)(n[0] * n[1]));
        b = malloc(sizeof *b * (size_t)(n[1] * n[2]));
        c = malloc(sizeof *c * (size_t)(n[0] * n[2]));
        for (int i = 0; i < n[0] * n[1]; i++) a[i] = (float)(i % 13 - 5);
        for (int i = 0; i < n[1] * n[2]; i++) b[i] = (float)(i % 11 - 4);
    }
    multiply(a, b, c, n, p, MPI_COMM_WORLD);
    for (int i = 0; check_rank == 0 && i < n[0] * n[2]; i++) {
        float want = 0;
        for (int k = 0; k < n[1]; k++) want += a[i / n[2] * n[1] + k] * b[k * n[2] + i % n[2]];
        CHECK_SAY(c[i] == want, "element %d is %g, not %g", i, (double)c[i], (double)want);
    }
    free(a);
    free(b);
    free(c);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    example_6_6(5, 7, 3, 0);
    example_6_6(40, 60, 50, 0);
    example_6_6(2, 1, 4, 1); /* a grid of one row */
    return check_end();
}
