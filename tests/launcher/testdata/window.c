/* window HOW KIND RANK: rank RANK is killed where HOW says, in an epoch on a window of this kind, while the others
 * wait for it: in a fence, for a lock, for an exposure epoch, or in a flush. HOW is "not": nobody is, and all goes
 * well. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char *how;
static int rank, size, who;

/* Is this the moment, and this the rank? Then it is its last. */
static void die(const char *moment)
{
    if (strcmp(how, moment) == 0 && rank == who) raise(SIGKILL);
}

static MPI_Win make(const char *kind, long **base, MPI_Aint *at)
{
    static long memory[1024];
    MPI_Win win;
    *base = memory;
    *at = 0;
    if (strcmp(kind, "allocate") == 0) {
        MPI_Win_allocate(sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, base, &win);
    } else if (strcmp(kind, "shared") == 0) {
        MPI_Win_allocate_shared(sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, base, &win);
    } else if (strcmp(kind, "dynamic") == 0) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, memory, sizeof memory);
        MPI_Get_address(memory, at);
        MPI_Bcast(at, 1, MPI_AINT, who, MPI_COMM_WORLD); /* where everyone works is the memory of the one that dies */
    } else {
        MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    return win;
}

int main(int argc, char **argv)
{
    if (argc < 4) return 99;
    how = argv[1];
    who = atoi(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long *base, one = 1;
    MPI_Aint at;
    MPI_Group world;
    MPI_Win win = make(argv[2], &base, &at);
    MPI_Comm_group(MPI_COMM_WORLD, &world);

    /* Between two fences. */
    MPI_Win_fence(0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, who, at, 1, MPI_LONG, MPI_SUM, win);
    die("fence");
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

    /* While it is exposed to all, and has access to all. */
    MPI_Win_post(world, 0, win);
    die("exposed");
    MPI_Win_start(world, 0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, who, at, 1, MPI_LONG, MPI_SUM, win);
    die("started");
    MPI_Win_complete(win);
    MPI_Win_wait(win);

    /* While it has the lock that all others want. */
    for (int turn = 0; turn < 20; turn++) {
        if (rank == who) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, who, 0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        if (turn == 10) die("locking");
        if (rank == who) MPI_Win_unlock(who, win);
        else {
            MPI_Win_lock(turn % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, who, 0, win);
            MPI_Put(&one, 1, MPI_LONG, who, at + (at ? (MPI_Aint)sizeof(long) : 1) * (1 + rank), 1, MPI_LONG, win);
            MPI_Win_unlock(who, win);
        }
        MPI_Barrier(MPI_COMM_WORLD); /* all have had it */
    }

    /* While all work on its memory, and it does not. */
    MPI_Win_lock_all(0, win);
    for (int turn = 0; turn < 200; turn++) {
        MPI_Accumulate(&one, 1, MPI_LONG, who, at, 1, MPI_LONG, MPI_SUM, win);
        if (turn == 100) die("flush");
        MPI_Win_flush(who, win);
    }
    MPI_Win_unlock_all(win);

    MPI_Barrier(MPI_COMM_WORLD);
    long want = (long)size * 202; /* a fence, an epoch, 200 flushes */
    if (rank == who && base[0] != want && strcmp(argv[2], "dynamic") != 0) return 98;
    MPI_Group_free(&world);
    die("free");
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
