/* Threads with nonblocking and persistent collectives, each on a communicator of its own; requests that one thread
 * starts and another waits for, and that all threads together complete. A function of the program is called by some
 * thread of the program that is inside MPI. */
/* ranks: 1 2 3 4 */
/* needs: MPI_Iallreduce MPI_Allreduce_init */
#include "forms.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60, AT_ONCE = FORMS_OPS, HANDED = 400 };

static forms_world world[THREADS];
static __thread int inside; /* a call of MPI */
static __thread int of_program;

/* Every call of MPI that may carry out a reduction stands in this. */
#define IN_MPI(call) (inside = 1, (call), inside = 0)

/* Takes the right argument, so that it does not commute. */
static void right(void *in, void *inout, int *n, MPI_Datatype *type)
{
    CHECK(of_program && inside && *type == MPI_INT && *n >= 0);
    (void)in, (void)inout;
}

/* All operations at once; reductions by a function of the program as well. */
static void *own(void *arg)
{
    int k = (int)(intptr_t)arg;
    const forms_world *w = &world[k];
    forms_case c[AT_ONCE];
    MPI_Request q[AT_ONCE], last;
    MPI_Op op;
    of_program = 1;
    MPI_Op_create(right, 0, &op);
    for (int round = 0; round < ROUNDS; round++) {
        int in[300], out[300], persistent = round % 3 == 2, flag = 0;
        for (int i = 0; i < AT_ONCE; i++) {
            int n = (i + round) % 5 == 0 ? 8000 : 7 * i;
            int in_place = (i + round) % 2 && forms_may_be_in_place(i);
            forms_make(&c[i], w, i, n, 0, (i + round) % w->size, in_place, round % 2);
            forms_fill(&c[i], round);
            IN_MPI(forms_call(&c[i].args, i, persistent ? FORMS_PERSISTENT : FORMS_NONBLOCKING, &q[i]));
        }
        if (persistent) IN_MPI(MPI_Startall(AT_ONCE, q));
        for (int i = 0; i < 300; i++) in[i] = 1000 * w->rank + i + k, out[i] = -1;
        IN_MPI(MPI_Iallreduce(in, out, 300, MPI_INT, op, w->comm, &last));
        if (round % 2) IN_MPI(MPI_Waitall(AT_ONCE, q, MPI_STATUSES_IGNORE));
        else
            for (; !flag; sched_yield()) IN_MPI(MPI_Testall(AT_ONCE, q, &flag, MPI_STATUSES_IGNORE));
        IN_MPI(MPI_Wait(&last, MPI_STATUS_IGNORE));
        for (int i = 0; i < 300; i++) CHECK_EQ(out[i], 1000 * (w->size - 1) + i + k);
        for (int i = 0; i < AT_ONCE; i++) {
            forms_check(&c[i], "in a thread");
            forms_free(&c[i]);
            if (persistent) MPI_Request_free(&q[i]);
        }
    }
    MPI_Op_free(&op);
    return NULL;
}

/* A queue of requests from the thread that starts them to those that complete them. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    forms_case c[HANDED];
    MPI_Request q[HANDED];
    int filled, taken;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static void *starts(void *arg)
{
    (void)arg;
    of_program = 1;
    for (int i = 0; i < HANDED; i++) {
        int op = i % FORMS_OPS, persistent = i % 2;
        forms_make(&queue.c[i], &world[0], op, i % 3 ? 20 : 3000, 0, i % world[0].size, 0, 0);
        forms_fill(&queue.c[i], i);
        forms_call(&queue.c[i].args, op, persistent ? FORMS_PERSISTENT : FORMS_NONBLOCKING, &queue.q[i]);
        if (persistent) MPI_Start(&queue.q[i]);
        pthread_mutex_lock(&queue.lock);
        queue.filled++;
        pthread_cond_broadcast(&queue.more);
        pthread_mutex_unlock(&queue.lock);
    }
    return NULL;
}

static void *completes(void *arg)
{
    int way = (int)(intptr_t)arg;
    of_program = 1;
    for (;;) {
        pthread_mutex_lock(&queue.lock);
        while (queue.taken == queue.filled && queue.taken < HANDED) pthread_cond_wait(&queue.more, &queue.lock);
        int i = queue.taken;
        if (i < HANDED) queue.taken++;
        pthread_mutex_unlock(&queue.lock);
        if (i == HANDED) return NULL;
        if (way) MPI_Wait(&queue.q[i], MPI_STATUS_IGNORE);
        else
            for (int flag = 0; !flag; sched_yield()) MPI_Test(&queue.q[i], &flag, MPI_STATUS_IGNORE);
        forms_check(&queue.c[i], "for another thread");
        forms_free(&queue.c[i]);
        if (queue.q[i] != MPI_REQUEST_NULL) MPI_Request_free(&queue.q[i]);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int provided;
    MPI_Comm comm[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    CHECK(check_size <= 8);
    if (provided == MPI_THREAD_MULTIPLE) {
        for (int k = 0; k < THREADS; k++) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm[k]);
            world[k] = forms_world_of(comm[k], 0);
        }
        for (int k = 0; k < THREADS; k++) pthread_create(&thread[k], NULL, own, (void *)(intptr_t)k);
        for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
        for (int k = 0; k < THREADS; k++)
            pthread_create(&thread[k], NULL, k ? completes : starts, (void *)(intptr_t)(k % 2));
        for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
        for (int k = 0; k < THREADS; k++) {
            forms_world_free(&world[k]);
            MPI_Comm_free(&comm[k]);
        }
    }
    return check_end();
}
