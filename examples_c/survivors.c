/* survivors.c - a pool of workers that goes on when workers die.
 *
 *   mpiexec -with-ft ulfm -n 4 ./survivors [tasks [rank task]...]
 *
 * Rank 0 hands out tasks, each of which is to count the primes in an interval. A worker that dies costs its task,
 * which somebody else gets: the manager, if there is no worker left. To see it, a worker kills itself when it is given
 * its task-th task: "survivors 500 1 3 2 10" loses rank 1 with its third, and rank 2 with its tenth. The answer is the
 * same, and is compared with one that the manager computes by itself.
 *
 * The manager has one receive, from any worker. When a worker is lost, that receive pends: the message that it waits
 * for might have been the one that never comes. So the manager looks who is lost, acknowledges that it knows, and
 * waits again.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { INTERVAL = 1000, MOST = 100000 }; /* numbers in a task; tasks */
enum { NOBODY = -1, DONE = -2 };         /* who is at a task, if no worker is */
enum { IDLE = -1, LOST = -2 };           /* what a worker is at, if it is no task */

typedef struct {
    int tasks, open;         /* how many there are; how many are not done */
    int *who;                /* by task: the worker that is at it, NOBODY or DONE */
    int workers, *at;        /* by rank: the task that it is at, IDLE or LOST */
    int lost, again;         /* workers that were lost; tasks that were given again */
    long primes;
} Pool;

static long primes_in(int task)
{
    long found = 0;
    for (long n = (long)task * INTERVAL; n < (long)(task + 1) * INTERVAL; n++) {
        int prime = n > 1;
        for (long d = 2; d * d <= n && prime; d++) prime = n % d != 0;
        found += prime;
    }
    return found;
}

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void *room(size_t n)
{
    void *p = malloc(n);
    if (!p) MPI_Abort(MPI_COMM_WORLD, 1);
    return p;
}

/* Every idle worker gets a task. To send one to a worker that is lost fails; count_losses takes it back. */
static void give(Pool *p)
{
    for (int w = 1, task = 0; w < p->workers; w++) {
        if (p->at[w] != IDLE) continue;
        while (task < p->tasks && p->who[task] != NOBODY) task++;
        if (task == p->tasks) return;
        p->at[w] = task;
        p->who[task] = w;
        MPI_Send(&task, 1, MPI_INT, w, 0, MPI_COMM_WORLD);
    }
}

/* Acknowledge the losses of which we know, and take the tasks of those workers back. */
static void count_losses(Pool *p)
{
    MPI_Group all, lost;
    int n, acknowledged;
    MPIX_Comm_get_failed(MPI_COMM_WORLD, &lost);
    MPI_Group_size(lost, &n);
    MPIX_Comm_ack_failed(MPI_COMM_WORLD, n, &acknowledged);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < n; i++) {
        int w;
        MPI_Group_translate_ranks(lost, 1, &i, all, &w);
        if (p->at[w] == LOST) continue;
        if (p->at[w] != IDLE) {
            p->who[p->at[w]] = NOBODY;
            p->again++;
        }
        p->at[w] = LOST;
        p->lost++;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&lost);
}

/* A task is done, by a worker or by the manager. */
static void finish(Pool *p, int task, long primes)
{
    if (p->who[task] == DONE) return; /* by a worker whose loss was known before its message was received */
    if (p->who[task] > 0 && p->at[p->who[task]] == task) p->at[p->who[task]] = IDLE;
    p->who[task] = DONE;
    p->open--;
    p->primes += primes;
}

/* Wait for a result. Returns 0 if nobody is left who could send one. */
static int collect(Pool *p)
{
    long result[2]; /* the task, its primes */
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Irecv(result, 2, MPI_LONG, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
    while (code == MPI_SUCCESS || class_of(code) == MPIX_ERR_PROC_FAILED_PENDING) {
        if (p->lost == p->workers - 1) break;
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS) {
            finish(p, (int)result[0], result[1]);
            return 1;
        }
        count_losses(p);
        give(p);
    }
    if (request != MPI_REQUEST_NULL) {
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return 0;
}

static int manage(int tasks, int size)
{
    Pool p = {.tasks = tasks, .open = tasks, .workers = size};
    long right = 0;
    int stop = -1;
    p.who = room(sizeof *p.who * (size_t)tasks);
    p.at = room(sizeof *p.at * (size_t)size);
    for (int t = 0; t < tasks; t++) p.who[t] = NOBODY;
    for (int w = 0; w < size; w++) p.at[w] = IDLE;
    do give(&p);
    while (p.open > 0 && collect(&p));
    for (int t = 0; t < tasks; t++) /* nobody else is left */
        if (p.who[t] != DONE) finish(&p, t, primes_in(t));
    for (int w = 1; w < size; w++) MPI_Send(&stop, 1, MPI_INT, w, 0, MPI_COMM_WORLD);

    for (int t = 0; t < tasks; t++) right += primes_in(t);
    printf("%d of %d workers lost, %d tasks given again\n", p.lost, size - 1, p.again);
    printf("answer: %ld primes below %ld, %s\n", p.primes, (long)tasks * INTERVAL,
           p.primes == right ? "right" : "WRONG");
    free(p.who);
    free(p.at);
    return p.primes != right;
}

/* A worker ends when it is told to, or if the manager is lost. It dies with its last-th task. */
static int work(int last)
{
    for (int n = 1, task;; n++) {
        int code = MPI_Recv(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) return 1;
        if (task < 0) return 0;
        if (n == last) raise(SIGKILL);
        long result[2] = {task, primes_in(task)};
        if (MPI_Send(result, 2, MPI_LONG, 0, 0, MPI_COMM_WORLD) != MPI_SUCCESS) return 1;
    }
}

int main(int argc, char **argv)
{
    int rank, size, last = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int tasks = argc > 1 ? atoi(argv[1]) : 500;
    if (tasks < 1 || tasks > MOST) {
        if (rank == 0) fprintf(stderr, "usage: survivors [tasks [rank task]...]\n");
        MPI_Finalize();
        return 2;
    }
    for (int i = 2; i + 1 < argc; i += 2)
        if (atoi(argv[i]) == rank) last = atoi(argv[i + 1]);
    int failed = rank == 0 ? manage(tasks, size) : work(last);
    MPI_Finalize();
    return failed;
}
