/* Ranks die that hold locks of windows: nobody gets those any more, who waits for one hears of it, other locks are as
 * before, and the window is freed. In memory that all map, and in the program's own, which the kernel moves. */
/* ranks: 6 */
/* needs: MPIX_Comm_agree MPIX_Comm_shrink MPIX_Comm_get_failed */
#include "ft.h"

static MPI_Comm comm;
static int rank, size, victim; /* in comm */
static MPI_Win win;
static long *mine, own[2];

static void open_window(int create)
{
    mine = own;
    if (create)
        CHECK_EQ(MPI_Win_create(own, sizeof own, sizeof(long), MPI_INFO_NULL, comm, &win), MPI_SUCCESS);
    else
        CHECK_EQ(MPI_Win_allocate(sizeof own, sizeof(long), MPI_INFO_NULL, comm, &mine, &win), MPI_SUCCESS);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    mine[0] = mine[1] = 0;
    MPI_Barrier(comm);
}

/* The victim dies with a lock of rank 0, for which rank 1 waits if it is exclusive. */
static void lock_and_die(int type)
{
    if (rank == victim) {
        CHECK_EQ(MPI_Win_lock(type, 0, 0, win), MPI_SUCCESS);
        CHECK_EQ(MPI_Ssend(NULL, 0, MPI_INT, 1, 1, comm), MPI_SUCCESS);
        die();
    }
    if (rank == 1) CHECK_EQ(MPI_Recv(NULL, 0, MPI_INT, victim, 1, comm, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (rank == 1 && type == MPI_LOCK_EXCLUSIVE) CHECK_FAILED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    while (lost(comm) == 0) MPI_Iprobe(0, 99, comm, &(int){0}, MPI_STATUS_IGNORE);
}

/* Locks that the victim has nothing to do with: each rank adds to rank 1. */
static void lock_others(void)
{
    const long one = 1;
    for (int i = 0; i < 50; i++) {
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win), MPI_SUCCESS);
        CHECK_EQ(MPI_Accumulate(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_flush(1, win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_unlock(1, win), MPI_SUCCESS);
    }
    MPIX_Comm_agree(comm, &(int){1});
    if (rank == 1) {
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win), MPI_SUCCESS);
        CHECK_EQ(mine[0], 50 * (size - 1));
        CHECK_EQ(MPI_Win_unlock(1, win), MPI_SUCCESS);
    }
}

static void lose(int create, int type)
{
    MPI_Comm left;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    victim = size - 1;
    open_window(create);
    lock_and_die(type);
    CHECK_FAILED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    CHECK_FAILED(MPI_Win_lock(MPI_LOCK_SHARED, victim, 0, win));
    CHECK_FAILED(MPI_Win_lock_all(0, win));
    lock_others();
    CHECK_FAILED(MPI_Win_fence(0, win));
    CHECK_FAILED(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
    CHECK_EQ(MPIX_Comm_shrink(comm, &left), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    comm = left;
}

int main(int argc, char **argv)
{
    ft_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    lose(0, MPI_LOCK_EXCLUSIVE);
    lose(1, MPI_LOCK_EXCLUSIVE);
    lose(0, MPI_LOCK_SHARED);
    lose(1, MPI_LOCK_SHARED);
    MPI_Comm_free(&comm);
    return check_end();
}
