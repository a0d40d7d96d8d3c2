/* A target that computes: it calls nothing of MPI until it sees, in its own memory, what the origins do last. All that
 * they do to its memory before is complete without it: locks, puts, gets, accumulates, in any layout. */
/* needs: MPI_Win_create MPI_Win_create_dynamic MPI_Win_lock MPI_Win_flush MPI_Accumulate MPI_Fetch_and_op */
/* ranks: 2 4 */
/* clients: none */
#include "rma.h"
#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ROUNDS = 20, CELLS = RMA_SPAN * 4 };

/* Does the kernel let ranks read each other's memory? */
static int readable(void)
{
    uint64_t mine[3] = {(uint64_t)getpid(), (uint64_t)(uintptr_t)mine, 0x5eed}, theirs[3], got[3] = {0};
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, ok, all;
    MPI_Sendrecv(mine, 3, MPI_UINT64_T, from, 0, theirs, 3, MPI_UINT64_T, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    struct iovec here = {got, sizeof got}, there = {(void *)(uintptr_t)theirs[1], sizeof got};
    ok = process_vm_readv((pid_t)theirs[0], &here, 1, &there, 1, 0) == sizeof got && got[2] == 0x5eed;
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all;
}

/* All ranks but the last work on the memory of that one. */
static void origin(rma_window *w, rma_layout *l, int home)
{
    int64_t in[RMA_SPAN], out[RMA_SPAN], one = 1, old, nothing = 0;
    const int cells = home * RMA_SPAN; /* behind the cells that are each origin's own, one that all count in */
    const int mine = check_rank * RMA_SPAN;
    MPI_Win_lock_all(0, w->win);
    for (int round = 0; round < ROUNDS; round++) {
        const rma_layout *a = &l[round % RMA_LAYOUTS], *b = &l[round * 3 % RMA_LAYOUTS];
#define THERE home, rma_at(w, home, mine), b->count, b->type
        for (int i = 0; i < RMA_LONG; i++) out[a->place[i]] = i * 100 + round;
        MPI_Put(out, a->count, a->type, THERE, w->win);
        MPI_Win_flush(home, w->win);
        MPI_Accumulate(out, a->count, a->type, THERE, MPI_SUM, w->win);
        MPI_Get_accumulate(out, a->count, a->type, in, a->count, a->type, THERE, MPI_SUM, w->win);
        MPI_Win_flush(home, w->win);
        for (int i = 0; i < RMA_LONG; i++) CHECK_EQ(in[a->place[i]], 2 * (i * 100 + round));
        MPI_Get(in, a->count, a->type, THERE, w->win);
        MPI_Win_flush(home, w->win);
        for (int i = 0; i < RMA_LONG; i++) CHECK_EQ(in[a->place[i]], 3 * (i * 100 + round));
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, home, rma_at(w, home, cells), MPI_SUM, w->win);
        do { /* adds one more by comparing and swapping */
            MPI_Win_flush(home, w->win);
            nothing = old;
            int64_t next = old + 1;
            MPI_Compare_and_swap(&next, &nothing, &old, MPI_INT64_T, home, rma_at(w, home, cells), w->win);
            MPI_Win_flush(home, w->win);
        } while (old != nothing);
        MPI_Accumulate(&one, 1, MPI_INT64_T, home, rma_at(w, home, cells), 1, MPI_INT64_T, MPI_SUM, w->win);
        MPI_Win_flush(home, w->win);
    }
    MPI_Win_unlock_all(w->win);
    for (int round = 0; round < ROUNDS; round++) { /* and with a lock that excludes the others */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, home, 0, w->win);
        MPI_Get(&old, 1, MPI_INT64_T, home, rma_at(w, home, cells + 1), 1, MPI_INT64_T, w->win);
        MPI_Win_flush(home, w->win);
        old++;
        MPI_Put(&old, 1, MPI_INT64_T, home, rma_at(w, home, cells + 1), 1, MPI_INT64_T, w->win);
        MPI_Win_unlock(home, w->win);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, home, 0, w->win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, home, rma_at(w, home, cells + 2), 1, MPI_INT64_T, MPI_SUM, w->win);
    MPI_Win_unlock(home, w->win);
}

/* Memory that is attached while the origins know the older list: the newest one counts. */
static void attached_later(rma_window *w, int home)
{
    static int64_t more[64][2];
    MPI_Aint at;
    int64_t x = 7, one = 1;
    volatile int64_t *last = &more[63][1];
    for (int i = 0; i < 64; i++) {
        if (check_rank == home) CHECK_EQ(MPI_Win_attach(w->win, more[i], 16), MPI_SUCCESS);
        if (i % 3 == 0 && check_rank == home) CHECK_EQ(MPI_Win_detach(w->win, more[i]), MPI_SUCCESS);
        if (i % 3 == 0 && check_rank == home) CHECK_EQ(MPI_Win_attach(w->win, more[i], 16), MPI_SUCCESS);
        MPI_Get_address(more[i], &at);
        MPI_Bcast(&at, 1, MPI_AINT, home, MPI_COMM_WORLD);
        if (check_rank == home) continue;
        MPI_Win_lock(MPI_LOCK_SHARED, home, 0, w->win);
        if (check_rank == 0) MPI_Put(&x, 1, MPI_INT64_T, home, at, 1, MPI_INT64_T, w->win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, home, at + 8, 1, MPI_INT64_T, MPI_SUM, w->win);
        MPI_Win_unlock(home, w->win);
    }
    while (check_rank == home && *last < check_size - 1) sched_yield();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 64 && check_rank == home; i++) {
        CHECK_EQ(more[i][0], 7);
        CHECK_EQ(more[i][1], check_size - 1);
        MPI_Win_detach(w->win, more[i]);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    rma_layout l[RMA_LAYOUTS];
    const char *single = getenv("IMPI_SINGLE_COPY");
    const int home = check_size - 1;
    if (!check_library("libimpi") || !readable() || (single && *single == '0')) {
        if (check_rank == 0) printf("skipped: the target has to take part in one-sided communication here\n");
        return check_end();
    }
    rma_layouts(l, MPI_INT64_T, sizeof(int64_t));
    RMA_EACH(kind) {
        rma_window w;
        rma_open(&w, kind, CELLS * sizeof(int64_t), sizeof(int64_t), MPI_COMM_WORLD);
        memset(w.base, 0, (size_t)w.size);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == home) {
            const int64_t *count = (int64_t *)(void *)w.base + home * RMA_SPAN;
            while (*(const volatile int64_t *)&count[2] < home) sched_yield();
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, home, 0, w.win);
            CHECK_EQ(count[0], 3 * ROUNDS * home);
            CHECK_EQ(count[1], ROUNDS * home);
            MPI_Win_unlock(home, w.win);
        } else {
            origin(&w, l, home);
        }
        if (kind == RMA_DYNAMIC) attached_later(&w, home);
        rma_close(&w);
    }
    rma_layouts_free(l);
    return check_end();
}
