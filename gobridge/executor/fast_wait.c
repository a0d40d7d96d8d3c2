/* The fast path of waits and tests (fast.h). Requests that can be completed here are null ones, sends that were over
 * when they started, receives that C has posted, persistent requests that C has started, and persistent collectives
 * that were over when Go had started them. If a call has any other, or if what has arrived is not for such a receive,
 * Go does all of it. Order: what has become of a request, its end, the functions for one request, all, any, some. */
#define _GNU_SOURCE
#include "fast_match.h"

/* A request that needs no look: null, or a send that was over when it started. */
static inline int settled(MPI_Request request)
{
    return request == MPI_REQUEST_NULL || (uintptr_t)request == IMPI_SENT_REQUEST;
}

static inline enum progress progress_of(const struct impi_quick_slot *s)
{
    uint32_t state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
    return LIKELY(state == IMPI_QUICK_DONE) ? READY : state == IMPI_QUICK_POSTED ? WAITING : FOR_GO;
}

RARE enum progress known_persistent(MPI_Request request, struct impi_quick_slot **slot)
{
    struct impi_persistent *p = persistent(request);
    switch (p ? __atomic_load_n(&p->state, __ATOMIC_RELAXED) : IMPI_PERSISTENT_ENGINE) {
    case IMPI_PERSISTENT_INACTIVE: return NOTHING;
    case IMPI_PERSISTENT_SENT: return READY;
    case IMPI_PERSISTENT_POSTED: *slot = slot_at(p->slot); return progress_of(*slot);
    default: return FOR_GO;
    }
}

/* What has become of a request; *slot is its receive, if it is one. */
static inline enum progress known(MPI_Request request, struct impi_quick_slot **slot)
{
    uint32_t n = (uint32_t)(uintptr_t)request ^ (uint32_t)IMPI_QUICK_BIT;
    *slot = NULL;
    if (settled(request)) return request == MPI_REQUEST_NULL ? NOTHING : READY;
    if (UNLIKELY(n >= IMPI_QUICK_SLOTS)) return known_persistent(request, slot);
    *slot = &impi_quick.slots[n];
    if (__atomic_load_n(&(*slot)->generation, __ATOMIC_RELAXED) != (uintptr_t)request >> 32) return FOR_GO;
    return progress_of(*slot);
}

/* Takes in what has arrived from the source of a receive that waits. */
HOT enum progress advance(const struct impi_quick_slot *s)
{
    struct impi_shm_private *shm = impi_fast.shm;
    int local = __atomic_load_n(&s->local, __ATOMIC_RELAXED);
    struct impi_shm_inbound *in = &shm->peers[local].in;
    if (UNLIKELY(!opened(in))) return FOR_GO;
    if (!arrived(in)) return WAITING;
    if (UNLIKELY(!try_lock(shm))) return FOR_GO;
    int wake = 0, stuck, n = drain(shm, in, local, &wake, &stuck);
    unlock(shm);
    if (UNLIKELY(wake)) impi_ring(local);
    uint32_t state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
    if (LIKELY(state == IMPI_QUICK_DONE)) return READY;
    /* Not for us, or another thread was here first: Go sorts it out. A record that is skipped may have nothing behind
     * it. */
    return state == IMPI_QUICK_POSTED && (n > 0 || !arrived(in)) ? WAITING : FOR_GO;
}

/* Gives the slot of a receive back. Lock held. */
static inline void release(struct impi_quick_slot *s)
{
    __atomic_store_n(&s->state, IMPI_QUICK_FREE, __ATOMIC_RELAXED);
    uint32_t generation = s->generation + 1;
    __atomic_store_n(&s->generation, generation ? generation : 1, __ATOMIC_RELAXED);
    s->next = impi_quick.idle;
    impi_quick.idle = (uint32_t)(s - impi_quick.slots) + 1;
}

/* The status of no operation: its error is MPI_SUCCESS, which other statuses leave as it was. */
static inline void set_empty(MPI_Status *status)
{
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
}

/* Completes a request that was over; 0 if it is not now: it was twice in the array, or a thread has. Lock held. */
HOT int settle(MPI_Request *request, MPI_Status *status)
{
    struct impi_quick_slot *s;
    enum progress got = known(*request, &s);
    if (got < READY) return 0;
    if (LIKELY(s)) {
        set_status(status, s->source, s->tag, s->bytes);
        release(s);
    } else if (got == READY) {
        set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    } else {
        set_empty(status);
    }
    struct impi_persistent *p = persistent(*request);
    if (UNLIKELY(p)) __atomic_store_n(&p->state, IMPI_PERSISTENT_INACTIVE, __ATOMIC_RELAXED);
    else *request = MPI_REQUEST_NULL;
    return 1;
}

/* May requests be completed here at all? */
static inline int may_complete(void) { return LIKELY(impi_fast.shm) && !gathered(); }

