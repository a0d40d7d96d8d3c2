/* Long collective operations end while the program computes and calls nothing of MPI: it looks at the memory where the
 * results arise, until they are there. A result that does not come without a call makes this test hang.
 * Between clients it holds, too, and takes as long as the system takes to run the threads of computing processes.
 * ranks: 2 3 4
 * clients: none */
#define _POSIX_C_SOURCE 200809L
#include "../check.h"

enum { N = 1 << 17, MOST = 4 };

static double mine[N * MOST], got[N * MOST];

static double value(int rank, int i)
{
    return rank + 1 + i % 1013;
}

/* Has the program's memory all n values? of(i) is what belongs there. */
static int complete(int n, double (*of)(int i))
{
    const volatile double *now = got;
    for (int i = n - 1; i >= 0; i--) {
        if (now[i] != of(i)) return 0;
    }
    return 1;
}

static double sum_of(int i)
{
    return check_size * (check_size + 1) / 2 + check_size * (i % 1013);
}

static double first_of(int i)
{
    return value(0, i);
}

static double each_of(int i)
{
    return value(i / N, i % N);
}

static double part_of(int i)
{
    return sum_of(check_rank * (N / MOST) + i);
}

static void finish(MPI_Request *request, int n, double (*of)(int i))
{
    while (!complete(n, of)) continue;
    CHECK_EQ(MPI_Wait(request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    memset(got, 0, sizeof got);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request;
    setenv("IMPI_PROGRESS", "1", 1); /* where ranks outnumber cores, too */
    check_start(&argc, &argv);
    if (!check_library("libimpi")) return check_end();
    for (int i = 0; i < N * MOST; i++) mine[i] = value(check_rank, i % N);

    for (int turn = 0; turn < 3; turn++) {
        MPI_Iallreduce(mine, got, N, MPI_DOUBLE, MPI_SUM, world, &request);
        finish(&request, N, sum_of);
        if (check_rank == 0) memcpy(got, mine, sizeof *got * N);
        MPI_Ibcast(got, N, MPI_DOUBLE, 0, world, &request);
        finish(&request, N, first_of);
        MPI_Iallgather(mine, N, MPI_DOUBLE, got, N, MPI_DOUBLE, world, &request);
        finish(&request, N * check_size, each_of);
        MPI_Ireduce_scatter_block(mine, got, N / MOST, MPI_DOUBLE, MPI_SUM, world, &request);
        finish(&request, N / MOST, part_of);
    }
    MPI_Allreduce_init(mine, got, N, MPI_DOUBLE, MPI_SUM, world, MPI_INFO_NULL, &request);
    for (int turn = 0; turn < 3; turn++) {
        MPI_Start(&request);
        finish(&request, N, sum_of);
    }
    MPI_Request_free(&request);
    return check_end();
}
