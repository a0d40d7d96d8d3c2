/* Ranks die in epochs of windows: between two fences, exposed, accessing, in an accumulate, with all locked. Calls that
 * involve them raise, and the epochs are over all the same; the others' data is what it should be. */
/* ranks: 8 */
/* needs: MPIX_Comm_agree MPIX_Comm_shrink MPIX_Comm_get_failed MPIX_Win_revoke */
#include "ft.h"
#include <sys/time.h>

enum { LONGS = 1 << 16 };

static MPI_Comm comm;
static int rank, size, victim; /* in comm */
static MPI_Win win;
static long *mine;

static void at_timer(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

static int put(int target)
{
    const long v = rank + 1;
    return MPI_Put(&v, 1, MPI_LONG, target, 8 + rank, 1, MPI_LONG, win);
}

static void between_fences(void)
{
    CHECK_EQ(MPI_Win_fence(0, win), MPI_SUCCESS);
    MPIX_Comm_agree(comm, &(int){1}); /* all have left the fence */
    if (rank == victim) die();
    put((rank + 1) % size); /* it raises if the loss is known already */
    CHECK_FAILED(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

/* All expose their memory to the ranks beside them, and access that of these. */
static void post_and_start(void)
{
    const int sides[2] = {(rank + 1) % size, (rank + size - 1) % size};
    MPI_Group all, beside;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 2, sides, &beside);
    CHECK_EQ(MPI_Win_post(beside, 0, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_start(beside, 0, win), MPI_SUCCESS);
    if (rank == victim) die();
    const int loses = sides[0] == victim || sides[1] == victim;
    for (int i = 0; i < 2; i++)
        if (sides[i] != victim) CHECK_EQ(put(sides[i]), MPI_SUCCESS);
    if (loses) {
        while (lost(comm) == 0) MPI_Iprobe(0, 99, comm, &(int){0}, MPI_STATUS_IGNORE);
        CHECK_FAILED(put(victim));
        CHECK_FAILED(MPI_Win_complete(win));
        CHECK_FAILED(MPI_Win_wait(win));
    } else {
        CHECK_EQ(MPI_Win_complete(win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_wait(win), MPI_SUCCESS);
    }
    for (int i = 0; i < 2; i++)
        if (sides[i] != victim) CHECK_EQ(mine[8 + sides[i]], sides[i] + 1);
    MPI_Group_free(&all);
    MPI_Group_free(&beside);
}

/* A timer kills the victim in long accumulates to rank 0, most of which time it has the accumulate lock. */
static void in_accumulates(void)
{
    static long ones[LONGS - 100];
    const int n = LONGS - 100;
    for (int i = 0; i < n; i++) ones[i] = 1;
    CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
    MPIX_Comm_agree(comm, &(int){1}); /* all have all locks */
    if (rank == victim) {
        signal(SIGALRM, at_timer);
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 3000}, NULL);
        for (;;) MPI_Accumulate(ones, n, MPI_LONG, 0, 100, n, MPI_LONG, MPI_SUM, win);
    }
    while (lost(comm) == 0) CHECK_EQ(MPI_Accumulate(ones, 7, MPI_LONG, 0, 90, 7, MPI_LONG, MPI_SUM, win), MPI_SUCCESS);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(MPI_Accumulate(ones, n, MPI_LONG, 1, 100, n, MPI_LONG, MPI_SUM, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Accumulate(ones, 1, MPI_LONG, 0, 99, 1, MPI_LONG, MPI_SUM, win), MPI_SUCCESS);
    CHECK_FAILED(MPI_Accumulate(ones, 1, MPI_LONG, victim, 99, 1, MPI_LONG, MPI_SUM, win));
    CHECK_EQ(MPI_Win_flush(0, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_flush(1, win), MPI_SUCCESS);
    CHECK_FAILED(MPI_Win_flush(victim, win));
    CHECK_FAILED(MPI_Win_flush_all(win));
    CHECK_FAILED(MPI_Win_unlock_all(win));
    MPIX_Comm_agree(comm, &(int){1});
    if (rank == 0) CHECK_EQ(mine[99], size - 1);
    if (rank == 1)
        for (int i = 100; i < LONGS; i++) CHECK_EQ(mine[i], 20 * (size - 1));
}

/* Nobody dies: rank 0 revokes the window while the others wait for its lock, and for each other. */
static void revoked(void)
{
    MPI_Group failed;
    int flag = -1;
    if (rank == 0) {
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win), MPI_SUCCESS);
        CHECK_EQ(MPIX_Win_is_revoked(win, &flag), MPI_SUCCESS);
        CHECK_EQ(flag, 0);
        MPI_Barrier(comm);
        CHECK_EQ(MPIX_Win_revoke(win), MPI_SUCCESS);
        CHECK_REVOKED(MPI_Win_unlock(0, win));
    } else {
        MPI_Barrier(comm);
        CHECK_REVOKED(rank == 1 ? MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win) : MPI_Win_fence(0, win));
    }
    CHECK_EQ(MPIX_Win_is_revoked(win, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_REVOKED(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    CHECK_REVOKED(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK_EQ(MPIX_Win_get_failed(win, &failed), MPI_SUCCESS);
    CHECK_EQ(ranks_of(comm, &failed, (int[64]){0}), 0);
}

/* One way to lose a rank in a window of memory that all map, or of the program's own, or in both. */
static void lose(void (*way)(void), int create, int dies)
{
    static long own[LONGS];
    MPI_Group failed;
    MPI_Comm left;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    victim = dies ? size - 1 : -1;
    mine = own;
    if (create)
        CHECK_EQ(MPI_Win_create(own, sizeof own, sizeof(long), MPI_INFO_NULL, comm, &win), MPI_SUCCESS);
    else
        CHECK_EQ(MPI_Win_allocate(sizeof own, sizeof(long), MPI_INFO_NULL, comm, &mine, &win), MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < LONGS; i++) mine[i] = 0;
    MPI_Barrier(comm);
    way();
    if (dies) {
        int gone[64];
        while (lost(comm) == 0) MPI_Iprobe(0, 99, comm, &(int){0}, MPI_STATUS_IGNORE);
        CHECK_EQ(MPIX_Win_get_failed(win, &failed), MPI_SUCCESS);
        CHECK_EQ(ranks_of(comm, &failed, gone), 1);
        CHECK_EQ(gone[0], victim);
    }
    CHECK_CLASS(MPI_Win_free(&win), dies ? MPIX_ERR_PROC_FAILED : MPIX_ERR_REVOKED);
    CHECK_EQ(MPIX_Comm_shrink(comm, &left), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    comm = left;
}

int main(int argc, char **argv)
{
    ft_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int create = 0; create < 2; create++) {
        lose(between_fences, create, 1);
        lose(post_and_start, create, 1);
        lose(revoked, create, 0);
    }
    lose(in_accumulates, 0, 1);
    lose(in_accumulates, 1, 1);
    MPI_Comm_free(&comm);
    return check_end();
}
