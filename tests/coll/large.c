/* Collectives on megabytes. */
/* ranks: 1 2 3 4 */
#include "../check.h"

enum { N = 1 << 18 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    size_t room = sizeof(double) * N * (size_t)check_size;
    double *a = malloc(room), *b = malloc(room);
    for (int i = 0; i < N; i++) a[i] = check_rank + i;
    MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) CHECK_EQ(b[i], check_size * (check_size - 1) / 2 + (double)check_size * i);
    MPI_Reduce(a, b, N, MPI_DOUBLE, MPI_MAX, check_size - 1, MPI_COMM_WORLD);
    if (check_rank == check_size - 1)
        for (int i = 0; i < N; i++) CHECK_EQ(b[i], check_size - 1 + i);
    MPI_Allgather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < N; i++) CHECK_EQ(b[(size_t)r * N + (size_t)i], r + i);
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < N; i++) b[(size_t)r * N + (size_t)i] = check_rank * 10 + r + i;
    MPI_Alltoall(b, N, MPI_DOUBLE, a, N, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < N; i++) CHECK_EQ(a[(size_t)r * N + (size_t)i], r * 10 + check_rank + i);
    MPI_Gather(a, N, MPI_DOUBLE, b, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Scatter(b, N, MPI_DOUBLE, a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], check_rank + i);
    free(a);
    free(b);
    return check_end();
}
