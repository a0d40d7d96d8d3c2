/* The bridge's C under the thread sanitizer: two ranks in one process, each a copy of the bridge's C over a small
 * engine (engine.c), on rings and boards in memory that they share. Some threads of each rank send, post, wait and
 * test at the same time, and each has a communicator of its own for collectives. All threads accumulate to windows,
 * and one of each rank fences, locks, and begins and ends other epochs. Others ask for attributes while these change.
 * The sanitizer ends the program with 66 if two of them race.
 *
 *   threads RANK0.so RANK1.so */
#define _GNU_SOURCE
#include "engine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 250, MANY = 8 };

/* The functions under test. */
#define FUNCTIONS(F) F(Send) F(Isend) F(Sendrecv) F(Recv) F(Irecv) F(Wait) F(Waitall) F(Test) F(Testall) \
    F(Comm_rank) F(Comm_size) F(Type_size) F(Get_count) F(Barrier) F(Bcast) F(Reduce) F(Allreduce) \
        F(Put) F(Get) F(Accumulate) F(Fetch_and_op) F(Compare_and_swap) F(Win_lock) F(Win_unlock) F(Win_fence) \
            F(Win_post) F(Win_start) F(Win_complete) F(Win_wait)
#define DECLARE(name) __typeof__(&MPI_##name) name;

struct rank {
    FUNCTIONS(DECLARE)
    engine_open *open;
    engine_counts *counts;
    MPI_Comm comms[COMMS];
    MPI_Win windows[WINDOWS];
    pthread_barrier_t all;
    MPI_Request given[THREADS][MANY]; /* from each thread to the next */
    int me, over;
};

