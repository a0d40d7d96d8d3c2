/* MPI_THREAD_MULTIPLE: what one thread starts another completes; partitions made ready by several threads; sends and
 * receives taken back while others communicate; messages for anybody, each taken by one thread. */
/* ranks: 1 2 3 4 */
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 12, MANY = 12, PARTS = 8, LONG = 50000 };

static MPI_Comm own[THREADS], all, anybody;
static int next, previous;
static pthread_barrier_t together;

/* Requests that thread k has started, for thread k + 1. */
static struct { MPI_Request in[MANY], out[MANY]; int word[MANY], got[MANY]; } box[THREADS];

static void complete(int way, int n, MPI_Request *q)
{
    int flag = 0, index = -1, count = 0, left = n, at[MANY];
    switch (way) {
    case 0:
        while (left-- > 0) {
            MPI_Waitany(n, q, &index, MPI_STATUS_IGNORE);
            CHECK(index >= 0 && index < n);
        }
        break;
    case 1:
        for (; left > 0; left -= count) {
            MPI_Waitsome(n, q, &count, at, MPI_STATUSES_IGNORE);
            CHECK(count > 0);
        }
        break;
    case 2:
        while (left > 0) {
            MPI_Testany(n, q, &index, &flag, MPI_STATUS_IGNORE);
            left -= flag;
        }
        break;
    case 3:
        while (!flag) MPI_Testall(n, q, &flag, MPI_STATUSES_IGNORE);
        break;
    }
    for (int i = 0; i < n; i++) CHECK(q[i] == MPI_REQUEST_NULL);
}

static void handed_over(int k, int round)
{
    int from = (k + 1) % THREADS;
    for (int m = 0; m < MANY; m++) {
        box[k].word[m] = check_rank * 1000 + round * 20 + m, box[k].got[m] = -1;
        MPI_Irecv(&box[k].got[m], 1, MPI_INT, m % 5 == 4 ? MPI_ANY_SOURCE : previous, k * MANY + m, all, &box[k].in[m]);
    }
    for (int m = 0; m < MANY; m++) {
        if (m % 3) MPI_Isend(&box[k].word[m], 1, MPI_INT, next, k * MANY + m, all, &box[k].out[m]);
        else MPI_Issend(&box[k].word[m], 1, MPI_INT, next, k * MANY + m, all, &box[k].out[m]);
    }
    pthread_barrier_wait(&together);
    complete((k + round) % 4, MANY, box[from].in);
    complete((k + round + 1) % 4, MANY, box[from].out);
    for (int m = 0; m < MANY; m++) CHECK_EQ(box[from].got[m], previous * 1000 + round * 20 + m);
    pthread_barrier_wait(&together);
}

/* All threads fill partitions of one message; thread 0 has started it, the last looks for what has come. */
static void partitions(int k, int round)
{
    static MPI_Request send, recv;
    static int out[PARTS * 3], in[PARTS * 3];
    int flag = 0;
    if (k == 0) {
        if (round == 0) {
            MPI_Psend_init(out, PARTS, 3, MPI_INT, next, 7, all, MPI_INFO_NULL, &send);
            MPI_Precv_init(in, PARTS, 3, MPI_INT, previous, 7, all, MPI_INFO_NULL, &recv);
        }
        memset(in, 0xff, sizeof in);
        MPI_Start(&recv);
        MPI_Start(&send);
    }
    pthread_barrier_wait(&together);
    for (int p = k; p < PARTS; p += THREADS) {
        for (int i = 0; i < 3; i++) out[p * 3 + i] = check_rank * 10000 + round * 100 + p * 3 + i;
        MPI_Pready(p, send);
    }
    if (k == THREADS - 1) {
        for (int p = 0; p < PARTS; p++)
            for (flag = 0; !flag;) MPI_Parrived(recv, p, &flag);
        MPI_Wait(&recv, MPI_STATUS_IGNORE);
        for (int i = 0; i < PARTS * 3; i++) CHECK_EQ(in[i], previous * 10000 + round * 100 + i);
    }
    pthread_barrier_wait(&together);
    if (k == 0) {
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        if (round == ROUNDS - 1) {
            MPI_Request_free(&send);
            MPI_Request_free(&recv);
        }
    }
}

