/* What messages and work on memory cost inside this machine: the parameters by which collective algorithms are chosen
 * (coll/choose/parameters.go, docs/settings.md). On two ranks, in some seconds; make tune runs it.
 *
 *   tune FILE        writes FILE
 *
 * Each figure is the best of many rounds, for what disturbs makes everything longer, and nothing shorter. The
 * overhead is what a send of a short message takes that the receiver finds, and the gap what each of many takes.
 * Bytes are the slope between two sizes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200, MANY = 64, SHORT = 4096, LONG = 1 << 20, HALF = LONG / 4, VECTOR = 1 << 16 };

static int rank;
static char buffer[LONG], other[LONG];

/* Half of the time there and back, ns. */
static double half_trip(int bytes, int rounds, int each)
{
    double best = 1e9;
    for (int k = 0; k < rounds; k++) {
        double t = MPI_Wtime();
        for (int i = 0; i < each; i++) {
            if (rank == 0) {
                MPI_Send(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
                MPI_Recv(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
            }
        }
        t = (MPI_Wtime() - t) / each;
        if (t < best) best = t;
    }
    return best * 1e9 / 2;
}

/* What a send takes if few are under way: o. The receiver answers once for all. */
static double send_time(int messages, int rounds)
{
    double best = 1e9;
    for (int k = 0; k < rounds; k++) {
        double t = MPI_Wtime();
        for (int i = 0; i < messages; i++) {
            if (rank == 0) MPI_Send(buffer, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
            else MPI_Recv(buffer, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        t = (MPI_Wtime() - t) / messages;
        if (t < best) best = t;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return best * 1e9;
}

/* What each of many messages takes, until the last one has been received and answered: g. */
static double gap_time(int messages, int rounds)
{
    double best = 1e9;
    for (int k = 0; k < rounds; k++) {
        double t = MPI_Wtime();
        for (int i = 0; i < messages; i++) {
            if (rank == 0) MPI_Send(buffer, 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
            else MPI_Recv(buffer, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == 0) MPI_Recv(buffer, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else MPI_Send(buffer, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        t = (MPI_Wtime() - t) / messages;
        if (t < best) best = t;
    }
    return best * 1e9;
}

/* Adding a vector to another, or copying it, while nobody else is in MPI; ns a byte. */
static double work_time(int adds)
{
    double best = 1e9;
    for (int k = 0; k < 4 * ROUNDS; k++) {
        double t = MPI_Wtime();
        if (adds) MPI_Reduce_local(other, buffer, VECTOR / sizeof(double), MPI_DOUBLE, MPI_SUM);
        else memcpy(buffer, other, VECTOR);
        t = MPI_Wtime() - t;
        if (t < best) best = t;
    }
    return best * 1e9 / VECTOR;
}

static double above(double least, double value)
{
    return value > least ? value : least;
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || argc != 2) {
        if (rank == 0) fprintf(stderr, "tune: it runs on two ranks, as tune FILE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    half_trip(8, ROUNDS, MANY); /* warm */
    double trip = half_trip(8, 5 * ROUNDS, MANY);
    double sends = send_time(MANY / 4, 20 * ROUNDS), gap = gap_time(16 * MANY, ROUNDS);
    double shorter = half_trip(SHORT, 5 * ROUNDS, MANY / 4);
    double quarter = half_trip(HALF, 2 * ROUNDS, 1), whole = half_trip(LONG, 2 * ROUNDS, 1);
    double combine = work_time(1), copy = work_time(0);
    if (rank == 0) {
        double overhead = above(1, sends < trip / 2 ? sends : trip / 2);
        FILE *f = fopen(argv[1], "w");
        if (f) {
            fprintf(f, "# What messages cost inside this machine, as make tune measured it (docs/settings.md).\n");
            fprintf(f, "latency %.1f\noverhead %.1f\n", above(1, trip - 2 * overhead), overhead);
            fprintf(f, "gap %.1f\n", above(1, gap));
            fprintf(f, "byte-short %.5f\n", above(0.001, (shorter - trip) / (SHORT - 8)));
            fprintf(f, "byte-long %.5f\n", above(0.001, (whole - quarter) / (LONG - HALF)));
            fprintf(f, "combine %.5f\ncopy %.5f\n", above(0.001, combine), above(0.001, copy));
        }
        if (!f || fclose(f) != 0) {
            perror(argv[1]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Finalize();
    return 0;
}
