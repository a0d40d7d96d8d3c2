/* cluster.c - messages and collectives between machines, for every MPI implementation.
 *
 * Rank 0 prints lines of a name, a value and a unit, as mpibench.c does. The network sets the pace, and the ranks of
 * several machines may share a few cores, so each figure is given a time, not a number of repetitions: it is the
 * lower quartile of some batches, and of a batch the slowest rank counts. The last line is how many bytes the machines
 * must have sent each other at least, whatever the algorithm: compare holds it against what their interfaces have
 * counted.
 *
 *   cluster PER SPEED part ...
 *                            PER ranks a machine, in order; the machines are called m0, m1, ...
 *                            SPEED: MB/s of data that a link carries in each direction
 *                            parts: lat bw rate overlap (the first ranks of the first two machines), lat-all bw-all
 *                            rate-all (each rank of the first machine with one of the second), waiting, coll
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { BATCHES = 40, LONGEST = 4 << 20, WINDOW = 16, MANY = 64 };
static const double BATCH = 0.002, LONG_BATCH = 0.006, ENOUGH = 0.08; /* seconds of one, and after which none follows */
static double began; /* about the same time for all ranks */

static int rank, size, per, machines;
static int other;          /* whom this rank has messages for; -1: nobody */
static int first;          /* and it begins */
static int pairs;          /* that have messages at the same time */
static double least;       /* bytes that must have passed between machines */
static double speed;       /* bytes a second of data that a link carries */
static char *in, *out;

static void report(const char *part, int n, double value, const char *unit)
{
    char name[64];
    snprintf(name, sizeof name, n < 0 ? "%s" : "%s/%d", part, n);
    if (rank == 0) { printf("%-28s %14.4f %s\n", name, value, unit); fflush(stdout); }
}