static inline void count_turn(void)
{
    __atomic_store_n(&impi_fast.turns, __atomic_load_n(&impi_fast.turns, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static inline MPI_Status *element(MPI_Status statuses[], int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* Completes the requests if all of them can be. If one is not what it was when it was looked at, since it stands twice
 * in the array or another thread completes it, too, Go says so; those before it are null requests by then. */
HOT enum progress complete(int count, MPI_Request requests[], MPI_Status statuses[], uint32_t looks)
{
    struct impi_shm_private *shm = impi_fast.shm;
    if (UNLIKELY(!may_complete())) return FOR_GO;
    int locked = 0, n = 0;
    for (int i = 0; i < count; i++) {
        if (settled(requests[i])) continue;
        struct impi_quick_slot *s;
        enum progress got = known(requests[i], &s);
        for (uint32_t left = looks; got == WAITING && (got = advance(s)) == WAITING && left > 0; left--)
            between_looks(left);
        if (got < READY) return got;
        locked = 1;
    }
    count_turn();
    if (locked && UNLIKELY(!try_lock(shm))) return FOR_GO;
    while (n < count && settle(&requests[n], element(statuses, n))) n++;
    if (locked) unlock(shm);
    return n == count ? READY : FOR_GO;
}

int impi_exec_Wait(MPI_Request *request, MPI_Status *status)
{
    return LIKELY(request && complete(1, request, status, patience()) == READY) ? MPI_SUCCESS : IMPI_IN_GO;
}

int impi_exec_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    if (UNLIKELY(count <= 0 || !requests)) return IMPI_IN_GO;
    return LIKELY(complete(count, requests, statuses, patience()) == READY) ? MPI_SUCCESS : IMPI_IN_GO;
}

int impi_exec_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    if (UNLIKELY(count <= 0 || !requests || !flag)) return IMPI_IN_GO;
    return tested(complete(count, requests, statuses, 0), flag);
}

int impi_exec_Test(MPI_Request *one, int *flag, MPI_Status *status) { return impi_exec_Testall(1, one, flag, status); }

/* Finds an operation that has ended, after at most so many looks at all. Where a persistent request that was found last
 * stands again, the search begins behind it, so that the others have their turn. */
static enum progress find_ended(int count, const MPI_Request requests[], uint32_t looks, int *index)
{
    static struct { uintptr_t request; int index; } last; /* threads may change each other's */
    int first = 0, was = __atomic_load_n(&last.index, __ATOMIC_RELAXED);
    if (was < count && !settled(requests[was])
        && (uintptr_t)requests[was] == __atomic_load_n(&last.request, __ATOMIC_RELAXED)) first = was + 1;
    for (;; between_looks(looks)) {
        int active = 0;
        for (int k = 0; k < count; k++) {
            int i = first + k < count ? first + k : first + k - count;
            struct impi_quick_slot *s;
            enum progress got = known(requests[i], &s);
            if (got == WAITING) got = advance(s), active = 1;
            if (UNLIKELY(got == FOR_GO)) return FOR_GO;
            if (got != READY) continue;
            __atomic_store_n(&last.index, i, __ATOMIC_RELAXED);
            __atomic_store_n(&last.request, (uintptr_t)requests[i], __ATOMIC_RELAXED);
            *index = i;
            return READY;
        }
        if (!active) return NOTHING;
        if (looks-- == 0) return WAITING;
    }
}

/* Completes the requests that can be completed now, and no more than `most`, if there is one. */
static inline enum progress complete_some(int count, MPI_Request requests[], int most, uint32_t looks, int *outcount,
                                          int indices[], MPI_Status statuses[])
{
    int first, n = 0;
    if (UNLIKELY(!may_complete())) return FOR_GO;
    enum progress got = find_ended(count, requests, looks, &first);
    if (got < READY) return got;
    count_turn();
    *outcount = MPI_UNDEFINED;
    if (got == NOTHING) return READY;
    if (UNLIKELY(!try_lock(impi_fast.shm))) return FOR_GO;
    for (int i = most == 1 ? first : 0; i < count && n < most; i++) {
        struct impi_quick_slot *s;
        if (known(requests[i], &s) != READY) continue;
        settle(&requests[i], element(statuses, n));
        indices[n++] = i;
    }
    unlock(impi_fast.shm);
    *outcount = n;
    return n > 0 ? READY : FOR_GO;
}

/* Completes one of the requests; without one that can be, the index says so. */
static inline enum progress complete_any(int count, MPI_Request requests[], uint32_t looks, int *index,
                                         MPI_Status *status)
{
    int n = *index = MPI_UNDEFINED;
    enum progress got = complete_some(count, requests, 1, looks, &n, index, status);
    if (got == READY && n == MPI_UNDEFINED) set_empty(status);
    return got;
}

int impi_exec_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (UNLIKELY(count <= 0 || !requests || !index)) return IMPI_IN_GO;
    return LIKELY(complete_any(count, requests, patience(), index, status) == READY) ? MPI_SUCCESS : IMPI_IN_GO;
}

int impi_exec_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    if (UNLIKELY(count <= 0 || !requests || !index || !flag)) return IMPI_IN_GO;
    return tested(complete_any(count, requests, 0, index, status), flag);
}

int impi_exec_Waitsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    if (UNLIKELY(incount <= 0 || !requests || !outcount || !indices)) return IMPI_IN_GO;
    enum progress got = complete_some(incount, requests, incount, patience(), outcount, indices, statuses);
    return LIKELY(got == READY) ? MPI_SUCCESS : IMPI_IN_GO;
}

int impi_exec_Testsome(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    if (UNLIKELY(incount <= 0 || !requests || !outcount || !indices)) return IMPI_IN_GO;
    int some, code = tested(complete_some(incount, requests, incount, 0, outcount, indices, statuses), &some);
    if (code == MPI_SUCCESS && !some) *outcount = 0;
    return code;
}
