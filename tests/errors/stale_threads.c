/* Two threads that free one handle, or receive one message: one of them has it, and the other gets an error. Only
 * libimpi promises that; elsewhere nothing is tested. */
/* ranks: 1 */ /* each does the same, by itself */
/* clients: none */
#include "stale_kinds.h"
#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 800 };

static const struct kind *kind;
static uintptr_t shared;
static int started, ended; /* rounds, by the first thread and by the other */

/* Looks rather than sleeps: both threads are to try at the same time. */
static void await(const int *count, int n)
{
    for (int looks = 0; __atomic_load_n(count, __ATOMIC_ACQUIRE) < n; looks++)
        if (looks > 1000) sched_yield();
}

static int try_to_end(void)
{
    uintptr_t h = shared;
    int code = kind->end(&h);
    CHECK_SAY(code == MPI_SUCCESS ? h == kind->null : h == shared && class_of(code) == kind->class,
              "%s: class %d, and handle %#lx", kind->name, class_of(code), (long)h);
    return code == MPI_SUCCESS;
}

static void *other(void *had)
{
    for (int i = 0; i < ROUNDS; i++) {
        await(&started, i + 1);
        *(int *)had += try_to_end();
        __atomic_store_n(&ended, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void race(const struct kind *k)
{
    pthread_t thread;
    int here = 0, there = 0;
    kind = k;
    started = ended = 0;
    CHECK_EQ(pthread_create(&thread, NULL, other, &there), 0);
    for (int i = 0; i < ROUNDS; i++) {
        shared = k->make();
        __atomic_store_n(&started, i + 1, __ATOMIC_RELEASE);
        here += try_to_end();
        await(&ended, i + 1);
        CHECK_SAY(here + there == i + 1, "%s %d of %d: %d ended here and %d there", k->name, i, ROUNDS, here, there);
    }
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (!check_library("libimpi")) return check_end();
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int i = 0; i < KINDS; i++) {
        /* To free a communicator is collective, and a request that two threads wait for is a mistake of its own. */
        if (kinds[i].make == make_comm || kinds[i].make == make_key || kinds[i].class == MPI_ERR_REQUEST) continue;
        race(&kinds[i]);
    }
    return check_end();
}