/* Seconds of one of a batch of some, of the slowest rank, and when all were done. All ranks return the same. */
static double batch(void (*run)(int), int n, int times, double *now)
{
    double mine[2], worst[2], t;
    MPI_Barrier(MPI_COMM_WORLD);
    t = MPI_Wtime();
    for (int i = 0; i < times; i++) run(n);
    mine[1] = MPI_Wtime() - began;
    mine[0] = (mine[1] + began - t) / times;
    MPI_Allreduce(mine, worst, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    *now = worst[1];
    return worst[0];
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The lower quartile of some batches. Each run sends so many bytes to other machines, at least, of which the busiest
 * interface carries so many one after the other. Batches are short: some of them meet no other work of the machine.
 * None counts as faster than the link, which may carry at once what leaves first after a pause. */
static double quartile(void (*run)(int), int n, double bytes, double busiest)
{
    double until, now, took[BATCHES], t = batch(run, n, 2, &now), want = bytes < 8192 ? BATCH : LONG_BATCH;
    int count = 0, times = t > want ? 1 : t < want / 1000 ? 1000 : (int)(want / t);
    least += 2 * bytes;
    for (until = now + ENOUGH; count < BATCHES && (count < 2 || now < until); count++) {
        took[count] = batch(run, n, times, &now);
        if (took[count] < busiest / speed) took[count] = busiest / speed;
        least += bytes * times;
    }
    qsort(took, (size_t)count, sizeof *took, ascending);
    return took[count / 4];
}

static void pingpong(int n)
{
    if (other < 0) return;
    if (first) MPI_Send(out, n, MPI_CHAR, other, 1, MPI_COMM_WORLD);
    MPI_Recv(in, n, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!first) MPI_Send(out, n, MPI_CHAR, other, 1, MPI_COMM_WORLD);
}

/* count messages in one direction, and a word that they have arrived. */
static void stream(int n, int count)
{
    MPI_Request q[MANY];
    if (other < 0) return;
    for (int k = 0; k < count; k++)
        if (first) MPI_Isend(out, n, MPI_CHAR, other, 2, MPI_COMM_WORLD, &q[k]);
        else MPI_Irecv(in, n, MPI_CHAR, other, 2, MPI_COMM_WORLD, &q[k]);
    MPI_Waitall(count, q, MPI_STATUSES_IGNORE);
    if (first) MPI_Recv(in, 0, MPI_CHAR, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else MPI_Send(out, 0, MPI_CHAR, other, 3, MPI_COMM_WORLD);
}
static void window(int n) { stream(n, WINDOW); }
static void many(int n) { stream(n, MANY); }

/* The first so many ranks of the first machine each have messages for one of the second. */
static void pair_up(int count)
{
    pairs = count;
    first = rank < count;
    other = first ? per + rank : rank >= per && rank < per + count ? rank - per : -1;
}

static void latencies(const char *part)
{
    static const int sizes[] = {0, 8, 256, 1024, 4096, 16384, 65536, 262144, 1048576};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double bytes = 2.0 * sizes[s] * pairs; /* several pairs may use both directions at once */
        report(part, sizes[s], quartile(pingpong, sizes[s], bytes, pairs > 1 ? bytes / 2 : bytes) / 2 * 1e6, "us");
    }
}

static void bandwidths(const char *part)
{
    static const int sizes[] = {1024, 8192, 65536, 1048576};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double bytes = (double)sizes[s] * WINDOW * pairs;
        report(part, sizes[s], bytes / quartile(window, sizes[s], bytes, bytes) / 1e6, "MB/s");
    }
}

static void rates(const char *part)
{
    double messages = (double)MANY * pairs;
    report(part, 8, messages / quartile(many, 8, 8 * messages, 8 * messages) / 1e6, "Mmsg/s");
}

/* The share of a long transfer that is hidden behind computation on this core, or elsewhere. */
static int mode;
static double alone;
static volatile double sink;

static void transfer(int n)
{
    MPI_Request q;
    if (other < 0) return;
    if (first) MPI_Isend(out, n, MPI_CHAR, other, 7, MPI_COMM_WORLD, &q);
    else MPI_Irecv(in, n, MPI_CHAR, other, 7, MPI_COMM_WORLD, &q);
    if (mode == 1)
        for (double end = MPI_Wtime() + alone; MPI_Wtime() < end;) sink += 1;
    if (mode == 2) {
        struct timespec t = {(time_t)alone, (long)((alone - (double)(time_t)alone) * 1e9)};
        nanosleep(&t, NULL);
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void overlap(void)
{
    int n = LONGEST;
    mode = 0;
    alone = quartile(transfer, n, n, n);
    for (mode = 1; mode < 3; mode++) {
        double hidden = 100 * (2 * alone - quartile(transfer, n, n, n)) / alone;
        report(mode == 1 ? "overlap" : "overlap-free", n, hidden < 0 ? 0 : hidden > 100 ? 100 : hidden, "%");
    }
}

/* Processor seconds of this rank, and how often one of its threads has slept. */
static void used(double *cpu, double *slept)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    *cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    *slept = (double)u.ru_nvcsw;
}

/* One pair has messages while all other ranks wait for its end: how long a message takes, what share of a core a rank
 * that waits uses, and how often one wakes up for each message. */
static void waiting(void)
{
    enum { TURNS = 5000 };
    char end = 0;
    double t, before[2], after[2], mine[2] = {0, 0}, sum[2];
    pair_up(1);
    t = batch(pingpong, 8, 100, &before[0]);
    int turns = t > 0.2 / TURNS ? (int)(0.2 / t) + 1 : TURNS, waiters = size - 2;
    least += 16.0 * (100 + turns);
    MPI_Barrier(MPI_COMM_WORLD);
    used(&before[0], &before[1]);
    t = MPI_Wtime();
    if (other >= 0) {
        for (int i = 0; i < turns; i++) pingpong(8);
        t = MPI_Wtime() - t;
        for (int r = 0; first && r < size; r++)
            if (r != rank && r != other) MPI_Send(&end, 1, MPI_CHAR, r, 9, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&end, 1, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        used(&after[0], &after[1]);
        mine[0] = (after[0] - before[0]) / (MPI_Wtime() - t) / waiters;
        mine[1] = (after[1] - before[1]) / (2.0 * turns);
    }
    MPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    report("waiting", 8, t / turns / 2 * 1e6, "us");
    report("waiting-cpu", -1, 100 * sum[0], "%cpu");
    report("waiting-wakes", -1, sum[1], "a-msg");
}

static void do_bcast(int n) { MPI_Bcast(out, n, MPI_CHAR, 0, MPI_COMM_WORLD); }
static void do_allreduce(int n) { MPI_Allreduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void do_allgather(int n) { MPI_Allgather(out, n, MPI_CHAR, in, n, MPI_CHAR, MPI_COMM_WORLD); }
static void do_alltoall(int n) { MPI_Alltoall(out, n, MPI_CHAR, in, n, MPI_CHAR, MPI_COMM_WORLD); }
static void do_reduce_scatter(int n)
{
    MPI_Reduce_scatter_block(out, in, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Each rank is a neighbor of each. */
static void do_neighbors(int n)
{
    static MPI_Comm graph = MPI_COMM_NULL;
    if (graph == MPI_COMM_NULL) {
        int *all = malloc((size_t)size * sizeof *all);
        for (int i = 0; i < size; i++) all[i] = (rank + i) % size;
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size, all, all, size, all, all, MPI_INFO_NULL, 0, &graph);
        free(all);
    }
    if (n == 0) MPI_Comm_free(&graph);
    else MPI_Neighbor_alltoall(out, n, MPI_CHAR, in, n, MPI_CHAR, graph);
}

/* Lengths are those of a contribution, or of the block that each rank sends or gets of each other. */
static void collectives(void)
{
    static const int sizes[] = {8, 1024, 16384, 131072, 1048576};
    double m = machines, to = (double)size * (size - per); /* blocks that go from one machine to another */
    const struct { const char *name; void (*run)(int); double blocks; int longest; } table[] = {
        {"bcast", do_bcast, m - 1, 1048576},
        {"allreduce", do_allreduce, 2 * (m - 1), 1048576},
        {"allgather", do_allgather, (double)size * (m - 1), 131072},
        {"alltoall", do_alltoall, to, 131072},
        {"reduce_scatter", do_reduce_scatter, (double)size * (m - 1), 131072},
        {"neighbors", do_neighbors, to, 1024},
    };
    for (size_t c = 0; c < sizeof table / sizeof *table; c++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes && sizes[s] <= table[c].longest; s++) {
            int n = sizes[s];
            double bytes = table[c].blocks * n, busiest = table[c].run == do_bcast ? n : bytes / m;
            report(table[c].name, n, quartile(table[c].run, n, bytes, busiest) * 1e6, "us");
        }
    do_neighbors(0);
}

/* Rank r must be on machine r / per, or the figures are of something else. */
static void check_machine(void)
{
    char name[MPI_MAX_PROCESSOR_NAME], want[16];
    int length;
    MPI_Get_processor_name(name, &length);
    int n = snprintf(want, sizeof want, "m%d", rank / per);
    if (strncmp(name, want, (size_t)n) == 0 && (name[n] < '0' || name[n] > '9')) return;
    fprintf(stderr, "cluster: rank %d is on %s instead of %s\n", rank, name, want);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void measure(const char *part)
{
    pair_up(strstr(part, "-all") ? per : 1);
    if (!strncmp(part, "lat", 3)) latencies(part);
    else if (!strncmp(part, "bw", 2)) bandwidths(part);
    else if (!strncmp(part, "rate", 4)) rates(part);
    else if (!strcmp(part, "overlap")) overlap();
    else if (!strcmp(part, "waiting")) waiting();
    else if (!strcmp(part, "coll")) collectives();
    else { fprintf(stderr, "cluster: no part %s\n", part); MPI_Abort(MPI_COMM_WORLD, 2); }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    per = argc > 1 ? atoi(argv[1]) : 0;
    speed = argc > 2 ? atof(argv[2]) * 1e6 : 0;
    if (per < 1 || size % per || size == per || speed <= 0) {
        fprintf(stderr, "cluster: %d ranks a machine, of %d, %g bytes a second\n", per, size, speed);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    machines = size / per;
    check_machine();
    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
    in = calloc((size_t)LONGEST, 1);
    out = calloc((size_t)LONGEST, 1);
    for (int i = 3; i < argc; i++) measure(argv[i]);
    report("least", -1, least / 1e6, "MB");
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
