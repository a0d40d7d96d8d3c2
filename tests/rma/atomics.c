/* Many atomic operations at once, whose sum is exact: mixed calls, tickets, a lock of compare and swap, locks. */
/* needs: MPI_Accumulate MPI_Fetch_and_op MPI_Compare_and_swap MPI_Get_accumulate MPI_Win_lock_all MPI_Win_flush */
#include "rma.h"

/* How many operations all ranks do together, and how often they contend for a lock. Packets between clients, and the
 * other libraries' messages, need a scheduler's turn each. */
static int operations, contentions;

enum { SUMS, BITS, MOST, CELLS = 8 };

static void add_by_swapping(rma_window *w, int to, MPI_Aint at, int64_t by)
{
    int64_t seen, is = 0, next;
    for (;;) {
        next = is + by;
        MPI_Compare_and_swap(&next, &is, &seen, MPI_INT64_T, to, at, w->win);
        MPI_Win_flush(to, w->win);
        if (seen == is) return;
        is = seen;
    }
}

/* Sums, exclusive ors and maxima in cells of all ranks, by every call that there is for it. */
static void mixed(rma_window *w)
{
    enum { BATCH = 64 };
    int64_t want[3][CELLS], all[3][CELLS], value[BATCH], old[BATCH], *mine = (int64_t *)(void *)w->base;
    typedef int64_t cells[3][CELLS];
    cells *by_target = calloc((size_t)check_size, sizeof *by_target);
    int turns = operations / check_size;
    check_stream s = check_seed((uint64_t)check_rank);
    memset(mine, 0, sizeof want);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w->win);
    for (int i = 0; i < turns; i++) {
        int to = check_below(&s, check_size), cell = check_below(&s, CELLS), kind = check_below(&s, 3), b = i % BATCH;
        static const int swapped = 16; /* one in so many is done by comparing and swapping */
        MPI_Aint at = rma_at(w, to, kind * CELLS + cell);
        MPI_Op op = kind == SUMS ? MPI_SUM : kind == BITS ? MPI_BXOR : MPI_MAX;
        int64_t *sum = &by_target[to][kind][cell];
        value[b] = kind == MOST ? (int64_t)(check_next(&s) >> 20) : (int64_t)check_next(&s);
        if (kind == SUMS) *sum = (int64_t)((uint64_t)*sum + (uint64_t)value[b]);
        else if (kind == BITS) *sum ^= value[b];
        else if (value[b] > *sum) *sum = value[b];
        if (kind == SUMS && i % swapped == 0) {
            *sum = (int64_t)((uint64_t)*sum - (uint64_t)value[b] + 3);
            add_by_swapping(w, to, at, 3);
        } else if (i % 3 == 0) {
            MPI_Accumulate(&value[b], 1, MPI_INT64_T, to, at, 1, MPI_INT64_T, op, w->win);
        } else if (i % 3 == 1) {
            MPI_Fetch_and_op(&value[b], &old[b], MPI_INT64_T, to, at, op, w->win);
        } else {
            MPI_Get_accumulate(&value[b], 1, MPI_INT64_T, &old[b], 1, MPI_INT64_T, to, at, 1, MPI_INT64_T, op, w->win);
        }
        if (b == BATCH - 1) MPI_Win_flush_local_all(w->win); /* the buffers are used again */
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < check_size; r++) {
        MPI_Reduce(by_target[r][SUMS], all[SUMS], CELLS, MPI_INT64_T, MPI_SUM, r, MPI_COMM_WORLD);
        MPI_Reduce(by_target[r][BITS], all[BITS], CELLS, MPI_INT64_T, MPI_BXOR, r, MPI_COMM_WORLD);
        MPI_Reduce(by_target[r][MOST], all[MOST], CELLS, MPI_INT64_T, MPI_MAX, r, MPI_COMM_WORLD);
        if (r == check_rank) memcpy(want, all, sizeof want);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w->win);
    for (int i = 0; i < 3 * CELLS; i++)
        CHECK_SAY(mine[i] == want[i / CELLS][i % CELLS], "window by %s: cell %d is %lld, not %lld",
                  rma_name[w->kind], i, (long long)mine[i], (long long)want[i / CELLS][i % CELLS]);
    MPI_Win_unlock(check_rank, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    free(by_target);
}

