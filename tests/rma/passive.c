/* Passive targets: locks of both kinds, one and several at once, flushes, requests, and what others see then. */
/* needs: MPI_Put MPI_Rput MPI_Win_lock MPI_Win_lock_all MPI_Win_flush MPI_Win_sync MPI_Win_create MPI_Win_allocate */
#include "rma.h"

static int next, previous;

static int *memory(const rma_window *w) { return (int *)(void *)w->base; }

/* Everyone's memory becomes mine(i) = rank * 1000 + i; nobody touches it before all are done. */
static void reset(rma_window *w, int n)
{
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, w->win), MPI_SUCCESS);
    for (int i = 0; i < n; i++) memory(w)[i] = check_rank * 1000 + i;
    CHECK_EQ(MPI_Win_unlock(check_rank, w->win), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An int of this rank's own memory, once others have completed what they did to it. */
static int own(rma_window *w, int at)
{
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w->win);
    int value = memory(w)[at];
    MPI_Win_unlock(check_rank, w->win);
    return value;
}

/* One lock at a time: what was put is at the target when unlock returns, and get has fetched. */
static void one_target(rma_window *w, int type, int assertion)
{
    int in = -1, out = 5000 + check_rank;
    reset(w, 64);
    CHECK_EQ(MPI_Win_lock(type, next, assertion, w->win), MPI_SUCCESS);
    MPI_Put(&out, 1, MPI_INT, next, rma_at(w, next, 7), 1, MPI_INT, w->win);
    MPI_Get(&in, 1, MPI_INT, next, rma_at(w, next, 9), 1, MPI_INT, w->win);
    CHECK_EQ(MPI_Win_unlock(next, w->win), MPI_SUCCESS);
    CHECK_EQ(in, next * 1000 + 9);
    out = -1; /* is free again */
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(own(w, 7), 5000 + previous);
    CHECK_EQ(own(w, 8), check_rank * 1000 + 8);
    /* Epochs in which nothing happens. */
    for (int r = 0; r < check_size; r++) {
        MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w->win);
        MPI_Win_unlock(r, w->win);
    }
}

/* All share the lock of one rank, and each writes what nobody else does. */
static void shared_by_all(rma_window *w)
{
    reset(w, 64);
    for (int turn = 0; turn < 5; turn++) {
        int to = turn % check_size, out[3] = {check_rank, turn, 77};
        MPI_Win_lock(MPI_LOCK_SHARED, to, 0, w->win);
        for (int i = 0; i < 3; i++)
            MPI_Put(&out[i], 1, MPI_INT, to, rma_at(w, to, 3 * check_rank + i), 1, MPI_INT, w->win);
        MPI_Win_unlock(to, w->win);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == to)
            for (int r = 0; r < check_size; r++)
                CHECK(own(w, 3 * r) == r && own(w, 3 * r + 1) == turn && own(w, 3 * r + 2) == 77);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Locks of all targets held at once, taken in one order and given back in another. */
static void several_at_once(rma_window *w)
{
    int in[8], out[8];
    CHECK(check_size <= 8);
    reset(w, 128);
    for (int k = 0; k < check_size; k++) MPI_Win_lock(MPI_LOCK_SHARED, (check_rank + k) % check_size, 0, w->win);
    for (int k = 0; k < check_size; k++) {
        int to = (check_rank + 2 * k + 1) % check_size; /* some more than once, some never */
        out[k] = 100 * check_rank + to;
        MPI_Put(&out[k], 1, MPI_INT, to, rma_at(w, to, 8 * check_rank + k), 1, MPI_INT, w->win);
        if (k % 2) CHECK_EQ(MPI_Win_flush(to, w->win), MPI_SUCCESS);
        MPI_Get(&in[k], 1, MPI_INT, to, rma_at(w, to, 64 + k), 1, MPI_INT, w->win);
    }
    for (int k = check_size - 1; k >= 0; k--) {
        int to = (check_rank + k * (check_size > 1 ? check_size - 1 : 1)) % check_size; /* downwards from here */
        CHECK_EQ(MPI_Win_unlock(to, w->win), MPI_SUCCESS);
    }
    for (int k = 0; k < check_size; k++) CHECK_EQ(in[k], (check_rank + 2 * k + 1) % check_size * 1000 + 64 + k);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < check_size; r++)
        for (int k = 0; k < check_size; k++)
            CHECK_EQ(own(w, 8 * r + k), (r + 2 * k + 1) % check_size == check_rank ? 100 * r + check_rank
                                                                                   : check_rank * 1000 + 8 * r + k);
}

