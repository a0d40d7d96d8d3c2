/* Threads that make types, post receives of them, free them at once and exchange messages, while another thread
 * makes the library look at all receives that wait; types that are one run, of some kilobytes, too. */
/* ranks: 2 3 */
#include "../check.h"
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 200, DOUBLES = 1024, LAYOUTS = 4 };

static int next, previous;
static int over; /* atomic */

/* n doubles: a run that begins later, every third, pairs in a list, or in blocks of a structure. */
static MPI_Datatype layout(int which, int n)
{
    static const int at[] = {20, 0, 8, 40};
    MPI_Datatype t, two[2] = {MPI_DOUBLE, MPI_DOUBLE};
    MPI_Aint later = 24, away[2] = {0, 8 * (n / 2 + 3)};
    int halves[2] = {n / 2, n - n / 2};
    switch (which) {
    case 0: MPI_Type_create_hindexed(1, &n, &later, MPI_DOUBLE, &t); break;
    case 1: MPI_Type_vector(n, 1, 3, MPI_DOUBLE, &t); break;
    case 2: MPI_Type_create_indexed_block(4, n / 4, at, MPI_DOUBLE, &t); break;
    default: MPI_Type_create_struct(2, halves, away, two, &t);
    }
    MPI_Type_commit(&t);
    return t;
}

/* Where double i of a layout is. */
static int place(int which, int n, int i)
{
    static const int at[] = {20, 0, 8, 40};
    switch (which) {
    case 0: return 3 + i;
    case 1: return 3 * i;
    case 2: return at[i / (n / 4)] + i % (n / 4);
    default: return i < n / 2 ? i : i + 3;
    }
}

static int length(int which, int round)
{
    return which == 2 ? 32 : round % 5 == 4 && which == 0 ? DOUBLES : 8 + round % 40;
}

static double word(int rank, int k, int round, int i) { return ((rank * THREADS + k) * ROUNDS + round) * 2048.0 + i; }

static void *run(void *arg)
{
    int k = (int)(intptr_t)arg;
    double *out = calloc(3 * DOUBLES, sizeof *out), *in = calloc(3 * DOUBLES, sizeof *in);
    for (int round = 0; round < ROUNDS; round++) {
        int which = (round + k) % LAYOUTS, n = length(which, round), count = -1;
        MPI_Datatype sent = layout(which, n), got = layout(which, n);
        MPI_Request q[2];
        MPI_Status s[2];
        for (int i = 0; i < n; i++) out[place(which, n, i)] = word(check_rank, k, round, i);
        if (round % 3 == 2) {
            MPI_Sendrecv(out, 1, sent, next, k, in, 1, got, previous, k, MPI_COMM_WORLD, &s[0]);
            MPI_Type_free(&got);
        } else {
            MPI_Irecv(in, 1, got, previous, k, MPI_COMM_WORLD, &q[0]);
            MPI_Type_free(&got);
            MPI_Isend(out, 1, sent, next, k, MPI_COMM_WORLD, &q[1]);
            MPI_Waitall(2, q, s);
        }
        MPI_Get_count(&s[0], sent, &count);
        CHECK_EQ(count, 1);
        CHECK_EQ(s[0].MPI_TAG, k);
        for (int i = 0; i < n; i++) CHECK(in[place(which, n, i)] == word(previous, k, round, i));
        MPI_Type_free(&sent);
    }
    free(out);
    free(in);
    return NULL;
}

/* Probes for what nobody sends. */
static void *disturb(void *arg)
{
    int flag = 0;
    (void)arg;
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED) && !flag) {
        MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        for (volatile int i = 0; i < 20000; i++) {}
    }
    CHECK_EQ(flag, 0);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS], other;
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    if (provided == MPI_THREAD_MULTIPLE) {
        next = (check_rank + 1) % check_size;
        previous = (check_rank + check_size - 1) % check_size;
        pthread_create(&other, NULL, disturb, NULL);
        for (int k = 0; k < THREADS; k++) pthread_create(&threads[k], NULL, run, (void *)(intptr_t)k);
        for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
        __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
        pthread_join(other, NULL);
    }
    return check_end();
}
