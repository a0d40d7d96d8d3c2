/* early.h - messages that may come before their receiver has made the communicator they are sent on. */
#ifndef EARLY_H
#define EARLY_H

#include "../check.h"
#include <sched.h>

enum { EARLY_BYTES = 8000 };
enum { EARLY_MIB = 48 }; /* that much more may be kept */

/* Peak resident memory, in MiB. */
static inline long early_peak(void)
{
    char line[256];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    if (!f) return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
    fclose(f);
    return kib / 1024;
}

/* Lets the sender be the first to make a communicator of comm, if it can without this process; takes in what comes, and
 * receives none of it, until the word comes that all has been sent, or gives up soon. */
static inline void early_look(MPI_Comm comm, int from)
{
    int flag = 0;
    for (int i = 0; i < (check_spans() ? 1000 : 200000) && !flag; i++) {
        sched_yield();
        CHECK_EQ(MPI_Iprobe(from, 77, comm, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
}

/* Makes and frees a communicator: the next one may come without a word between its members. */
static inline void early_prepare(MPI_Comm comm)
{
    MPI_Comm made;
    CHECK_EQ(MPI_Comm_dup(comm, &made), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
}

/* Sends many messages of changing lengths on one communicator, some of them synchronous, and then a word on another.
 * Returns when all have been received. */
static inline void early_send(MPI_Comm comm, int to, int many, MPI_Comm other, int to_other)
{
    unsigned char *out = malloc(EARLY_BYTES);
    MPI_Request *r = malloc(sizeof(MPI_Request) * ((size_t)many + 1));
    check_fill(out, EARLY_BYTES, 5);
    for (int i = 0; i < many; i++) {
        if (i % 5 == 4) MPI_Issend(out, EARLY_BYTES - i % 7, MPI_BYTE, to, i % 3, comm, &r[i]);
        else MPI_Isend(out, EARLY_BYTES - i % 7, MPI_BYTE, to, i % 3, comm, &r[i]);
    }
    MPI_Isend(NULL, 0, MPI_BYTE, to_other, 77, other, &r[many]);
    MPI_Send(out, EARLY_BYTES, MPI_BYTE, to, 3, comm);
    MPI_Waitall(many + 1, r, MPI_STATUSES_IGNORE);
    free(r), free(out);
}

/* Receives them, first the word, then the last one. */
static inline void early_receive(MPI_Comm comm, int from, int many, MPI_Comm other, int from_other)
{
    MPI_Recv(NULL, 0, MPI_BYTE, from_other, 77, other, MPI_STATUS_IGNORE);
    unsigned char *want = malloc(EARLY_BYTES), *in = malloc(EARLY_BYTES);
    check_fill(want, EARLY_BYTES, 5);
    for (int i = -1; i < many; i++) {
        MPI_Status s;
        int n, tag = i < 0 ? 3 : i % 3, bytes = i < 0 ? EARLY_BYTES : EARLY_BYTES - i % 7;
        memset(in, 0, EARLY_BYTES);
        MPI_Recv(in, EARLY_BYTES, MPI_BYTE, i % 2 ? from : MPI_ANY_SOURCE, tag, comm, &s);
        MPI_Get_count(&s, MPI_BYTE, &n);
        CHECK_EQ(s.MPI_SOURCE, from);
        CHECK_EQ(n, bytes);
        CHECK_EQ(memcmp(in, want, (size_t)n), 0);
    }
    free(want), free(in);
}

#endif