/* Each of the flushes: remote ones show in a get that follows, local ones give the buffer back. */
static void flushes(rma_window *w)
{
    reset(w, 64);
    CHECK_EQ(MPI_Win_lock_all(0, w->win), MPI_SUCCESS);
    int out = 1, in = -1, at = check_rank;
    for (int turn = 0; turn < 40; turn++) {
        int to = (check_rank + turn) % check_size;
        out = check_rank * 100 + turn;
        MPI_Put(&out, 1, MPI_INT, to, rma_at(w, to, at), 1, MPI_INT, w->win);
        switch (turn % 4) {
        case 0: CHECK_EQ(MPI_Win_flush(to, w->win), MPI_SUCCESS); break;
        case 1: CHECK_EQ(MPI_Win_flush_all(w->win), MPI_SUCCESS); break;
        case 2: CHECK_EQ(MPI_Win_flush_local(to, w->win), MPI_SUCCESS); break;
        default: CHECK_EQ(MPI_Win_flush_local_all(w->win), MPI_SUCCESS);
        }
        out = -1; /* what was put must have left by now */
        if (turn % 4 >= 2) CHECK_EQ(MPI_Win_flush(to, w->win), MPI_SUCCESS);
        MPI_Get(&in, 1, MPI_INT, to, rma_at(w, to, at), 1, MPI_INT, w->win);
        if (turn % 3 == 0) MPI_Win_flush_local(to, w->win); /* a get is complete when it is so here */
        else if (turn % 3 == 1) MPI_Win_flush(to, w->win);
        else MPI_Win_flush_local_all(w->win);
        CHECK_SAY(in == check_rank * 100 + turn, "flush %d of window by %s: put %d, and got %d", turn % 4,
                  rma_name[w->kind], check_rank * 100 + turn, in);
    }
    for (int r = 0; r < check_size; r++) MPI_Win_flush(r, w->win); /* of nothing */
    MPI_Win_flush_all(w->win);
    CHECK_EQ(MPI_Win_unlock_all(w->win), MPI_SUCCESS);
}

