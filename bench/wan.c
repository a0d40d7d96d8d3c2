/* wan.c - what a wide area network shows of an MPI library: rank 0 and the last rank are at two ends of it.
 *
 *   wan pingpong|coll|bw
 *
 * Prints "name seconds" for each operation, the best of several, and "bw/N bytes-a-second". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEAT = 6, WINDOW = 16, LONG = 64 << 20, AWAY = 200000 /* us */ };
static int rank, size, last;
static char *buffer;

static void pingpong(int n)
{
    if (rank == 0) {
        MPI_Send(buffer, n, MPI_CHAR, last, 1, MPI_COMM_WORLD);
        MPI_Recv(buffer, n, MPI_CHAR, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == last) {
        MPI_Recv(buffer, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, n, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
}

static void barrier(int n) { (void)n; MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(int n) { MPI_Bcast(buffer, n, MPI_CHAR, 0, MPI_COMM_WORLD); }
static void reduce(int n) { MPI_Reduce(buffer, buffer + LONG / 2, n / 8, MPI_DOUBLE, MPI_SUM, last, MPI_COMM_WORLD); }
static void allreduce(int n) { MPI_Allreduce(buffer, buffer + LONG / 2, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static void allgather(int n) { MPI_Allgather(buffer, n, MPI_CHAR, buffer + LONG / 2, n, MPI_CHAR, MPI_COMM_WORLD); }
static void scan(int n) { MPI_Scan(buffer, buffer + LONG / 2, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static void reduce_scatter(int n)
{
    MPI_Reduce_scatter_block(buffer, buffer + LONG / 2, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void gatherv(int n)
{
    int counts[64], places[64];
    for (int i = 0; i < size; i++) counts[i] = n, places[i] = n * i;
    MPI_Gatherv(buffer, n, MPI_CHAR, buffer + LONG / 2, counts, places, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void finish(MPI_Request *q) { MPI_Wait(q, MPI_STATUS_IGNORE); }

static void ibarrier(int n)
{
    MPI_Request q;
    (void)n;
    MPI_Ibarrier(MPI_COMM_WORLD, &q);
    finish(&q);
}

static void ibcast(int n)
{
    MPI_Request q;
    MPI_Ibcast(buffer, n, MPI_CHAR, 0, MPI_COMM_WORLD, &q);
    finish(&q);
}

static void iallreduce(int n)
{
    MPI_Request q;
    MPI_Iallreduce(buffer, buffer + LONG / 2, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q);
    finish(&q);
}

/* Every rank stays out of MPI meanwhile, as one does that computes. Sleep leaves the cores, which are fewer than the
 * ranks, to those that would have their own. */
static void overlap(int n)
{
    MPI_Request q;
    MPI_Iallreduce(buffer, buffer + LONG / 2, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q);
    usleep(AWAY);
    finish(&q);
}

static void report(const char *name, double value)
{
    if (rank == 0) { printf("%s %.6f\n", name, value); fflush(stdout); }
}

/* There and back, and again. */
static void pingpongs(void)
{
    static const int sizes[] = {1, 8, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double best = 1e30;
        for (int i = 0; i < REPEAT; i++) {
            double t = MPI_Wtime();
            pingpong(sizes[s]);
            t = MPI_Wtime() - t;
            if (t < best) best = t;
        }
        char name[40];
        snprintf(name, sizeof name, "pingpong/%d", sizes[s]);
        report(name, best);
    }
}

/* All clocks are this machine's: the operation begins when all have agreed on a time, and ends when the last is
 * done. */
static double timed(void (*run)(int), int n)
{
    double best = 1e30;
    for (int i = 0; i < REPEAT; i++) {
        double begin = MPI_Wtime() + 0.1, end, worst;
        MPI_Bcast(&begin, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        double left = begin - MPI_Wtime();
        if (left > 0) usleep((useconds_t)(left * 1e6)); /* ranks that outnumber cores would stand in each other's way */
        run(n);
        end = MPI_Wtime() - begin;
        MPI_Allreduce(&end, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (worst < best) best = worst;
    }
    return best;
}

static void collectives(void)
{
    report("barrier", timed(barrier, 0));
    report("bcast/8", timed(bcast, 8));
    report("reduce/8", timed(reduce, 8));
    report("allreduce/8", timed(allreduce, 8));
    report("allgather/8", timed(allgather, 8));
    report("gatherv/8", timed(gatherv, 8));
    report("scan/8", timed(scan, 8));
    report("reduce_scatter/8", timed(reduce_scatter, 8));
    report("bcast/1048576", timed(bcast, 1 << 20));
    report("reduce/1048576", timed(reduce, 1 << 20));
    report("allreduce/1048576", timed(allreduce, 1 << 20));
    report("ibarrier", timed(ibarrier, 0));
    report("ibcast/8", timed(ibcast, 8));
    report("iallreduce/8", timed(iallreduce, 8));
    report("overlap/8", timed(overlap, 8) - AWAY * 1e-6); /* what comes on top */
    report("overlap/65536", timed(overlap, 65536) - AWAY * 1e-6);
}

/* Some messages in one direction, all under way at a time, each with memory of its own; the first batch finds TCP
 * cold. */
static void bandwidth(int n, int count)
{
    double best = 1e30;
    char *many = rank == last ? malloc((size_t)n * count) : NULL;
    MPI_Request q[WINDOW];
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double t = MPI_Wtime();
        if (rank == 0) {
            for (int k = 0; k < count; k++) MPI_Isend(buffer, n, MPI_CHAR, last, 2, MPI_COMM_WORLD, &q[k]);
            MPI_Waitall(count, q, MPI_STATUSES_IGNORE);
            MPI_Recv(buffer, 0, MPI_CHAR, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == last) {
            for (int k = 0; k < count; k++) MPI_Irecv(many + (size_t)n * k, n, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &q[k]);
            MPI_Waitall(count, q, MPI_STATUSES_IGNORE);
            MPI_Send(buffer, 0, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
        }
        t = MPI_Wtime() - t;
        if (t < best) best = t;
    }
    char name[40];
    snprintf(name, sizeof name, "bw/%d", n);
    report(name, (double)n * count / best);
    free(many);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    last = size - 1;
    if (size > 64) MPI_Abort(MPI_COMM_WORLD, 1);
    buffer = calloc(1, LONG);
    const char *part = argc > 1 ? argv[1] : "";
    if (!strcmp(part, "pingpong")) pingpongs();
    if (!strcmp(part, "coll")) collectives();
    if (!strcmp(part, "bw")) {
        bandwidth(1 << 20, WINDOW);
        bandwidth(LONG, 3);
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
