/* A rank that looks at its own memory until others have changed it lets them do so, by whatever calls it looks, and
 * what they do before that, too: they send synchronously. */
/* needs: MPI_Fetch_and_op MPI_Rget_accumulate MPI_Win_flush_local MPI_Win_flush_all MPI_Win_flush_local_all */
#include "rma.h"

enum way { FLUSH, FLUSH_LOCAL, FLUSH_ALL, FLUSH_LOCAL_ALL, REQUEST, LOCK, SYNC, WAYS };

static int64_t look(const rma_window *w, enum way way)
{
    int64_t none = 0, seen = -1;
    const MPI_Aint at = rma_at(w, check_rank, 0);
    MPI_Request request;
    if (way == SYNC) {
        MPI_Win_sync(w->win);
        return *(volatile int64_t *)w->base;
    }
    if (way == LOCK) MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w->win);
    if (way == REQUEST) {
        MPI_Rget_accumulate(&none, 1, MPI_INT64_T, &seen, 1, MPI_INT64_T, check_rank, at, 1, MPI_INT64_T, MPI_NO_OP,
                            w->win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Fetch_and_op(&none, &seen, MPI_INT64_T, check_rank, at, MPI_NO_OP, w->win);
    }
    if (way == FLUSH) MPI_Win_flush(check_rank, w->win);
    if (way == FLUSH_LOCAL) MPI_Win_flush_local(check_rank, w->win);
    if (way == FLUSH_ALL) MPI_Win_flush_all(w->win);
    if (way == FLUSH_LOCAL_ALL) MPI_Win_flush_local_all(w->win);
    if (way == LOCK) MPI_Win_unlock(check_rank, w->win);
    return seen;
}

/* The others add one each to the first cell of home. */
static void watch(const rma_window *w, enum way way, int home)
{
    int64_t one = 1, *sent = calloc((size_t)check_size, sizeof *sent);
    MPI_Request *requests = calloc((size_t)check_size, sizeof(MPI_Request));
    memset(w->base, 0, sizeof one);
    for (int r = 0; r < check_size; r++) {
        requests[r] = MPI_REQUEST_NULL;
        if (check_rank == home && r != home) MPI_Irecv(&sent[r], 1, MPI_INT64_T, r, way, MPI_COMM_WORLD, &requests[r]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (way != LOCK) MPI_Win_lock_all(0, w->win);
    if (check_rank == home) {
        while (look(w, way) != check_size - 1) continue;
    } else {
        MPI_Ssend(&one, 1, MPI_INT64_T, home, way, MPI_COMM_WORLD);
        if (way == LOCK) MPI_Win_lock(MPI_LOCK_SHARED, home, 0, w->win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, home, rma_at(w, home, 0), 1, MPI_INT64_T, MPI_SUM, w->win);
        if (way == LOCK) MPI_Win_unlock(home, w->win);
    }
    if (way != LOCK) MPI_Win_unlock_all(w->win);
    CHECK_EQ(MPI_Waitall(check_size, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int r = 0; r < check_size; r++) CHECK_EQ(sent[r], check_rank == home && r != home);
    MPI_Barrier(MPI_COMM_WORLD);
    free(sent);
    free(requests);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    RMA_EACH(kind) {
        rma_window w;
        rma_open(&w, kind, sizeof(int64_t), sizeof(int64_t), MPI_COMM_WORLD);
        for (enum way way = FLUSH; way < WAYS; way++) watch(&w, way, check_size / 2);
        rma_close(&w);
    }
    return check_end();
}
