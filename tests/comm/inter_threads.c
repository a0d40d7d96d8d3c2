/* Threads that make intercommunicators, duplicate and merge them at the same time, each with communicators of its
 * own. */
/* clients: none */
/* ranks: 2 4 */
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 20 };
static MPI_Comm half[THREADS], bridge[THREADS];

static void *work(void *arg)
{
    int t = (int)(intptr_t)arg, mine = check_rank % 2, want = 0;
    for (int k = !mine; k < check_size; k += 2) want += k + 100 * t;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm inter, dup, merged;
        int value = check_rank + 100 * t, sum = -1, size;
        CHECK_EQ(MPI_Intercomm_create(half[t], 0, bridge[t], !mine, i, &inter), MPI_SUCCESS);
        CHECK_EQ(MPI_Comm_dup(inter, &dup), MPI_SUCCESS);
        CHECK_EQ(MPI_Intercomm_merge(inter, mine, &merged), MPI_SUCCESS);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, dup);
        CHECK_EQ(sum, want);
        MPI_Comm_size(merged, &size);
        CHECK_EQ(size, check_size);
        value = t;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_MAX, merged);
        CHECK_EQ(sum, t);
        MPI_Comm_free(&merged);
        MPI_Comm_free(&dup);
        MPI_Comm_free(&inter);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_t thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
            MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half[t]);
            MPI_Comm_dup(MPI_COMM_WORLD, &bridge[t]);
        }
        for (int t = 0; t < THREADS; t++) pthread_create(&thread[t], NULL, work, (void *)(intptr_t)t);
        for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
        for (int t = 0; t < THREADS; t++) {
            MPI_Comm_free(&half[t]);
            MPI_Comm_free(&bridge[t]);
        }
    }
    return check_end();
}
