/* Windows of shared memory, loaded from and stored to: what one rank stores, others load, in the order that
 * MPI_Win_sync demands. */
/* needs: MPI_Win_allocate_shared MPI_Win_shared_query MPI_Win_sync MPI_Win_lock_all MPI_Put MPI_Accumulate */
#include "rma.h"
#include <sched.h>
#include <stdatomic.h>

static MPI_Comm node;
static int rank, size;

/* Words that the compiler neither reorders nor keeps in registers. The order between them is MPI_Win_sync's alone. */
typedef _Atomic int word;

static int load(word *at) { return atomic_load_explicit(at, memory_order_relaxed); }
static void store(word *at, int v) { atomic_store_explicit(at, v, memory_order_relaxed); }

/* The memory of a rank of the node. */
static word *of(MPI_Win win, int r)
{
    MPI_Aint bytes;
    int unit;
    word *base;
    CHECK_EQ(MPI_Win_shared_query(win, r, &bytes, &unit, &base), MPI_SUCCESS);
    return base;
}

static MPI_Win open_words(int n, int first_has_all)
{
    MPI_Win win;
    word *base;
    MPI_Aint bytes = (MPI_Aint)sizeof(word) * (!first_has_all ? n : rank == 0 ? n * size : 0);
    CHECK_EQ(MPI_Win_allocate_shared(bytes, sizeof(word), MPI_INFO_NULL, node, &base, &win), MPI_SUCCESS);
    for (MPI_Aint i = 0; i < bytes / (MPI_Aint)sizeof(word); i++) store(&base[i], 0);
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    return win;
}

static void close_words(MPI_Win win)
{
    MPI_Barrier(node);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Store, sync, barrier, sync, load: everyone fills the next rank's memory, or a part of what the first one has. */
static void phases(int first_has_all)
{
    enum { N = 1000 };
    MPI_Win win = open_words(N, first_has_all);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    word *theirs = first_has_all ? of(win, 0) + N * next : of(win, next);
    word *mine = first_has_all ? of(win, 0) + N * rank : of(win, rank);
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < N; i++) store(&theirs[i], rank * 1000 + turn + i);
        MPI_Win_sync(win);
        MPI_Barrier(node);
        MPI_Win_sync(win);
        for (int i = 0; i < N; i++) CHECK_EQ(load(&mine[i]), previous * 1000 + turn + i);
        MPI_Barrier(node);
    }
    close_words(win);
}

/* Message passing: data, sync, flag; whoever sees the flag, and has synced, sees the data. Round the ring. */
static void message_passing(void)
{
    enum { TURNS = 2000, DATA = 16 };
    MPI_Win win = open_words(1 + DATA, 0);
    word *in = of(win, rank), *out = of(win, (rank + 1) % size);
    for (int turn = 1; turn <= TURNS && size > 1; turn++) {
        if (rank > 0 || turn > 1) {
            int awaited = rank > 0 ? turn : turn - 1; /* the first rank hears of its own turn when it has gone round */
            while (load(&in[0]) != awaited) sched_yield();
            MPI_Win_sync(win);
            for (int i = 1; i <= DATA; i++)
                CHECK_SAY(load(&in[i]) == awaited * 100 + i, "flag %d is there, and word %d is %d, not %d", awaited, i,
                          load(&in[i]), awaited * 100 + i);
        }
        for (int i = 1; i <= DATA; i++) store(&out[i], turn * 100 + i);
        MPI_Win_sync(win);
        store(&out[0], turn);
    }
    close_words(win);
}

/* Peterson's lock needs a store to be seen before the load that follows is done: a sync between is a full fence. */
static void peterson(void)
{
    enum { TURNS = 3000 };
    MPI_Win win = open_words(4, 1);
    word *shared = of(win, 0), *wants = shared, *turn = shared + 2, *count = shared + 3;
    for (int i = 0; i < TURNS && rank < 2 && size > 1; i++) {
        store(&wants[rank], 1);
        store(turn, 1 - rank);
        MPI_Win_sync(win);
        while (load(&wants[1 - rank]) && load(turn) == 1 - rank) sched_yield();
        MPI_Win_sync(win);
        store(count, load(count) + 1);
        MPI_Win_sync(win);
        store(&wants[rank], 0);
    }
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    CHECK_EQ(load(count), size > 1 ? 2 * TURNS : 0);
    close_words(win);
}

/* Each stores to its own word and loads the other's: with a sync between, not both find nothing. */
static void store_buffering(void)
{
    enum { TURNS = 500 };
    MPI_Win win = open_words(2 * TURNS, 0);
    word *mine = of(win, rank), *other = mine;
    int partner = rank ^ 1;
    if (partner < size) {
        other = of(win, partner);
        for (int i = 0; i < TURNS; i++) {
            store(&mine[i], 1);
            MPI_Win_sync(win);
            store(&mine[TURNS + i], load(&other[i]));
        }
        MPI_Win_sync(win);
    }
    MPI_Barrier(node);
    MPI_Win_sync(win);
    if (partner < size)
        for (int i = 0; i < TURNS; i++)
            CHECK_SAY(load(&mine[TURNS + i]) || load(&other[TURNS + i]),
                      "turn %d: neither %d nor %d sees the other's store", i, rank, partner);
    close_words(win);
}

/* Stores and loads beside puts, gets and sums: a flush and a message, or a sync, are between them. */
static void beside_operations(void)
{
    MPI_Win win = open_words(8, 0);
    word *mine = of(win, rank);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int turn = 0; turn < 100; turn++) {
        int out = rank * 1000 + turn, in = -1, by = turn;
        store(&of(win, next)[1], out + 5);
        store(&mine[2], turn);
        MPI_Win_sync(win);
        MPI_Barrier(node);
        MPI_Put(&out, 1, MPI_INT, next, 0, 1, MPI_INT, win);
        MPI_Accumulate(&by, 1, MPI_INT, next, 2, 1, MPI_INT, MPI_SUM, win);
        MPI_Get(&in, 1, MPI_INT, next, 1, 1, MPI_INT, win);
        MPI_Win_flush(next, win);
        CHECK_EQ(in, out + 5);
        MPI_Barrier(node);
        MPI_Win_sync(win);
        CHECK_EQ(load(&mine[0]), previous * 1000 + turn);
        CHECK_EQ(load(&mine[2]), 2 * turn);
        CHECK_EQ(load(&of(win, next)[0]), rank * 1000 + turn);
        MPI_Barrier(node);
    }
    close_words(win);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    phases(0);
    phases(1);
    message_passing();
    if (!check_library("MPICH Version:\t4.0")) { /* whose sync lets a load overtake the store before */
        peterson();
        store_buffering();
    }
    beside_operations();
    MPI_Comm_free(&node);
    return check_end();
}
