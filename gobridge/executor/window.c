/* MPI functions on windows (window.h). Order: the target of a call, data, accumulates, locks, flushes, fences. */
#define _GNU_SOURCE
#include "window.h"
#include "fast_match.h"

struct impi_windows impi_windows;

static inline struct impi_window *window_of(MPI_Win win)
{
    uint32_t slot = (uint32_t)(uintptr_t)win - IMPI_FIRST_HANDLE;
    if (UNLIKELY(slot >= IMPI_WINDOWS)) return NULL;
    struct impi_window *w = __atomic_load_n(&impi_windows.of[slot], __ATOMIC_ACQUIRE);
    return LIKELY(w && w->handle == (uintptr_t)win) ? w : NULL;
}

/* A target that may be accessed now; NULL: Go knows better. */
static inline struct impi_window_target *accessed(MPI_Win win, int rank)
{
    struct impi_window *w = window_of(win);
    if (UNLIKELY(!w || (uint32_t)rank >= w->count)) return NULL;
    if (w->access == IMPI_WINDOW_FENCED && w->may_lock) w->access = IMPI_WINDOW_IN_FENCE;
    return LIKELY(w->targets[rank].hold || w->access == IMPI_WINDOW_IN_FENCE) ? &w->targets[rank] : NULL;
}

/* Where n bytes, at least one, lie in the memory of a target; NULL if they do not. */
static inline char *lies(const struct impi_window_target *t, int64_t disp, int64_t n)
{
    int64_t at;
    if (UNLIKELY(disp < 0 || __builtin_mul_overflow(disp, t->unit, &at))) return NULL;
    return LIKELY(n > 0 && at <= t->size - n) ? (char *)t->base + at : NULL;
}

#define BOTH MPI_Count count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Count there, MPI_Datatype type
#define MOVED(GET, ADDR) move(GET, ADDR, count, datatype, rank, disp, there, type, win)

/* Moves the run of bytes of a call from or to its target, which has as many of them there. */
HOT int move(int get, const void *addr, BOTH, MPI_Win win)
{
    struct impi_window_target *t = accessed(win, rank);
    const int64_t n = bytes(addr, count, datatype);
    char *at = LIKELY(t && bytes(addr, there, type) == n) ? lies(t, disp, n) : NULL;
    if (UNLIKELY(!at)) return IMPI_IN_GO;
    void *to = get ? (void *)(uintptr_t)addr : at;
    const void *from = get ? at : addr;
    if (n <= IMPI_WINDOW_PIECE) copy_payload(to, from, (uint64_t)n);
    else impi_move_run(to, from, n);
    return MPI_SUCCESS;
}

int impi_exec_Put(const void *from, BOTH, MPI_Win win) { return MOVED(0, from); }
int impi_exec_Get(void *to, BOTH, MPI_Win win) { return MOVED(1, to); }

/* The accumulate lock of a target, which names its holder. 0: it is held for long, and Go has to look why. */
static inline int hold(const struct impi_window_target *t)
{
    uint32_t *at = &t->words->busy;
    for (uint32_t looks = impi_boards.looks; looks; looks--) {
        if (LIKELY(!__atomic_load_n(at, __ATOMIC_RELAXED) && __sync_bool_compare_and_swap(at, 0, t->mine))) return 1;
        between_looks(looks);
    }
    return 0;
}

static inline void drop(struct impi_window_member *m) { __atomic_store_n(&m->busy, 0, __ATOMIC_RELEASE); }

/* Elements of one predefined type; result may be NULL, origin too if nothing changes. If compare is not NULL they only
 * change where that is what they are. */
HOT int accumulate(const void *origin, const void *compare, void *result, int64_t count, MPI_Datatype datatype,
                   int rank, MPI_Aint disp, MPI_Op op, MPI_Win win)
{
    struct pair p;
    struct impi_window_target *t = accessed(win, rank);
    const int kept = op == MPI_NO_OP, combined = !kept && op != MPI_REPLACE;
    int64_t n = bytes(kept ? result : origin, count, datatype);
    char *at = LIKELY(t) ? lies(t, disp, n) : NULL;
    if (UNLIKELY(!at || n > IMPI_WINDOW_PIECE)) return IMPI_IN_GO;
    if (UNLIKELY(combined && !(paired(datatype, op, &p) && p.combine))) return IMPI_IN_GO;
    const int skewed = combined && ((uintptr_t)at | (uintptr_t)origin) % (uint64_t)(n / count);
    if (UNLIKELY(skewed || !hold(t))) return IMPI_IN_GO;
    const int differs = compare && memcmp(at, compare, (size_t)n);
    if (result) copy_payload(result, at, (uint64_t)n);
    if (combined) p.combine(at, origin, count);
    else if (!kept && !differs) copy_payload(at, origin, (uint64_t)n);
    drop(t->words);
    return MPI_SUCCESS;
}

