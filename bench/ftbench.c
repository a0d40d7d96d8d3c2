/* ftbench.c - what it costs to agree, and to go on after a loss. For jobs that are fault tolerant, of any library with
 * ULFM.
 *
 * Rank 0 prints one "name value unit" line per measurement. Without an argument: an agreement and an allreduce, the
 * best of REPS batches, and how many allreduces an agreement takes. With one, so many ranks kill themselves, the last
 * first, while all wait for a message: what rank 0 waits from the death to the error, and then to revoke and to
 * shrink; the medians.
 *
 *   ftbench [losses]
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPS = 7, BATCH = 200, MOST = 32 };
static int rank, size;

static void report(const char *name, int ranks, double value, const char *unit)
{
    char label[64];
    snprintf(label, sizeof label, "%s/%d", name, ranks);
    if (rank == 0) { printf("%-28s %14.4f %s\n", label, value, unit); fflush(stdout); }
}

static double batch(int agrees)
{
    int flag = 1, sum;
    double t, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    t = MPI_Wtime();
    for (int i = 0; i < BATCH; i++)
        if (agrees) MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
        else MPI_Allreduce(&flag, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    t = (MPI_Wtime() - t) / BATCH * 1e6;
    MPI_Allreduce(&t, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static void agreements(void)
{
    double best[2] = {1e30, 1e30};
    for (int r = 0; r < REPS; r++)
        for (int agrees = 0; agrees < 2; agrees++) {
            double t = batch(agrees);
            if (t < best[agrees]) best[agrees] = t;
        }
    report("allreduce", size, best[0], "us");
    report("agree", size, best[1], "us");
    report("agree:allreduce", size, best[1] / best[0], "x");
}

/* The same for all processes of a machine. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void shrink(MPI_Comm *comm)
{
    MPI_Comm left;
    MPIX_Comm_revoke(*comm);
    if (MPIX_Comm_shrink(*comm, &left) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    MPI_Comm_free(comm);
    *comm = left;
}

/* The last rank dies when it has told rank 0 so. The others wait for rank 0, which waits for the dead. */
static void lose(MPI_Comm *comm, double *until_error, double *until_shrunk)
{
    int n, r;
    double died = 0, begin;
    MPI_Comm_size(*comm, &n);
    MPI_Comm_rank(*comm, &r);
    MPI_Barrier(*comm);
    if (r == n - 1) {
        died = now();
        MPI_Send(&died, 1, MPI_DOUBLE, 0, 0, *comm);
        raise(SIGKILL);
    }
    if (r == 0) MPI_Recv(&died, 1, MPI_DOUBLE, n - 1, 0, *comm, MPI_STATUS_IGNORE);
    MPI_Recv(&begin, 1, MPI_DOUBLE, r == 0 ? n - 1 : 0, 1, *comm, MPI_STATUS_IGNORE);
    begin = now();
    *until_error = (begin - died) * 1e3;
    shrink(comm);
    *until_shrunk = (now() - begin) * 1e3;
}

static void losses(int times)
{
    double until_error[MOST], until_shrunk[MOST];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < times; i++) lose(&comm, &until_error[i], &until_shrunk[i]);
    qsort(until_error, (size_t)times, sizeof *until_error, ascending);
    qsort(until_shrunk, (size_t)times, sizeof *until_shrunk, ascending);
    report("detect", size, until_error[times / 2], "ms");
    report("revoke+shrink", size, until_shrunk[times / 2], "ms");
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (times < 0 || times > MOST || times >= size) MPI_Abort(MPI_COMM_WORLD, 2);
    if (times) losses(times);
    else agreements();
    MPI_Finalize();
    return 0;
}
