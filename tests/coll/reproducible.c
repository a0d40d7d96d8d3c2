/* With IMPI_REPRODUCIBLE=1 sums of floating-point numbers are those of a loop over the ranks, bit by bit, wherever the
 * ranks run: each test of this file's that is run elsewhere compares with the same loop. Other libraries have no such
 * setting.
 * ranks: 2 3 4 5 8 */
#define _POSIX_C_SOURCE 200809L
#include "../check.h"

enum { LONGEST = 40000, MOST = 16 };

static double mine[LONGEST * MOST], got[LONGEST * MOST], before[LONGEST * MOST], sum[LONGEST * MOST];

static double value(int rank, int i)
{
    return 1.0 / (3 * rank + i % 1009 + 1);
}

/* The loop: in sum what ranks 0 to last have together, in before what they have without last. */
static void loop(int n, int last)
{
    for (int i = 0; i < n; i++) sum[i] = value(0, i);
    for (int r = 1; r <= last; r++) {
        memcpy(before, sum, sizeof *sum * n);
        for (int i = 0; i < n; i++) sum[i] += value(r, i);
    }
}

static void same(const char *what, int n, const double *a, const double *b)
{
    for (int i = 0; i < n; i++) {
        CHECK_SAY(memcmp(a + i, b + i, sizeof *a) == 0, "%s of %d: element %d is %a, not %a", what, n, i, a[i], b[i]);
    }
}

static void one(int n)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    const int p = check_size, r = check_rank, root = n % p;
    MPI_Request request;
    for (int i = 0; i < n * p; i++) mine[i] = value(r, i);
    loop(n * p, p - 1);

    MPI_Allreduce(mine, got, n, MPI_DOUBLE, MPI_SUM, world);
    same("Allreduce", n, got, sum);
    memcpy(got, mine, sizeof *got * n);
    MPI_Allreduce(MPI_IN_PLACE, got, n, MPI_DOUBLE, MPI_SUM, world);
    same("Allreduce in place", n, got, sum);
    MPI_Iallreduce(mine, got, n, MPI_DOUBLE, MPI_SUM, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    same("Iallreduce", n, got, sum);
    MPI_Reduce(mine, got, n, MPI_DOUBLE, MPI_SUM, root, world);
    if (r == root) same("Reduce", n, got, sum);
    MPI_Ireduce(mine, got, n, MPI_DOUBLE, MPI_SUM, root, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (r == root) same("Ireduce", n, got, sum);
    MPI_Reduce_scatter_block(mine, got, n, MPI_DOUBLE, MPI_SUM, world);
    same("Reduce_scatter_block", n, got, sum + (size_t)n * r);
    int counts[MOST], at = 0, total = 0;
    for (int i = 0; i < p; i++) {
        counts[i] = i % 2 ? n : n / 2;
        if (i < r) at += counts[i];
        total += counts[i];
    }
    CHECK(total <= n * p);
    MPI_Reduce_scatter(mine, got, counts, MPI_DOUBLE, MPI_SUM, world);
    same("Reduce_scatter", counts[r], got, sum + at);

    loop(n, r);
    MPI_Scan(mine, got, n, MPI_DOUBLE, MPI_SUM, world);
    same("Scan", n, got, sum);
    MPI_Exscan(mine, got, n, MPI_DOUBLE, MPI_SUM, world);
    if (r > 0) same("Exscan", n, got, before);
    MPI_Iscan(mine, got, n, MPI_DOUBLE, MPI_SUM, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    same("Iscan", n, got, sum);
}

int main(int argc, char **argv)
{
    setenv("IMPI_REPRODUCIBLE", "1", 1);
    check_start(&argc, &argv);
    if (!check_library("libimpi")) return check_end();
    static const int lengths[] = {1, 2, 7, 8, 9, 63, 129, 500, 1024, 2049, 5000, LONGEST};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) one(lengths[i]);
    return check_end();
}
