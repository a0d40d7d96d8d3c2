/* MPI_THREAD_MULTIPLE under load: threads that block, poll, probe, collect, cancel and complete at the same time. */
/* ranks: 1 2 4 */
#include "../check.h"
#include <pthread.h>

/* Every thread has a communicator of its own, and all share one more, in which a tag belongs to a thread. Each runs
 * the same steps in an order of its own, so that at any time different kinds of waiting go on in a process. */
enum { THREADS = 4, ROUNDS = 12, LARGE = 70000 };

static MPI_Comm own[THREADS], all;
static int next, previous, spanning;

static uint64_t key(int rank, int k, int i) { return (uint64_t)rank << 40 | (uint64_t)k << 20 | (uint64_t)i; }

struct thread {
    int k;
    unsigned char *out, *in;
};

static int length(int i) { return i % 7 == 6 ? LARGE : i * 13; }

/* Blocking, both ways at once. */
static void blocking(struct thread *t, int i)
{
    int n = length(i), got = -1;
    MPI_Status s;
    check_fill(t->out, (size_t)n, key(check_rank, t->k, i));
    MPI_Sendrecv(t->out, n, MPI_BYTE, next, t->k, t->in, LARGE, MPI_BYTE, previous, t->k, all, &s);
    MPI_Get_count(&s, MPI_BYTE, &got);
    CHECK_EQ(got, n);
    CHECK_EQ(check_differs(t->in, (size_t)n, key(previous, t->k, i)), -1);
}

/* Many requests at a time, completed by whatever is done. */
static void nonblocking(struct thread *t, int i)
{
    enum { MANY = 8 };
    int out[MANY], in[MANY], left = 2 * MANY, index[2 * MANY];
    MPI_Request r[2 * MANY];
    for (int m = 0; m < MANY; m++) {
        out[m] = check_rank * 10000 + i * 100 + m;
        in[m] = -1;
        MPI_Irecv(&in[m], 1, MPI_INT, previous, 100 + t->k, all, &r[m]);
    }
    for (int m = 0; m < MANY; m++) {
        if (m % 2) MPI_Isend(&out[m], 1, MPI_INT, next, 100 + t->k, all, &r[MANY + m]);
        else MPI_Issend(&out[m], 1, MPI_INT, next, 100 + t->k, all, &r[MANY + m]);
    }
    while (left > 0) {
        int n = 0;
        if (i % 3 == 0) {
            MPI_Waitsome(2 * MANY, r, &n, index, MPI_STATUSES_IGNORE);
        } else if (i % 3 == 1) {
            MPI_Waitany(2 * MANY, r, index, MPI_STATUS_IGNORE);
            n = 1;
        } else {
            MPI_Testsome(2 * MANY, r, &n, index, MPI_STATUSES_IGNORE);
        }
        CHECK(n != MPI_UNDEFINED);
        left -= n;
    }
    for (int m = 0; m < MANY; m++) CHECK_EQ(in[m], previous * 10000 + i * 100 + m);
}

/* All threads probe the same communicator; each takes what is its own. */
static void probing(struct thread *t, int i)
{
    int n = length(i), got = -1, flag = 0;
    MPI_Status s;
    MPI_Request r;
    MPI_Message message;
    check_fill(t->out, (size_t)n, key(check_rank, t->k, i));
    MPI_Isend(t->out, n, MPI_BYTE, next, 200 + t->k, all, &r);
    if (i % 2) {
        MPI_Mprobe(MPI_ANY_SOURCE, 200 + t->k, all, &message, &s);
    } else {
        while (!flag) MPI_Improbe(MPI_ANY_SOURCE, 200 + t->k, all, &flag, &message, &s);
    }
    MPI_Get_count(&s, MPI_BYTE, &got);
    CHECK_EQ(got, n);
    MPI_Mrecv(t->in, got, MPI_BYTE, &message, &s);
    CHECK_EQ(s.MPI_SOURCE, previous);
    CHECK_EQ(check_differs(t->in, (size_t)n, key(previous, t->k, i)), -1);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void collecting(struct thread *t, int i)
{
    int mine = check_rank + i, sum = -1, root = i % check_size, word = check_rank == root ? i * 7 + t->k : -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, own[t->k]);
    CHECK_EQ(sum, check_size * (check_size - 1) / 2 + check_size * i);
    MPI_Bcast(&word, 1, MPI_INT, root, own[t->k]);
    CHECK_EQ(word, i * 7 + t->k);
    if (i % 4 == 0) MPI_Barrier(own[t->k]);
}

/* Made, used and freed while others do the same. Across IMPI clients only one thread at a time may make
 * communicators. */
static void making(struct thread *t, int i)
{
    MPI_Comm comm;
    MPI_Datatype type;
    int a[8], b[8];
    if (i % 5 || (t->k && spanning)) return;
    MPI_Comm_dup(own[t->k], &comm);
    MPI_Type_vector(4, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int j = 0; j < 8; j++) a[j] = check_rank * 10 + j, b[j] = -1;
    MPI_Sendrecv(a, 1, type, next, 0, b, 1, type, previous, 0, comm, MPI_STATUS_IGNORE);
    for (int j = 0; j < 8; j++) CHECK_EQ(b[j], j % 2 ? -1 : previous * 10 + j);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
}

/* Persistent requests, and receives that are taken back. */
static void cancelling(struct thread *t, int i)
{
    int out = i, in = -1, flag = 0, never;
    MPI_Request r[2], doomed;
    MPI_Status s;
    MPI_Irecv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 900 + t->k, all, &doomed);
    MPI_Send_init(&out, 1, MPI_INT, next, 300 + t->k, all, &r[0]);
    MPI_Recv_init(&in, 1, MPI_INT, previous, 300 + t->k, all, &r[1]);
    for (int turn = 0; turn < 3; turn++) {
        out = i * 10 + turn;
        MPI_Startall(2, r);
        do MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
        while (!flag);
        CHECK_EQ(in, i * 10 + turn);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Cancel(&doomed);
    MPI_Wait(&doomed, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK_EQ(flag, 1);
}

static void *run(void *arg)
{
    static void (*const steps[])(struct thread *, int) = {blocking, nonblocking, probing, collecting, making,
                                                          cancelling};
    enum { STEPS = sizeof steps / sizeof *steps };
    struct thread t = {(int)(intptr_t)arg, malloc(LARGE), malloc(LARGE)};
    for (int i = 0; i < ROUNDS; i++)
        for (int s = 0; s < STEPS; s++) steps[(s + t.k) % STEPS](&t, i);
    free(t.out);
    free(t.in);
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
    spanning = check_spans();
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    for (int k = 0; k < THREADS; k++) MPI_Comm_dup(MPI_COMM_WORLD, &own[k]);
    for (intptr_t k = 0; k < THREADS; k++) CHECK_EQ(pthread_create(&thread[k], NULL, run, (void *)k), 0);
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) MPI_Comm_free(&own[k]);
    MPI_Comm_free(&all);
    return check_end();
}
