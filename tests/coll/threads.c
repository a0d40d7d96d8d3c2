/* Threads that make short collectives at the same time, each on communicators of its own, which it makes and frees,
 * beside messages of another thread. Threads may not make communicators that span clients at the same time (IMPI 0.0,
 * 4.3). */
/* ranks: 1 2 3 4 */
/* clients: none */
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 40, STEPS = 60 };

static void short_ones(MPI_Comm comm, int k, int round)
{
    for (int i = 0; i < STEPS; i++) {
        int root = (i + k) % check_size, word = check_rank == root ? k * 1000 + i : -1;
        double in = check_rank + i + round, sum = -1;
        MPI_Bcast(&word, 1, MPI_INT, root, comm);
        CHECK_EQ(word, k * 1000 + i);
        MPI_Allreduce(&in, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        CHECK(sum == check_size * (check_size - 1) / 2 + (i + round) * check_size);
        sum = -1;
        MPI_Reduce(&in, &sum, 1, MPI_DOUBLE, MPI_MAX, root, comm);
        CHECK(sum == (check_rank == root ? check_size - 1 + i + round : -1));
        if (i % 8 == 0) MPI_Barrier(comm);
    }
}

static void messages(MPI_Comm comm)
{
    static char in[1 << 17], out[1 << 17];
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < ROUNDS * 4; i++)
        MPI_Sendrecv(out, i * 800, MPI_CHAR, next, 1, in, i * 800, MPI_CHAR, previous, 1, comm, MPI_STATUS_IGNORE);
}

static MPI_Comm parent[THREADS];

static void *run(void *arg)
{
    int k = (int)(intptr_t)arg;
    if (k == 0) {
        messages(parent[0]);
        return NULL;
    }
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(parent[k], &comm);
        short_ones(comm, k, round);
        short_ones(parent[k], k, round);
        MPI_Comm_free(&comm);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    if (provided == MPI_THREAD_MULTIPLE) {
        for (int k = 0; k < THREADS; k++) MPI_Comm_dup(MPI_COMM_WORLD, &parent[k]);
        for (int k = 0; k < THREADS; k++) pthread_create(&thread[k], NULL, run, (void *)(intptr_t)k);
        for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
        for (int k = 0; k < THREADS; k++) MPI_Comm_free(&parent[k]);
    }
    return check_end();
}
