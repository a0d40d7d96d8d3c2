/* A million messages that nobody waits for: the receiver's memory stays bounded, and what is sent last is received
 * first. */
/* ranks: 2 3 */
#include "../check.h"

enum { MILLION = 1000000, LONGER = 60000, LONG_BYTES = 1500 };

static int less = 1; /* between clients each message costs system calls */

/* Peak resident memory, in MiB. */
static long peak(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    if (!f) return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
    fclose(f);
    return kib / 1024;
}

/* All but rank 0 send their share, blocking; rank 0 takes in what comes and receives nothing of it for a while. */
static void blocking(void)
{
    int senders = check_size - 1, share = MILLION / less / senders;
    if (check_rank == 0) {
        int *next = calloc((size_t)check_size, sizeof *next);
        /* Probes take in what arrives. */
        for (int i = 0; i < 20000; i++) {
            int flag;
            MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK_EQ(flag, 0);
        }
        for (long i = 0; i < (long)share * senders; i++) {
            int in[2] = {-1, -1};
            MPI_Status s;
            MPI_Recv(in, 2, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
            CHECK_EQ(in[0], s.MPI_SOURCE);
            CHECK_EQ(in[1], next[s.MPI_SOURCE]);
            next[s.MPI_SOURCE]++;
        }
        free(next);
    } else {
        for (int i = 0; i < share; i++) {
            int out[2] = {check_rank, i};
            MPI_Send(out, 2, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    }
}

/* Nonblocking sends, then one message that is received before all of them, and they from the back. */
static void last_first(void)
{
    int peer = check_rank ^ 1, many = LONGER / less;
    if (check_rank > 1) return;
    unsigned char *out = malloc(LONG_BYTES), *in = malloc(LONG_BYTES);
    check_fill(out, LONG_BYTES, 7);
    if (check_rank == 1) {
        MPI_Request *r = malloc(sizeof(MPI_Request) * LONGER);
        for (int i = 0; i < many; i++) MPI_Isend(out, LONG_BYTES - i % 7, MPI_BYTE, peer, i, MPI_COMM_WORLD, &r[i]);
        MPI_Send(NULL, 0, MPI_BYTE, peer, many, MPI_COMM_WORLD);
        MPI_Waitall(many, r, MPI_STATUSES_IGNORE);
        free(r);
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, peer, many, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = many - 1; i >= 0; i--) {
            MPI_Status s;
            int n;
            MPI_Recv(in, LONG_BYTES, MPI_BYTE, i % 3 ? peer : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &s);
            MPI_Get_count(&s, MPI_BYTE, &n);
            CHECK_EQ(n, LONG_BYTES - i % 7);
            CHECK_EQ(memcmp(in, out, (size_t)n), 0);
        }
    }
    free(out);
    free(in);
}

/* Nonblocking sends to a rank that is in MPI, and waits for none of them. */
static void idle(void)
{
    enum { MANY = 3000, BYTES = 60000 }; /* 180 MB */
    int peer = check_rank ^ 1;
    if (check_rank > 1) return;
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
    check_fill(out, BYTES, 3);
    if (check_rank == 1) {
        MPI_Request *r = malloc(sizeof(MPI_Request) * MANY);
        for (int i = 0; i < MANY; i++) MPI_Isend(out, BYTES - i % 7, MPI_BYTE, peer, i % 3, MPI_COMM_WORLD, &r[i]);
        MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
        free(r);
    } else {
        for (int i = 0; i < 20000; i++) {
            int flag;
            MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK_EQ(flag, 0);
        }
        for (int i = 0; i < MANY; i++) {
            MPI_Status s;
            int n;
            MPI_Recv(in, BYTES, MPI_BYTE, MPI_ANY_SOURCE, i % 3, MPI_COMM_WORLD, &s);
            MPI_Get_count(&s, MPI_BYTE, &n);
            CHECK_EQ(n, BYTES - i % 7);
            CHECK_EQ(memcmp(in, out, (size_t)n), 0);
        }
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    long before = peak();
    if (check_spans()) less = 4;
    blocking();
    MPI_Barrier(MPI_COMM_WORLD);
    last_first();
    MPI_Barrier(MPI_COMM_WORLD);
    idle();
    /* 90 and 180 MB have been sent in the last parts, and a million records in the first. */
    if (check_rank == 0) CHECK_SAY(peak() - before < 120, "%ld MiB have become %ld", before, peak());
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