#define CHECK(fact) \
    do { if (!(fact)) { fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #fact); abort(); } } while (0)

struct thread {
    struct rank *r;
    int k;
    int in[MANY][EAGER / 4], out[MANY][EAGER / 4];
};

static int number(int rank, int k, int step, int m) { return ((rank * THREADS + k) * STEPS + step) * MANY + m; }

static int length(int step, int m) { return 1 + (step * 7 + m * 131) % (EAGER / 4 - 1); }

static void fill(struct thread *t, int step)
{
    for (int m = 0; m < MANY; m++)
        for (int i = 0; i < length(step, m); i++) t->out[m][i] = number(t->r->me, t->k, step, m);
}

static void received(const struct thread *t, int k, int step, int m, const int *in, const MPI_Status *s)
{
    int n = -1, last = length(step, m) - 1;
    t->r->Get_count(s, MPI_INT, &n);
    CHECK(n == last + 1 && s->MPI_SOURCE == 1 - t->r->me && s->MPI_TAG == k * MANY + m);
    CHECK(in[0] == number(1 - t->r->me, k, step, m) && in[last] == in[0]);
}

static void receive_all(struct thread *t, MPI_Comm comm, MPI_Request *q, int any)
{
    for (int m = 0; m < MANY; m++)
        t->r->Irecv(t->in[m], EAGER / 4, MPI_INT, any && m == 3 ? MPI_ANY_SOURCE : 1 - t->r->me, t->k * MANY + m, comm,
                    &q[m]);
}

static void send_all(struct thread *t, MPI_Comm comm, int step, MPI_Request *q)
{
    for (int m = 0; m < MANY; m++) {
        t->r->Isend(t->out[m], length(step, m), MPI_INT, 1 - t->r->me, t->k * MANY + m, comm, &q[m]);
    }
}

/* Receives, with one from any source among them on every other step, completed in four ways. */
static void many(struct thread *t, MPI_Comm comm, int step, int way)
{
    MPI_Request in[MANY], out[MANY];
    MPI_Status s[MANY];
    int flag = 0;
    receive_all(t, comm, in, step % 2);
    send_all(t, comm, step, out);
    switch (way) {
    case 0: t->r->Waitall(MANY, in, s); break;
    case 1:
        for (int m = MANY - 1; m >= 0; m--) t->r->Wait(&in[m], &s[m]);
        break;
    case 2:
        while (!flag) t->r->Testall(MANY, in, &flag, s);
        break;
    case 3:
        for (int m = 0; m < MANY; m++)
            for (flag = 0; !flag;) t->r->Test(&in[m], &flag, &s[m]);
        break;
    }
    for (int m = 0; m < MANY; m++) received(t, t->k, step, m, t->in[m], &s[m]);
    t->r->Waitall(MANY, out, MPI_STATUSES_IGNORE);
}

/* What one thread posts another completes. */
static void handed_over(struct thread *t, MPI_Comm comm, int step)
{
    struct rank *r = t->r;
    int from = (t->k + 1) % THREADS;
    MPI_Request out[MANY];
    MPI_Status s;
    receive_all(t, comm, r->given[t->k], 0);
    pthread_barrier_wait(&r->all);
    send_all(t, comm, step, out);
    for (int m = 0; m < MANY; m++) {
        r->Wait(&r->given[from][m], &s);
        CHECK(s.MPI_TAG == from * MANY + m);
    }
    r->Waitall(MANY, out, MPI_STATUSES_IGNORE);
    pthread_barrier_wait(&r->all);
    for (int m = 0; m < MANY; m++) CHECK(t->in[m][0] == number(1 - r->me, t->k, step, m));
}

static void one_by_one(struct thread *t, MPI_Comm comm, int step)
{
    struct rank *r = t->r;
    int peer = 1 - r->me, rank = -1, size = -1;
    MPI_Status s;
    for (int m = 0; m < MANY; m++) {
        int tag = t->k * MANY + m, n = length(step, m);
        if (m % 3 == 0) {
            r->Sendrecv(t->out[m], n, MPI_INT, peer, tag, t->in[m], EAGER / 4, MPI_INT, peer, tag, comm, &s);
        } else if (m % 2 == r->me) {
            r->Send(t->out[m], n, MPI_INT, peer, tag, comm);
            r->Recv(t->in[m], EAGER / 4, MPI_INT, peer, tag, comm, &s);
        } else {
            r->Recv(t->in[m], EAGER / 4, MPI_INT, m % 4 ? peer : MPI_ANY_SOURCE, tag, comm, &s);
            r->Send(t->out[m], n, MPI_INT, peer, tag, comm);
        }
        received(t, t->k, step, m, t->in[m], &s);
        r->Comm_rank(comm, &rank);
        r->Comm_size(comm, &size);
        CHECK(rank == r->me && size == RANKS);
    }
}

/* All threads of both ranks. */
static pthread_barrier_t everybody;

/* There is a message for each thread, and any will do: all reach for them at once, by receives that are posted before
 * they come or after. */
static void whatever(struct thread *t, int step, int posted)
{
    struct rank *r = t->r;
    int peer = 1 - r->me;
    for (int round = 0; round < MANY; round++) {
        MPI_Request q = MPI_REQUEST_NULL;
        MPI_Status s;
        pthread_barrier_wait(&everybody);
        if (posted) r->Irecv(t->in[0], EAGER / 4, MPI_INT, peer, MPI_ANY_TAG, r->comms[0], &q);
        pthread_barrier_wait(&everybody);
        r->Send(t->out[0], 1, MPI_INT, peer, t->k, r->comms[0]);
        pthread_barrier_wait(&everybody);
        if (posted)
            r->Wait(&q, &s);
        else
            r->Recv(t->in[0], EAGER / 4, MPI_INT, peer, MPI_ANY_TAG, r->comms[0], &s);
        CHECK(s.MPI_SOURCE == peer && s.MPI_TAG >= 0 && s.MPI_TAG < THREADS);
        CHECK(t->in[0][0] == number(peer, s.MPI_TAG, step, 0));
    }
    pthread_barrier_wait(&everybody);
}

/* More operations than a board has slots, of those who wait for nobody first. Parts take a line, or a wide slot. */
static void collectives(struct thread *t, int step)
{
    enum { TURNS = 80, MOST = 200 };
    struct rank *r = t->r;
    MPI_Comm comm = r->comms[t->k + 1];
    int root = step / 7 % RANKS, sum[MOST], data[MOST];
    for (int i = 0; i < TURNS; i++) {
        int n = i % 8 ? 3 : MOST;
        for (int k = 0; k < n; k++) data[k] = r->me == root ? i + k : -1;
        r->Bcast(data, n, MPI_INT, root, comm);
        for (int k = 0; k < n; k++) CHECK(data[k] == i + k);
    }
    for (int i = 0; i < TURNS; i++) {
        int one = i + r->me;
        r->Reduce(&one, sum, 1, MPI_INT, MPI_SUM, root, comm);
        CHECK(r->me != root || sum[0] == 2 * i + 1);
    }
    for (int i = 0; i < TURNS; i++) {
        int n = i % 8 ? 3 : MOST;
        for (int k = 0; k < n; k++) data[k] = i + k + r->me;
        r->Allreduce(data, sum, n, MPI_INT, MPI_SUM, comm);
        for (int k = 0; k < n; k++) CHECK(sum[k] == 2 * (i + k) + 1);
        r->Barrier(comm);
    }
}

enum { ADDITIONS = 30, LOCKS = 20 };
static struct memory together;

/* All threads of both ranks count, in three ways, and those of each rank that may fence and lock do so. */
static void windows(struct thread *t, int step)
{
    struct rank *r = t->r;
    int one = 1, old = 0, peer = 1 - r->me, in;
    for (int i = 0; i < ADDITIONS; i++) {
        int to = (i + t->k) % RANKS;
        r->Accumulate(&one, 1, MPI_INT, to, 0, 1, MPI_INT, MPI_SUM, r->windows[ALL]);
        r->Fetch_and_op(&one, &old, MPI_INT, to, 0, MPI_SUM, r->windows[ALL]);
        for (int seen = old + 1; seen != old;) {
            old = seen;
            int next = old + 1;
            r->Compare_and_swap(&next, &old, &seen, MPI_INT, to, 0, r->windows[ALL]);
        }
    }
    for (int i = 0; i < LOCKS && t->k == 0; i++) {
        int *mine = together.cells[ONE][r->me], value = step * LOCKS + i, to = (i + r->me) % RANKS;
        r->Win_fence(0, r->windows[ONE]);
        r->Put(&value, 1, MPI_INT, peer, 1, 1, MPI_INT, r->windows[ONE]);
        r->Win_fence(0, r->windows[ONE]);
        CHECK(mine[1] == value);
        mine[2] = value;
        r->Win_fence(0, r->windows[ONE]);
        r->Get(&in, 1, MPI_INT, peer, 2, 1, MPI_INT, r->windows[ONE]);
        r->Win_fence(MPI_MODE_NOSUCCEED, r->windows[ONE]);
        CHECK(in == value);
        r->Win_post(MPI_GROUP_EMPTY, 0, r->windows[ONE]);
        r->Win_start(MPI_GROUP_EMPTY, 0, r->windows[ONE]);
        r->Put(&value, 1, MPI_INT, peer, 3, 1, MPI_INT, r->windows[ONE]);
        r->Win_complete(r->windows[ONE]);
        r->Win_wait(r->windows[ONE]);
        CHECK(mine[3] == value);
        r->Win_lock(i % 3 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, to, 0, r->windows[ONE]);
        r->Get(&in, 1, MPI_INT, to, 0, 1, MPI_INT, r->windows[ONE]);
        in++;
        if (i % 3) r->Put(&in, 1, MPI_INT, to, 0, 1, MPI_INT, r->windows[ONE]);
        r->Win_unlock(to, r->windows[ONE]);
    }
}

/* What they have counted. */
static void counted(int times)
{
    int locked = 0, all = 0;
    for (int i = 0; i < LOCKS; i++) locked += i % 3 != 0;
    for (int r = 0; r < RANKS; r++) all += together.cells[ALL][r][0];
    CHECK(all == times * RANKS * THREADS * ADDITIONS * 3);
    CHECK(together.cells[ONE][0][0] + together.cells[ONE][1][0] == times * RANKS * locked);
}

static void *run(void *arg)
{
    struct thread *t = arg;
    for (int step = 0; step < STEPS; step++) {
        MPI_Comm comm = t->r->comms[step % 3 ? 0 : t->k + 1]; /* the one that all share, or the thread's own */
        fill(t, step);
        if (step % 7 == 0) collectives(t, step);
        if (step % 7 == 3) windows(t, step);
        switch (step % 6) {
        case 4: one_by_one(t, comm, step); break;
        case 5: handed_over(t, comm, step); break;
        case 3: whatever(t, step, step % 4 == 1); break;
        default: many(t, comm, step, (step + t->k) % 4);
        }
    }
    return NULL;
}

/* What is only looked up is there all the time. */
static void *ask(void *arg)
{
    struct rank *r = arg;
    while (!__atomic_load_n(&r->over, __ATOMIC_RELAXED)) {
        int rank = -1, size = 0;
        r->Comm_rank(MPI_COMM_WORLD, &rank);
        CHECK(rank == r->me);
        r->Type_size(MPI_INT, &size);
        CHECK(size == 4);
        sched_yield();
    }
    return NULL;
}

static void *symbol(void *library, const char *name)
{
    void *f = dlsym(library, name);
    CHECK(f);
    return f;
}

#define FIND(name) r->name = (__typeof__(r->name))symbol(library, "PMPI_" #name);

static void load(struct rank *r, const char *path, struct impi_shm_private *shm)
{
    enum {
        WIDE = IMPI_SHM_BOARD_WIDE_SLOTS * sizeof(struct impi_shm_board_wide),
        BYTES = sizeof(struct impi_shm_board) + RANKS * (sizeof(struct impi_shm_board_member) + WIDE)
    };
    static _Alignas(64) unsigned char memory[COMMS][BYTES];
    void *boards[COMMS];
    for (int i = 0; i < COMMS; i++) boards[i] = memory[i];
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    FUNCTIONS(FIND)
    r->open = (engine_open *)symbol(library, "open_engine");
    r->counts = (engine_counts *)symbol(library, "counts");
    r->me = (int)shm->local_rank;
    pthread_barrier_init(&r->all, NULL, THREADS);
    r->open(shm, r->comms, boards, &together, r->windows);
}

/* The rings between the ranks, and what each knows of them. */
static struct impi_shm_private *segment(int me)
{
    static struct impi_shm_control ctl[RANKS];
    static struct impi_shm_position pos[RANKS]; /* by reader */
    static _Alignas(64) unsigned char ring[RANKS][RING];
    struct impi_shm_private *p = calloc(1, sizeof *p + RANKS * sizeof p->peers[0]);
    int peer = 1 - me;
    p->segment = (unsigned char *)&ctl[me];
    p->local_size = RANKS, p->local_rank = (uint32_t)me, p->ring_bytes = RING;
    p->peers[peer].out = (struct impi_shm_outbound){.limit = RING, .ring = ring[peer], .pos = &pos[peer],
        .ctl = &ctl[peer]};
    p->peers[peer].in = (struct impi_shm_inbound){.ring = ring[me], .pos = &pos[me], .ctl = &ctl[peer],
        .ring_bytes = RING, .max_payload = MAX_PAYLOAD};
    return p;
}

int main(int argc, char **argv)
{
    static struct rank ranks[RANKS];
    static struct thread threads[RANKS][THREADS];
    pthread_t worker[RANKS][THREADS], asking[RANKS];
    CHECK(argc == 1 + RANKS);
    pthread_barrier_init(&everybody, NULL, RANKS * THREADS);
    for (int r = 0; r < RANKS; r++) load(&ranks[r], argv[1 + r], segment(r));
    for (int r = 0; r < RANKS; r++) {
        pthread_create(&asking[r], NULL, ask, &ranks[r]);
        for (int k = 0; k < THREADS; k++) {
            threads[r][k].r = &ranks[r];
            threads[r][k].k = k;
            pthread_create(&worker[r][k], NULL, run, &threads[r][k]);
        }
    }
    for (int r = 0; r < RANKS; r++)
        for (int k = 0; k < THREADS; k++) pthread_join(worker[r][k], NULL);
    for (int r = 0; r < RANKS; r++) {
        unsigned long calls = 0, adopted = 0;
        __atomic_store_n(&ranks[r].over, 1, __ATOMIC_RELAXED);
        pthread_join(asking[r], NULL);
        ranks[r].counts(&calls, &adopted);
        CHECK(calls > 0 && adopted > 0); /* both sides have had their share */
    }
    counted((STEPS + 3) / 7);
    return 0;
}