int impi_exec_Accumulate(const void *from, MPI_Count count, MPI_Datatype datatype, int rank, MPI_Aint disp,
                         MPI_Count there, MPI_Datatype type, MPI_Op op, MPI_Win win)
{
    if (UNLIKELY(count != there || datatype != type || op == MPI_NO_OP)) return IMPI_IN_GO;
    return accumulate(from, NULL, NULL, count, datatype, rank, disp, op, win);
}

int impi_exec_Get_accumulate(const void *from, MPI_Count count, MPI_Datatype datatype, void *result,
                             MPI_Count result_count, MPI_Datatype result_type, int rank, MPI_Aint disp,
                             MPI_Count there, MPI_Datatype type, MPI_Op op, MPI_Win win)
{
    if (UNLIKELY(result_count != there || result_type != type || (uintptr_t)result < 4096)) return IMPI_IN_GO;
    if (UNLIKELY((count != there || datatype != type) && op != MPI_NO_OP)) return IMPI_IN_GO;
    return accumulate(from, NULL, result, there, type, rank, disp, op, win);
}

int impi_exec_Fetch_and_op(const void *from, void *result, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op,
                           MPI_Win win)
{
    if (UNLIKELY((uintptr_t)result < 4096)) return IMPI_IN_GO;
    return accumulate(from, NULL, result, 1, datatype, rank, disp, op, win);
}

int impi_exec_Compare_and_swap(const void *from, const void *compare, void *result, MPI_Datatype datatype, int rank,
                               MPI_Aint disp, MPI_Win win)
{
    if (UNLIKELY((uintptr_t)compare < 4096 || (uintptr_t)result < 4096 || bytes(from, 1, datatype) < 0))
        return IMPI_IN_GO;
    if (UNLIKELY(!impi_windows.swappable[(uintptr_t)datatype - (uintptr_t)MPI_DATATYPE_NULL])) return IMPI_IN_GO;
    return accumulate(from, compare, result, 1, datatype, rank, disp, MPI_REPLACE, win);
}

/* The ticket lock of a target (onesided/words_unsafe.go), if it is free now; to wait for it is Go's. */
int impi_exec_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    struct impi_window *w = window_of(win);
    const int exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
    if (UNLIKELY(!w || !w->may_lock || (uint32_t)rank >= w->count || assert)) return IMPI_IN_GO;
    if (UNLIKELY(w->access != IMPI_WINDOW_CLOSED && w->access != IMPI_WINDOW_IN_LOCKS)) return IMPI_IN_GO;
    struct impi_window_target *t = &w->targets[rank];
    struct impi_window_member *m = t->words;
    uint64_t *serving = exclusive ? &m->write : &m->read, next = __atomic_load_n(&m->next, __ATOMIC_RELAXED);
    if (UNLIKELY(t->hold || (!exclusive && lock_type != MPI_LOCK_SHARED))) return IMPI_IN_GO;
    if (UNLIKELY(__atomic_load_n(serving, __ATOMIC_ACQUIRE) != next)) return IMPI_IN_GO;
    __atomic_store_n(t->locking, 1, __ATOMIC_RELAXED); /* before the ticket is taken */
    if (UNLIKELY(!__atomic_compare_exchange_n(&m->next, &next, next + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)))
        return IMPI_IN_GO;
    t->ticket = next;
    t->hold = exclusive ? IMPI_WINDOW_EXCLUSIVE : IMPI_WINDOW_SHARED;
    w->access = IMPI_WINDOW_IN_LOCKS;
    w->locks++;
    if (exclusive) return MPI_SUCCESS;
    __atomic_store_n(&m->read, next + 1, __ATOMIC_SEQ_CST);
    if (UNLIKELY(__atomic_load_n(&m->next, __ATOMIC_SEQ_CST) != next + 1)) impi_window_wake(w->handle);
    return MPI_SUCCESS;
}

