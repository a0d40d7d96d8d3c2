/* Deep nests of types and types of many pieces: right, and made and freed without end. */
/* ranks: 1 2 3 */
#include "../check.h"

static int next, previous;

/* Sixty contiguous-of-vector levels around one int still move that int. */
static void deep(void)
{
    MPI_Datatype t = MPI_INT, u;
    for (int level = 0; level < 60; level++) {
        if (level % 3 == 0) MPI_Type_contiguous(1, t, &u);
        else if (level % 3 == 1) MPI_Type_vector(1, 1, 5, t, &u);
        else MPI_Type_create_hindexed(1, (int[]){1}, (MPI_Aint[]){0}, t, &u);
        if (t != MPI_INT) MPI_Type_free(&t);
        t = u;
    }
    MPI_Type_commit(&t);
    int out = check_rank + 5, in = -1;
    MPI_Sendrecv(&out, 1, t, next, 0, &in, 1, t, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(in, previous + 5);
    MPI_Type_free(&t);
}

/* Every third byte of a range, as an indexed type of twenty thousand blocks. */
static void many(void)
{
    enum { N = 20000 };
    int *at = malloc(sizeof(int) * N), *length = malloc(sizeof(int) * N);
    char *out = malloc(3 * N), *in = calloc(3, N);
    MPI_Datatype t;
    for (int i = 0; i < N; i++) at[i] = (i ^ 1) * 3, length[i] = i % 2 + 1; /* not in order */
    MPI_Type_indexed(N, length, at, MPI_CHAR, &t);
    MPI_Type_commit(&t);
    check_fill(out, 3 * N, (uint64_t)check_rank);
    MPI_Sendrecv(out, 1, t, next, 0, in, 1, t, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_fill(out, 3 * N, (uint64_t)previous);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) CHECK_EQ(in[at[i] + k], k < length[i] ? out[at[i] + k] : 0);
    MPI_Type_free(&t);
    free(at);
    free(length);
    free(out);
    free(in);
}

/* A matrix transposed by the type: columns, each one element of extent 8. */
static void transpose(int n)
{
    double *m = malloc(sizeof(double) * (size_t)(n * n)), *t = malloc(sizeof(double) * (size_t)(n * n));
    MPI_Datatype column, columns, all;
    MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, 8, &columns);
    MPI_Type_contiguous(n, columns, &all);
    MPI_Type_commit(&columns);
    MPI_Type_commit(&all);
    for (int i = 0; i < n * n; i++) m[i] = check_rank * 1e6 + i;
    MPI_Sendrecv(m, 1, all, next, 0, t, n * n, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) CHECK(t[x * n + y] == previous * 1e6 + y * n + x);
    MPI_Sendrecv(m, n, columns, next, 0, t, 1, all, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n * n; i++) CHECK(t[i] == previous * 1e6 + i);
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
    MPI_Type_free(&all);
    free(m);
    free(t);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    deep();
    many();
    transpose(3);
    transpose(200);
    for (int i = 0; i < 100000; i++) {
        MPI_Datatype t;
        MPI_Type_vector(3, 1, 2, MPI_INT, &t);
        if (i % 2) MPI_Type_commit(&t);
        MPI_Type_free(&t);
    }
    return check_end();
}
