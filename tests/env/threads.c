/* MPI_THREAD_MULTIPLE: four threads a rank exchange with their like, then use communicators of their own at the same
 * time. */
/* ranks: 1 2 4 */
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 100, LARGE = 100000 };
static MPI_Comm own[THREADS];

/* Thread k of every rank sends to thread k of the next by tag, small and large in turn. */
static void exchange(int k)
{
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    unsigned char *out = malloc(LARGE), *in = malloc(LARGE);
    for (int i = 0; i < ROUNDS; i++) {
        int n = i % 10 == 9 ? LARGE : i * 7, got = -1;
        MPI_Request request[2];
        MPI_Status status[2];
        check_fill(out, (size_t)n, (uint64_t)(check_rank * THREADS + k) << 20 | (uint64_t)i);
        MPI_Irecv(in, LARGE, MPI_BYTE, previous, k, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, n, MPI_BYTE, next, k, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, status);
        MPI_Get_count(&status[0], MPI_BYTE, &got);
        CHECK_EQ(got, n);
        CHECK_EQ(check_differs(in, (size_t)n, (uint64_t)(previous * THREADS + k) << 20 | (uint64_t)i), -1);
    }
    free(out);
    free(in);
}

static void collect(int k)
{
    for (int i = 0; i < ROUNDS / 4; i++) {
        int mine = check_rank * 100 + i + k, sum = -1, root = (i + k) % check_size, word = check_rank == root
            ? i * 1000 + k : -1;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, own[k]);
        CHECK_EQ(sum, check_size * (check_size - 1) / 2 * 100 + check_size * (i + k));
        MPI_Bcast(&word, 1, MPI_INT, root, own[k]);
        CHECK_EQ(word, i * 1000 + k);
        MPI_Barrier(own[k]);
    }
}

/* One thread blocks in a receive from itself until another thread sends: a library that holds a lock while waiting
 * hangs. */
static void hand_over(int k)
{
    int word = k;
    if (k % 2) {
        MPI_Send(&word, 1, MPI_INT, check_rank, 1000 + k, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&word, 1, MPI_INT, check_rank, 1000 + k + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(word, k + 1);
    }
}

static void *run(void *arg)
{
    int k = (int)(intptr_t)arg, main_thread = -1;
    MPI_Is_thread_main(&main_thread);
    CHECK_EQ(main_thread, 0);
    hand_over(k);
    exchange(k);
    collect(k);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = -1, level = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    MPI_Query_thread(&level);
    CHECK_EQ(level, provided);
    pthread_t thread[THREADS];
    for (int k = 0; k < THREADS; k++) MPI_Comm_dup(MPI_COMM_WORLD, &own[k]);
    for (intptr_t k = 0; k < THREADS; k++) CHECK_EQ(pthread_create(&thread[k], NULL, run, (void *)k), 0);
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) MPI_Comm_free(&own[k]);
    return check_end();
}