/* Put, flush, send: who receives sees what was put, without an epoch of its own if memory is one. */
static void put_flush_send(rma_window *w)
{
    int *model, flag, token;
    MPI_Win_get_attr(w->win, MPI_WIN_MODEL, &model, &flag);
    reset(w, 64);
    if (*model != MPI_WIN_UNIFIED) return;
    MPI_Win_lock_all(rma_nocheck(), w->win);
    for (int turn = 0; turn < 50; turn++) {
        int out = turn * 10 + check_rank, long_one[20];
        for (int i = 0; i < 20; i++) long_one[i] = out + i;
        MPI_Put(&out, 1, MPI_INT, next, rma_at(w, next, turn % 16), 1, MPI_INT, w->win);
        MPI_Put(long_one, 20, MPI_INT, next, rma_at(w, next, 20), 20, MPI_INT, w->win);
        MPI_Win_flush(next, w->win);
        MPI_Sendrecv(&turn, 1, MPI_INT, next, 0, &token, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(MPI_Win_sync(w->win), MPI_SUCCESS);
        const volatile int *here = memory(w);
        CHECK_EQ(here[turn % 16], turn * 10 + previous);
        for (int i = 0; i < 20; i++) CHECK_EQ(here[20 + i], turn * 10 + previous + i);
        /* My word back: it may be overwritten. */
        MPI_Sendrecv(&turn, 1, MPI_INT, previous, 1, &token, 1, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(w->win);
}

/* Requests, and every way to complete them. A put's buffer is free then; what was got is there. */
static void requests(rma_window *w)
{
    enum { N = 8 };
    int out[N], in[N], index, indices[N], flag = 0, n, done;
    MPI_Request request[N];
    MPI_Status status;
    CHECK(check_size <= 8);
    reset(w, 128);
    MPI_Win_lock_all(0, w->win);
    for (int turn = 0; turn < 6; turn++) {
        for (int i = 0; i < N; i++) {
            int to = (check_rank + i) % check_size;
            out[i] = check_rank * 1000 + turn * 10 + i, in[i] = -1;
            CHECK_EQ(MPI_Rput(&out[i], 1, MPI_INT, to, rma_at(w, to, N * check_rank + i), 1, MPI_INT, w->win,
                              &request[i]),
                     MPI_SUCCESS);
        }
        MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) {
            CHECK(request[i] == MPI_REQUEST_NULL);
            out[i] = -1;
        }
        MPI_Win_flush_all(w->win); /* Wait has said nothing about the targets */
        for (int i = 0; i < N; i++) {
            int from = (check_rank + i) % check_size;
            CHECK_EQ(MPI_Rget(&in[i], 1, MPI_INT, from, rma_at(w, from, N * check_rank + i), 1, MPI_INT, w->win,
                              &request[i]), MPI_SUCCESS);
        }
        switch (turn) {
        case 0: for (int i = N - 1; i >= 0; i--) MPI_Wait(&request[i], &status); break;
        case 1: for (int i = 0; i < N; i++) for (flag = 0; !flag;) MPI_Test(&request[i], &flag, &status); break;
        case 2: MPI_Waitall(N, request, MPI_STATUSES_IGNORE); break;
        case 3:
            for (int i = 0; i < N; i++) {
                MPI_Waitany(N, request, &index, &status);
                CHECK(index >= 0 && index < N && request[index] == MPI_REQUEST_NULL);
            }
            break;
        case 4:
            for (done = 0; done < N; done += n) {
                MPI_Waitsome(N, request, &n, indices, MPI_STATUSES_IGNORE);
                CHECK(n > 0);
            }
            break;
        default: for (flag = 0; !flag;) MPI_Testall(N, request, &flag, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; i < N; i++) {
            CHECK(request[i] == MPI_REQUEST_NULL);
            CHECK_EQ(in[i], check_rank * 1000 + turn * 10 + i);
        }
    }
    /* Accumulates: old values come back, sums are at the target after a flush. */
    for (int i = 0; i < N; i++) {
        int to = (check_rank + i) % check_size;
        out[i] = 5, in[i] = -1;
        CHECK_EQ(MPI_Rget_accumulate(&out[i], 1, MPI_INT, &in[i], 1, MPI_INT, to, rma_at(w, to, N * check_rank + i), 1,
                                     MPI_INT, MPI_SUM, w->win, &request[i]), MPI_SUCCESS);
    }
    MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        int to = (check_rank + i) % check_size;
        CHECK_EQ(in[i], check_rank * 1000 + 50 + i);
        CHECK_EQ(MPI_Raccumulate(&out[i], 1, MPI_INT, to, rma_at(w, to, N * check_rank + i), 1, MPI_INT, MPI_SUM,
                                 w->win, &request[i]), MPI_SUCCESS);
    }
    MPI_Waitall(N, request, MPI_STATUSES_IGNORE);
    /* To nobody: complete at once, or at least at once waited for. */
    CHECK_EQ(MPI_Rput(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &request[0]), MPI_SUCCESS);
    CHECK_EQ(MPI_Rget(in, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win, &request[1]), MPI_SUCCESS);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    /* A request that outlives nothing: unlock completes what it stands for, and it is waited for afterwards. */
    in[0] = -1;
    MPI_Win_flush_all(w->win);
    MPI_Rget(in, 1, MPI_INT, check_rank, rma_at(w, check_rank, N * check_rank), 1, MPI_INT, w->win, request);
    MPI_Win_unlock_all(w->win);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    CHECK_EQ(in[0], check_rank * 1000 + 50 + 10);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < N; i++)
            CHECK_EQ(own(w, N * r + i), (r + i) % check_size == check_rank ? r * 1000 + 60 + i
                                                                           : check_rank * 1000 + N * r + i);
}

#if MPI_VERSION >= 4
/* The large forms of what has a request. */
static void large_requests(rma_window *w)
{
    int out = check_rank + 1, in = -1, old = -1, to = next;
    MPI_Request request;
    reset(w, 64);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w->win);
    MPI_Rput_c(&out, 1, MPI_INT, to, rma_at(w, to, 0), 1, MPI_INT, w->win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(to, w->win);
    MPI_Raccumulate_c(&out, 1, MPI_INT, to, rma_at(w, to, 0), 1, MPI_INT, MPI_SUM, w->win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget_accumulate_c(&out, 1, MPI_INT, &old, 1, MPI_INT, to, rma_at(w, to, 0), 1, MPI_INT, MPI_SUM, w->win,
                          &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(old, 2 * out);
    MPI_Win_flush(to, w->win);
    MPI_Rget_c(&in, 1, MPI_INT, to, rma_at(w, to, 0), 1, MPI_INT, w->win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(in, 3 * out);
    MPI_Win_unlock(to, w->win);
}
#endif

/* Long and short ones mixed within one lock, over memory that does not overlap. */
static void lengths(rma_window *w, int longest)
{
    char *out = malloc((size_t)longest), *in = malloc((size_t)longest);
    check_fill(out, (size_t)longest, (uint64_t)check_rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w->win);
    int at = 0;
    for (int n = 1; at + n <= longest; at += n, n = n * 3 + 1)
        MPI_Put(out + at, n, MPI_BYTE, next, rma_at(w, next, at), n, MPI_BYTE, w->win);
    MPI_Put(out + at, longest - at, MPI_BYTE, next, rma_at(w, next, at), longest - at, MPI_BYTE, w->win);
    MPI_Win_flush(next, w->win);
    MPI_Get(in, longest, MPI_BYTE, next, rma_at(w, next, 0), longest, MPI_BYTE, w->win);
    MPI_Win_unlock(next, w->win);
    CHECK(!memcmp(in, out, (size_t)longest));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w->win);
    CHECK_EQ(check_differs(w->base, (size_t)longest, (uint64_t)previous), -1);
    MPI_Win_unlock(check_rank, w->win);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    RMA_EACH(kind) {
        enum { LONGEST = 300000 };
        rma_window w;
        rma_open(&w, kind, 128 * sizeof(int), sizeof(int), MPI_COMM_WORLD);
        one_target(&w, MPI_LOCK_EXCLUSIVE, 0);
        one_target(&w, MPI_LOCK_SHARED, 0);
        one_target(&w, MPI_LOCK_EXCLUSIVE, rma_nocheck()); /* nobody else locks next */
        one_target(&w, MPI_LOCK_SHARED, rma_nocheck());
        shared_by_all(&w);
        several_at_once(&w);
        flushes(&w);
        put_flush_send(&w);
        requests(&w);
#if MPI_VERSION >= 4
        large_requests(&w);
#endif
        rma_close(&w);
        rma_open(&w, kind, LONGEST, 1, MPI_COMM_WORLD);
        lengths(&w, LONGEST);
        rma_close(&w);
    }
    return check_end();
}
