/* Threads that make and free duplicates, groups and windows of communicators at the same time, each of its own, which
 * span all clients. Beside a client that is another implementation IMPI's rule lets only one thread at a time do so:
 * there a call may fail, but then at all members, and what is made is right. */
/* ranks: 2 4 */
#include "../check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 25 };
static MPI_Comm own[THREADS];
static int ruled; /* IMPI's rule chooses context ids */

/* Whether a call has failed, as it may where the rule chooses: then at all members of the communicator. */
static int failed(int code, MPI_Comm of)
{
    int mine = code != MPI_SUCCESS, all = -1;
    if (!ruled) {
        CHECK_EQ(code, MPI_SUCCESS);
        return 0;
    }
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, of);
    CHECK(all == 0 || all == check_size);
    return all;
}

static void use(MPI_Comm c, int value)
{
    int size, mine = value, sum = -1, in = -1, r;
    MPI_Comm_size(c, &size);
    MPI_Comm_rank(c, &r);
    for (int i = 0; i < 3; i++) {
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, c);
        CHECK_EQ(sum, size * value);
        MPI_Sendrecv(&mine, 1, MPI_INT, (r + 1) % size, 1, &in, 1, MPI_INT, (r + size - 1) % size, 1, c,
                     MPI_STATUS_IGNORE);
        CHECK_EQ(in, value);
    }
}

static void window(MPI_Comm c, int value)
{
    MPI_Win w;
    int *memory, in = -1, r, size;
    MPI_Comm_rank(c, &r);
    MPI_Comm_size(c, &size);
    CHECK_EQ(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, c, &memory, &w), MPI_SUCCESS);
    MPI_Win_fence(0, w);
    MPI_Put(&value, 1, MPI_INT, (r + 1) % size, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    CHECK_EQ(*memory, value);
    MPI_Get(&in, 1, MPI_INT, (r + 1) % size, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    CHECK_EQ(in, value);
    CHECK_EQ(MPI_Win_free(&w), MPI_SUCCESS);
}

static void *work(void *arg)
{
    int t = (int)(intptr_t)arg;
    MPI_Group all;
    MPI_Comm_group(own[t], &all);
    for (int i = 0; i < ROUNDS; i++) {
        int value = 1000 * t + i;
        MPI_Comm c = MPI_COMM_NULL, d, copy[2];
        MPI_Request q[2];
        if (!failed(MPI_Comm_dup(own[t], &c), own[t])) {
            use(c, value);
            if (!failed(MPI_Comm_split(c, 0, -check_rank, &d), c)) {
                use(d, value + 1);
                MPI_Comm_free(&d);
            }
            MPI_Comm_free(&c);
        }
        CHECK_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, all, t << 20 | 77, &d), MPI_SUCCESS); /* tags of all 31 bits */
        use(d, value + 2);
        MPI_Comm_free(&d);
        for (int k = 0; k < 2; k++) CHECK_EQ(MPI_Comm_idup(own[t], &copy[k], &q[k]), MPI_SUCCESS);
        CHECK_EQ(MPI_Waitall(2, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        for (int k = 0; k < 2; k++) {
            use(copy[k], value + 3 + k);
            MPI_Comm_free(&copy[k]);
        }
        if (!ruled && i % 5 == 0) window(own[t], value);
    }
    MPI_Group_free(&all);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    const char *plain = getenv("IMPI_PLAIN");
    ruled = plain && *plain == '1' && check_spans();
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_t thread[THREADS];
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, ruled ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL);
        for (int t = 0; t < THREADS; t++) MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
        for (int t = 0; t < THREADS; t++) pthread_create(&thread[t], NULL, work, (void *)(intptr_t)t);
        for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
        for (int t = 0; t < THREADS; t++) MPI_Comm_free(&own[t]);
    }
    return check_end();
}