int impi_exec_Win_unlock(int rank, MPI_Win win)
{
    if (every_nth_call(IMPI_WINDOW_TURN)) impi_board_turn();
    struct impi_window *w = window_of(win);
    if (UNLIKELY(!w || !w->may_lock || (uint32_t)rank >= w->count || w->access != IMPI_WINDOW_IN_LOCKS))
        return IMPI_IN_GO;
    struct impi_window_target *t = &w->targets[rank];
    struct impi_window_member *m = t->words;
    if (UNLIKELY(t->hold != IMPI_WINDOW_SHARED && t->hold != IMPI_WINDOW_EXCLUSIVE)) return IMPI_IN_GO;
    if (t->hold == IMPI_WINDOW_EXCLUSIVE) __atomic_store_n(&m->read, t->ticket + 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&m->write, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(t->locking, 0, __ATOMIC_RELEASE);
    t->hold = IMPI_WINDOW_NOT_HELD;
    if (--w->locks == 0) w->access = IMPI_WINDOW_CLOSED;
    if (UNLIKELY(__atomic_load_n(&m->next, __ATOMIC_SEQ_CST) != t->ticket + 1)) impi_window_wake(w->handle);
    return MPI_SUCCESS;
}

/* All communication is done when its call returns. What follows a flush must not be seen before it. */
static inline int flushed(const struct impi_window *w, int all, int rank)
{
    if (every_nth_call(IMPI_WINDOW_TURN)) impi_board_turn();
    if (UNLIKELY(!w || w->access < IMPI_WINDOW_IN_LOCKS)) return IMPI_IN_GO;
    if (UNLIKELY(!all && ((uint32_t)rank >= w->count || !w->targets[rank].hold))) return IMPI_IN_GO;
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
    return MPI_SUCCESS;
}

int impi_exec_Win_flush(int rank, MPI_Win win) { return flushed(window_of(win), 0, rank); }
int impi_exec_Win_flush_local(int rank, MPI_Win win) { return flushed(window_of(win), 0, rank); }
int impi_exec_Win_flush_all(MPI_Win win) { return flushed(window_of(win), 1, 0); }
int impi_exec_Win_flush_local_all(MPI_Win win) { return flushed(window_of(win), 1, 0); }

int impi_exec_Win_sync(MPI_Win win)
{
    if (every_nth_call(IMPI_WINDOW_TURN)) impi_board_turn();
    if (UNLIKELY(!window_of(win))) return IMPI_IN_GO;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return MPI_SUCCESS;
}

/* Is a word large enough, or will it soon be? To wait for long is Go's. */
static inline int soon(const uint64_t *word, uint64_t least, uint32_t *looks)
{
    for (; __atomic_load_n(word, __ATOMIC_ACQUIRE) < least; --*looks)
        if (UNLIKELY(*looks == 0)) return 0;
        else between_looks(*looks);
    return 1;
}

/* If not all members come, nothing has been done: Go stores the same number of fences once more. */
int impi_exec_Win_fence(int assert, MPI_Win win)
{
    struct impi_window *w = window_of(win);
    const int known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    uint32_t asleep = 0, looks = engine_busy() ? 0 : impi_boards.looks;
    if (UNLIKELY(!w || !w->may_lock || w->posted || assert & ~known || w->access > IMPI_WINDOW_IN_FENCE))
        return IMPI_IN_GO;
    __atomic_store_n(&w->targets[w->me].words->fence, w->fences + 1, __ATOMIC_SEQ_CST);
    for (uint32_t r = 0; r < w->count; r++) asleep |= (uint32_t)sleeps(impi_fast.shm, w->targets[r].control);
    if (UNLIKELY(asleep)) impi_window_wake(w->handle);
    for (uint32_t r = 0; r < w->count; r++)
        if (UNLIKELY(!soon(&w->targets[r].words->fence, w->fences + 1, &looks))) return IMPI_IN_GO;
    w->fences++;
    w->access = MPI_MODE_NOSUCCEED & assert ? IMPI_WINDOW_CLOSED : IMPI_WINDOW_FENCED;
    return MPI_SUCCESS;
}

int impi_exec_Win_complete(MPI_Win win)
{
    struct impi_window *w = window_of(win);
    int asleep = 0;
    if (UNLIKELY(!w || !w->may_lock || w->access != IMPI_WINDOW_IN_START)) return IMPI_IN_GO;
    for (struct impi_window_target *t = w->targets; t < w->targets + w->count; t++) {
        if (t->hold != IMPI_WINDOW_OPEN) continue;
        t->hold = IMPI_WINDOW_NOT_HELD;
        __atomic_store_n(t->completes, t->started, __ATOMIC_SEQ_CST);
        asleep |= sleeps(impi_fast.shm, t->control);
    }
    w->access = IMPI_WINDOW_CLOSED;
    if (UNLIKELY(asleep)) impi_window_wake(w->handle);
    return MPI_SUCCESS;
}

/* Origins that are not of the epoch have completed all that was posted to them. */
int impi_exec_Win_wait(MPI_Win win)
{
    struct impi_window *w = window_of(win);
    uint32_t looks = engine_busy() ? 0 : impi_boards.looks;
    if (UNLIKELY(!w || !w->may_lock || !w->posted)) return IMPI_IN_GO;
    for (struct impi_window_target *t = w->targets; t < w->targets + w->count; t++)
        if (UNLIKELY(!soon(t->completed, t->exposed, &looks))) return IMPI_IN_GO;
    w->posted = 0;
    return MPI_SUCCESS;
}
