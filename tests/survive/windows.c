/* windows.c - a window of all members of the first communicator, on which each access needs its target alone: a lock,
 * and counters that members add to.
 */
#include "survive.h"

enum { COUNTERS = MOST_RANKS };
static MPI_Win window = MPI_WIN_NULL;
static int *own;                /* by who has added: how much */
static int added[MOST_RANKS];   /* by target: how much this process has added */

int have_window(void)
{
    Where *all = &p.where[0];
    if (window != MPI_WIN_NULL) return 1;
    note("make a window");
    for (int i = 0; i < MOST_RANKS; i++) added[i] = 0;
    int code = MPI_Win_allocate(COUNTERS * (MPI_Aint)sizeof *own, sizeof *own, MPI_INFO_NULL, all->comm, &own, &window);
    if (code == MPI_SUCCESS) {
        MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
        for (int i = 0; i < COUNTERS; i++) own[i] = 0;
        code = MPI_Barrier(all->comm);
    }
    if (code != MPI_SUCCESS) {
        check_code(code);
        give_up();
    }
    if (agree(all, code == MPI_SUCCESS)) return 1;
    if (code == MPI_SUCCESS) give_up();
    return 0;
}

/* One more for the counter that target has for us, read back under the same lock. */
static int add(int target, int mode, int accumulates)
{
    int me = p.where[0].rank, now = -1, more = 1, code;
    code = MPI_Win_lock(mode, target, 0, window);
    if (code != MPI_SUCCESS) return code;
    added[target]++;
    if (accumulates) {
        code = MPI_Accumulate(&more, 1, MPI_INT, target, me, 1, MPI_INT, MPI_SUM, window);
    } else {
        more = added[target];
        code = MPI_Put(&more, 1, MPI_INT, target, me, 1, MPI_INT, window);
    }
    if (code == MPI_SUCCESS) code = MPI_Win_flush(target, window);
    if (code == MPI_SUCCESS) code = MPI_Get(&now, 1, MPI_INT, target, me, 1, MPI_INT, window);
    if (code == MPI_SUCCESS) code = MPI_Win_flush(target, window);
    int unlocked = MPI_Win_unlock(target, window);
    if (code == MPI_SUCCESS) code = unlocked;
    if (code == MPI_SUCCESS && now != added[target]) wrong("%d has %d of me, not %d", target, now, added[target]);
    return code;
}

int use_window(Random *r)
{
    int code = MPI_SUCCESS, first = below(r, p.where[0].size);
    int mode = below(r, 2) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    int kind = below(r, 2);
    for (int i = 0; i < 3 && code == MPI_SUCCESS; i++) code = add((first + i) % p.where[0].size, mode, kind);
    return code;
}

/* A window that was left after an error is not freed: that takes all its members. */
void leave_window(int good)
{
    if (window == MPI_WIN_NULL) return;
    if (good) check_code(MPI_Win_free(&window));
    window = MPI_WIN_NULL;
}
