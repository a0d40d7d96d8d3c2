#define _POSIX_C_SOURCE 200112L
/* appbench.c - what an application feels: computing and communicating in turn, as iterative solvers do.
 *   appbench [group ...]     groups: solver stencil quantum
 * us for an iteration: lower is better. compute: the share of the speed that the same loops reach before any message
 * was sent, in %: what is missing from 100 was taken by the library (threads that wake, caches, migrations). switches:
 * context switches of all threads of the slowest rank in a second of the loop. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { REPS = 7 };
static int rank, size;

enum { N = 32, ROWS = N * N * N, FACE = N * N };
static double *x, *y, *z, *out, *in;
static int left, right;

static int wants(int argc, char **argv, const char *group)
{
    if (argc < 2) return 1;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], group)) return 1;
    return 0;
}

static void report(const char *what, double value, const char *unit)
{
    if (rank == 0) {
        printf("app/%s/%d %20.4f %s\n", what, size, value, unit);
        fflush(stdout);
    }
}

static double dot(const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < ROWS; i++) s += a[i] * b[i];
    return s;
}

static void axpy(double *w, double f, const double *a, const double *b)
{
    for (int i = 0; i < ROWS; i++) w[i] = f * a[i] + b[i];
}

static void shortaxpy(double *w, double f, const double *a, const double *b)
{
    for (int i = 0; i < 2048; i++) w[i] = f * a[i] + b[i];
}

static void smooth(double *to, const double *from)
{
    for (int k = 1; k < N - 1; k++)
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 1; i++) {
                int at = (k * N + j) * N + i;
                to[at] = 0.9 * from[at] + 0.0166 * (from[at - 1] + from[at + 1] + from[at - N] + from[at + N] +
                                                    from[at - FACE] + from[at + FACE]);
            }
}

static void halo(int doubles)
{
    MPI_Request r[2];
    MPI_Irecv(in, doubles, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in + FACE, doubles, MPI_DOUBLE, right, 7, MPI_COMM_WORLD, &r[1]);
    MPI_Send(out, doubles, MPI_DOUBLE, right, 7, MPI_COMM_WORLD);
    MPI_Send(out, doubles, MPI_DOUBLE, left, 7, MPI_COMM_WORLD);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
}

static double computing; /* seconds that this rank spent computing in the last loop */
#define COMPUTE(BODY) do { double t_ = MPI_Wtime(); BODY; computing += MPI_Wtime() - t_; } while (0)

static void solve(int iters, int communicate)
{
    double rr, all = 1;
    for (int i = 0; i < iters; i++) {
        if (communicate) halo(FACE);
        COMPUTE(smooth(y, x); rr = dot(x, y));
        if (communicate) MPI_Allreduce(&rr, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        COMPUTE(axpy(z, 1e-9 * (all != 0), y, z); rr = dot(z, z));
        if (communicate) MPI_Allreduce(&rr, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        COMPUTE(axpy(x, 1e-9 * (all != 0), z, x));
    }
}

static void stencil(int iters, int communicate)
{
    for (int i = 0; i < iters; i++) {
        if (communicate) halo(FACE / 8);
        COMPUTE(for (int k = 0; k < 40; k++) shortaxpy(z, 1e-9, y, x));
    }
}

/* 20 us of work, then an allreduce: what a small time step does. */
static volatile double sink;
static void quanta(int iters, int communicate)
{
    double v = 1, s;
    for (int i = 0; i < iters; i++) {
        COMPUTE(for (int k = 0; k < 5000; k++) v = v * 1.0000001 + 1e-12);
        if (communicate) MPI_Allreduce(&v, &s, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    sink = v;
}

static double switches(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_nvcsw + (double)u.ru_nivcsw;
}

static void quiet(void (*loop)(int, int), int iters, double *best)
{
    for (int r = 0; r < REPS; r++) {
        computing = 0;
        loop(iters, 0);
        if (r == 0 || computing / iters < *best) *best = computing / iters;
    }
}

static void measure(const char *what, void (*loop)(int, int), int iters, double before)
{
    double best = 1e30, speed = 0, count = 1e30;
    for (int r = 0; r < REPS; r++) {
        double mine[3], all[3], s = switches();
        MPI_Barrier(MPI_COMM_WORLD);
        double t = MPI_Wtime();
        computing = 0;
        loop(iters, 1);
        mine[0] = (MPI_Wtime() - t) / iters;
        mine[1] = computing / iters;
        mine[2] = (switches() - s) / (mine[0] * iters);
        MPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (all[0] < best) best = all[0];
        if (before / all[1] > speed) speed = before / all[1];
        if (all[2] < count) count = all[2];
    }
    report(what, best * 1e6, "us");
    char name[64];
    snprintf(name, sizeof name, "%s-compute", what);
    report(name, 100 * speed, "%");
    snprintf(name, sizeof name, "%s-switches", what);
    report(name, count, "1/s");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    /* The same places in the pages for every library: the arrays must not alias in the first cache. */
    char *room = NULL;
    size_t bytes = sizeof *x * ROWS * 2;
    if (posix_memalign((void **)&room, 4096, 3 * bytes + 3 * 8192)) MPI_Abort(MPI_COMM_WORLD, 2);
    x = (double *)room; y = (double *)(room + bytes + 1344); z = (double *)(room + 2 * bytes + 2 * 1344);
    in = calloc(2 * FACE, sizeof *in); out = calloc(FACE, sizeof *out);
    for (int i = 0; i < 2 * ROWS; i++) x[i] = y[i] = z[i] = 1.0 + i % 7;
    double solver = 0, stencils = 0, quantum = 0;
    quiet(solve, 300, &solver);
    quiet(stencil, 1000, &stencils);
    quiet(quanta, 2000, &quantum);
    MPI_Barrier(MPI_COMM_WORLD);
    if (wants(argc, argv, "solver")) measure("solver", solve, 1000, solver);
    if (wants(argc, argv, "stencil")) measure("stencil", stencil, 2000, stencils);
    if (wants(argc, argv, "quantum")) measure("quantum", quanta, 10000, quantum);
    MPI_Finalize();
    return 0;
}