/* Set an int64 of this rank's own memory to 0, while nobody uses it. */
static void zero(rma_window *w)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, w->win);
    memset(w->base, 0, 64);
    MPI_Win_unlock(check_rank, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Fetch and add gives each number once, and to each rank in ascending order. */
static void tickets(rma_window *w)
{
    int each = operations / 10 / check_size + 1, total = each * check_size, home = check_size - 1;
    unsigned char *drawn = calloc((size_t)total, 1), *all = calloc((size_t)total, 1);
    int64_t one = 1, ticket, last = -1;
    zero(w);
    MPI_Win_lock_all(0, w->win);
    for (int i = 0; i < each; i++) {
        MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, home, rma_at(w, home, 0), MPI_SUM, w->win);
        MPI_Win_flush(home, w->win);
        CHECK_SAY(ticket > last && ticket < total, "ticket %lld after %lld of %d", (long long)ticket,
                  (long long)last, total);
        drawn[ticket]++;
        last = ticket;
    }
    MPI_Win_unlock_all(w->win);
    MPI_Reduce(drawn, all, total, MPI_UNSIGNED_CHAR, MPI_SUM, 0, MPI_COMM_WORLD);
    if (check_rank == 0)
        for (int i = 0; i < total; i++) CHECK_SAY(all[i] == 1, "ticket %d was drawn %d times", i, all[i]);
    free(drawn);
    free(all);
}

/* A lock made of compare and swap: what it guards is read and written without atomics, by put and get. */
static void swapped_lock(rma_window *w)
{
    int home = check_size / 2, each = contentions / check_size + 1;
    int64_t nobody = 0, me = check_rank + 1, seen, count;
    zero(w);
    MPI_Win_lock_all(0, w->win);
    for (int i = 0; i < each; i++) {
        do {
            MPI_Compare_and_swap(&me, &nobody, &seen, MPI_INT64_T, home, rma_at(w, home, 0), w->win);
            MPI_Win_flush(home, w->win);
        } while (seen != nobody);
        MPI_Get(&count, 1, MPI_INT64_T, home, rma_at(w, home, 1), 1, MPI_INT64_T, w->win);
        MPI_Win_flush(home, w->win);
        count++;
        MPI_Put(&count, 1, MPI_INT64_T, home, rma_at(w, home, 1), 1, MPI_INT64_T, w->win);
        MPI_Win_flush(home, w->win);
        MPI_Fetch_and_op(&nobody, &seen, MPI_INT64_T, home, rma_at(w, home, 0), MPI_REPLACE, w->win);
        MPI_Win_flush(home, w->win);
        CHECK_EQ(seen, me); /* the lock was mine all the time */
    }
    MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, home, 0, w->win);
    MPI_Get(&count, 1, MPI_INT64_T, home, rma_at(w, home, 1), 1, MPI_INT64_T, w->win);
    MPI_Win_unlock(home, w->win);
    CHECK_EQ(count, each * check_size);
}

/* Exclusive locks guard what is read and written; shared ones that come between see a pair that belongs together. */
static void exclusive(rma_window *w)
{
    int home = 0, each = contentions / check_size + 1;
    int64_t pair[2];
    zero(w);
    for (int i = 0; i < each; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, home, 0, w->win);
        MPI_Get(pair, 2, MPI_INT64_T, home, rma_at(w, home, 0), 2, MPI_INT64_T, w->win);
        MPI_Win_flush(home, w->win);
        CHECK_EQ(pair[1], 2 * pair[0]);
        pair[0]++, pair[1] += 2;
        MPI_Put(&pair[0], 1, MPI_INT64_T, home, rma_at(w, home, 0), 1, MPI_INT64_T, w->win);
        MPI_Put(&pair[1], 1, MPI_INT64_T, home, rma_at(w, home, 1), 1, MPI_INT64_T, w->win);
        MPI_Win_unlock(home, w->win);
        MPI_Win_lock(MPI_LOCK_SHARED, home, 0, w->win);
        MPI_Get(pair, 2, MPI_INT64_T, home, rma_at(w, home, 0), 2, MPI_INT64_T, w->win);
        MPI_Win_unlock(home, w->win);
        CHECK_EQ(pair[1], 2 * pair[0]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, home, 0, w->win);
    MPI_Get(pair, 2, MPI_INT64_T, home, rma_at(w, home, 0), 2, MPI_INT64_T, w->win);
    MPI_Win_unlock(home, w->win);
    CHECK_EQ(pair[0], each * check_size);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    RMA_EACH(kind) {
        rma_window w;
        int cheap = check_library("libimpi") && !check_spans() && !check_vendor();
        /* A million in all. For memory that the program brings along the kernel has to be called, or its owner. */
        operations = !cheap ? 5000 : kind == RMA_ALLOCATE || kind == RMA_SHARED ? 450000 : 50000;
        contentions = operations / 100;
        rma_open(&w, kind, 3 * CELLS * sizeof(int64_t), sizeof(int64_t), MPI_COMM_WORLD);
        mixed(&w);
        tickets(&w);
        swapped_lock(&w);
        exclusive(&w);
        rma_close(&w);
    }
    return check_end();
}