/* A send that is cancelled has not been received, one that is not has: the receiver is told afterwards, and looks. */
static void taken_back(int k, int round)
{
    static unsigned char out[THREADS][LONG], in[THREADS][LONG];
    int n = round % 2 ? LONG : 40, was = -1, there = -1, want = -1;
    MPI_Request q, doomed;
    MPI_Status s;
    memset(out[k], round, (size_t)n);
    MPI_Irecv(in[k], LONG, MPI_BYTE, MPI_ANY_SOURCE, 3, own[k], &doomed);
    MPI_Issend(out[k], n, MPI_BYTE, next, 4, own[k], &q);
    MPI_Cancel(&q);
    MPI_Cancel(&doomed);
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &was);
    CHECK_EQ(was, 1); /* nobody has asked for it */
    MPI_Wait(&doomed, &s);
    MPI_Test_cancelled(&s, &was);
    CHECK_EQ(was, 1);
    was = 0;
    MPI_Sendrecv(&was, 1, MPI_INT, next, 5, &want, 1, MPI_INT, previous, 5, own[k], MPI_STATUS_IGNORE);
    CHECK_EQ(want, 0);
    MPI_Iprobe(previous, 4, own[k], &there, MPI_STATUS_IGNORE);
    CHECK_EQ(there, 0);
}

/* Every thread sends to the next rank, and every thread there takes one message, whichever it is. */
static void for_anybody(int k, int round)
{
    static int taken[THREADS];
    int word = round * THREADS + k, got = -1, flag = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request q;
    MPI_Status s;
    MPI_Isend(&word, 1, MPI_INT, next, k, anybody, &q);
    if ((k + round) % 3 == 0) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, anybody, &s);
    } else {
        if ((k + round) % 3 == 1) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, anybody, &message, &s);
        while (message == MPI_MESSAGE_NULL) MPI_Improbe(previous, MPI_ANY_TAG, anybody, &flag, &message, &s);
        MPI_Mrecv(&got, 1, MPI_INT, &message, &s);
    }
    CHECK_EQ(s.MPI_SOURCE, previous);
    CHECK_EQ(got, round * THREADS + s.MPI_TAG);
    taken[s.MPI_TAG] = round + 1; /* one writer for each: a message is taken once */
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    pthread_barrier_wait(&together);
    CHECK_EQ(taken[k], round + 1);
    pthread_barrier_wait(&together);
}

static void *run(void *arg)
{
    int k = (int)(intptr_t)arg;
    for (int round = 0; round < ROUNDS; round++) {
        int sum = -1;
        handed_over(k, round);
        partitions(k, round);
        taken_back(k, round);
        MPI_Allreduce(&k, &sum, 1, MPI_INT, MPI_SUM, own[k]);
        CHECK_EQ(sum, k * check_size);
        for_anybody(k, round);
        if (k == 0) MPI_Barrier(anybody); /* a message of the next round is none of this */
        pthread_barrier_wait(&together);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = -1;
    pthread_t thread[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    pthread_barrier_init(&together, NULL, THREADS);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_dup(MPI_COMM_WORLD, &anybody);
    for (int k = 0; k < THREADS; k++) MPI_Comm_dup(MPI_COMM_WORLD, &own[k]);
    for (intptr_t k = 0; k < THREADS; k++) CHECK_EQ(pthread_create(&thread[k], NULL, run, (void *)k), 0);
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) MPI_Comm_free(&own[k]);
    MPI_Comm_free(&all);
    MPI_Comm_free(&anybody);
    return check_end();
}
