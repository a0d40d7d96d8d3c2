/* The fast path of receives (fast.h). Order: what arrives, blocking receives, posted receives, then the MPI
 * functions that complete them. */
#define _GNU_SOURCE
#include "_cgo_export.h"
#include "shim.h"
#include "fast_ring.h"
#include "z_shim.h"
#include "z_direct.h"

struct impi_quick impi_quick;

/* A record at the head of a ring that carries a whole message. */
struct arrival {
    struct impi_shm_record *record;
    uint64_t bytes; /* of the message */
    uint64_t size;  /* of the record */
    int growing;    /* its sender has not yet written all of it */
};

/* Looks at the head of a ring: 0 if there is no record, or one that Go should see. Lock held. */
static inline int look(const struct impi_shm_private *shm, const struct impi_shm_inbound *in, struct arrival *a)
{
    uint64_t at = in->read & (shm->ring_bytes - 1);
    a->record = (struct impi_shm_record *)(in->ring + at);
    uint32_t state = __atomic_load_n(&a->record->state, __ATOMIC_ACQUIRE);
    a->bytes = state >> IMPI_SHM_LENGTH_SHIFT;
    a->size = record_bytes(a->bytes);
    a->growing = 0;
    if (UNLIKELY((state & IMPI_SHM_FORM_MASK) != IMPI_SHM_FORM_SHORT)) {
        if ((state & IMPI_SHM_FORM_MASK) != IMPI_SHM_FORM_GROWING || a->bytes <= INLINE) return 0;
        a->growing = __atomic_load_n(filled_of(a->record), __ATOMIC_ACQUIRE) != a->bytes;
    }
    return a->bytes <= shm->max_payload && at + a->size <= shm->ring_bytes;
}

/* Moves the payload of a growing record to where it belongs while its sender gathers it. 0 if it does not grow on: then
 * nothing is consumed, and whoever comes next begins anew. */
static int follow(const struct arrival *a, void *buf, const struct impi_type_plan *plan)
{
    const unsigned char *from = (unsigned char *)a->record + LINE;
    uint64_t n = a->bytes, row = plan ? (uint64_t)impi_type_row(plan, (int64_t)n) : 1, done = 0;
    for (uint32_t looks = impi_fast.looks; done < n; looks--) {
        uint64_t there = __atomic_load_n(filled_of(a->record), __ATOMIC_ACQUIRE);
        if (UNLIKELY(there > n || looks == 0)) return 0;
        if (there < n) there = row ? there - there % row : done;
        if (there == done) {
            relax();
            continue;
        }
        if (plan && row) impi_type_move_rows(plan, buf, from, (int64_t)done, (int64_t)(there - done), 1);
        else if (plan) impi_type_move(plan, buf, from, (int64_t)n, 1);
        else copy_payload((unsigned char *)buf + done, from + done, there - done);
        done = there;
        looks = impi_fast.looks + 1;
    }
    return 1;
}

/* Copies the message out. */
static inline void unload(const struct arrival *a, void *buf, const struct impi_type_plan *plan)
{
    const unsigned char *from = a->bytes <= INLINE ? a->record->body : (unsigned char *)a->record + LINE;
    if (UNLIKELY(plan)) impi_type_move(plan, buf, from, (int64_t)a->bytes, 1);
    else copy_payload(buf, from, a->bytes);
}

/* Leaves the ring to the next record. Answers whether the sender sleeps for the room. Lock held. */
static inline int leave(const struct impi_shm_private *shm, struct impi_shm_inbound *in, const struct arrival *a)
{
    __atomic_store_n(&in->read, in->read + a->size, __ATOMIC_RELAXED);
    if (LIKELY(in->read - in->told < shm->ring_bytes / 4)) return 0;
    in->told = in->read;
    __atomic_store_n(&in->pos->read, in->read, __ATOMIC_RELEASE);
    return sleeps(shm, in->ctl);
}

static inline int takes(int want, int tag) { return want == tag || want == MPI_ANY_TAG; }

static inline struct impi_quick_slot *slot_at(uint32_t n) { return &impi_quick.slots[n - 1]; }

/* Finds the oldest posted receive that takes an arrival; before is the one ahead of it in the queue. */
static inline struct impi_quick_slot *wanted(const struct impi_quick_queue *q, const struct arrival *a, struct impi_quick_slot **before)
{
    *before = NULL;
    for (uint32_t n = q->head; n; n = (*before)->next) {
        struct impi_quick_slot *s = slot_at(n);
        if (s->cid == a->record->cid && s->source == a->record->lsrank && takes(s->tag, a->record->tag)) return s;
        *before = s;
    }
    return NULL;
}

static inline void unlink_slot(struct impi_quick_queue *q, struct impi_quick_slot *s, struct impi_quick_slot *before)
{
    if (before) before->next = s->next;
    else q->head = s->next;
    if (!s->next) q->tail = before ? (uint32_t)(before - impi_quick.slots) + 1 : 0;
    impi_quick.posted--;
}

/* Gives what has arrived from a rank of the machine to the receives posted here, and stops at the first message that
 * none of them takes. Answers how many found theirs; *stuck says that the next is for one of them, but that Go has
 * to give it. Lock held. */
static inline int drain(const struct impi_shm_private *shm, struct impi_shm_inbound *in, int local, int *wake, int *stuck)
{
    struct impi_quick_queue *q = &impi_quick.from[local];
    struct arrival a;
    int n = 0;
    *stuck = 0;
    while (q->head && look(shm, in, &a)) {
        struct impi_quick_slot *before, *s = wanted(q, &a, &before);
        if (!s) break;
        const struct impi_type_plan *plan = s->held ? &s->held->plan : NULL;
        if (UNLIKELY(a.bytes > s->bytes || (plan && a.bytes != s->bytes))) {
            *stuck = 1;
            break;
        }
        if (LIKELY(!a.growing)) unload(&a, s->buf, plan);
        else if (!follow(&a, s->buf, plan)) break;
        if (UNLIKELY(plan)) impi_type_unpin(s->held);
        int tag = a.record->tag;
        *wake |= leave(shm, in, &a);
        unlink_slot(q, s, before);
        s->tag = tag;
        s->bytes = (uint32_t)a.bytes;
        __atomic_store_n(&s->state, IMPI_QUICK_DONE, __ATOMIC_RELEASE);
        n++;
    }
    return n;
}

/* Is there a record? Without the lock it may be another thread's already: whoever is told so looks again. */
UNLOCKED_LOOK int arrived(const struct impi_shm_private *shm, const struct impi_shm_inbound *in)
{
    uint64_t read = __atomic_load_n(&in->read, __ATOMIC_RELAXED);
    struct impi_shm_record *r = (struct impi_shm_record *)(in->ring + (read & (shm->ring_bytes - 1)));
    return __atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != 0;
}

/* Is the ring there yet? The engine opens it when its sender has begun to send. */
static inline int opened(const struct impi_shm_inbound *in) { return __atomic_load_n(&in->ring, __ATOMIC_ACQUIRE) != NULL; }

/* Has packets of earlier sends to bring out, now that the program waits or tests? */
static inline int gathered(void) { return __atomic_load_n(&impi_fast.gathered, __ATOMIC_RELAXED) != 0; }

/* Does the engine need somebody to enter it? */
static inline int engine_busy(void) { return __atomic_load_n(&impi_fast.under_way, __ATOMIC_RELAXED) || gathered(); }

/* How often to look at an empty ring before Go waits: not at all if something else needs polls. */
static inline uint32_t patience(void) { return engine_busy() ? 0 : impi_fast.looks; }

/* The checked arguments of a receive. */
struct wish {
    struct impi_fast_comm *comm;
    void *buf; /* where the data begins */
    int64_t room;
    const struct impi_type_plan *plan; /* if it is no run; then the message must have all of room */
    int local;
};

static inline int simple(struct wish *w, void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm)
{
    const struct impi_fast *f = &impi_fast;
    const void *at = buf;
    w->comm = find(comm);
    w->room = laid_out(&at, count, datatype, &w->plan);
    w->buf = (void *)(uintptr_t)at;
    if (UNLIKELY(!f->shm || !w->comm || w->room < 0 || (uint32_t)source >= (uint32_t)w->comm->size)) return 0;
    if (UNLIKELY((uint32_t)tag > f->tag_ub && tag != MPI_ANY_TAG)) return 0;
    w->local = w->comm->local[source];
    return w->local >= 0;
}

static inline int receive(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct wish w;
    if (UNLIKELY(!simple(&w, buf, count, datatype, source, tag, comm))) return 0;
    struct impi_shm_private *shm = impi_fast.shm;
    struct impi_shm_inbound *in = &shm->peers[w.local].in;
    /* What waits in the engine may be the message. */
    if (UNLIKELY(!opened(in) || __atomic_load_n(&w.comm->waiting, __ATOMIC_RELAXED))) return 0;
    for (;;) {
        for (uint32_t looks = patience(); !arrived(shm, in); looks--) {
            if (looks == 0) return 0;
            relax();
        }
        if (!try_lock(shm)) return 0;
        int wake = 0, stuck = 0;
        if (UNLIKELY(impi_quick.from[w.local].head) && drain(shm, in, w.local, &wake, &stuck) > 0) {
            unlock(shm);
            if (UNLIKELY(wake)) impi_ring(w.local);
            continue;
        }
        struct arrival a;
        if (UNLIKELY(!look(shm, in, &a) || stuck || w.comm->waiting || a.record->cid != w.comm->cid || a.record->lsrank != source ||
                     !takes(tag, a.record->tag) || a.bytes > (uint64_t)w.room || (w.plan && a.bytes != (uint64_t)w.room) ||
                     (a.growing && (impi_quick.from[w.local].head || !follow(&a, w.buf, w.plan))))) {
            unlock(shm);
            return 0;
        }
        int got = a.record->tag;
        if (LIKELY(!a.growing)) unload(&a, w.buf, w.plan);
        wake = leave(shm, in, &a);
        unlock(shm);
        if (UNLIKELY(wake)) impi_ring(w.local);
        set_status(status, source, got, a.bytes);
        return 1;
    }
}

int impi_fast_receive(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return receive(buf, count, datatype, source, tag, comm, status);
}

int impi_direct_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (LIKELY(receive(buf, count, datatype, source, tag, comm, status))) return MPI_SUCCESS;
    IN_GO(impi_Recv((uintptr_t)buf, count, (uintptr_t)datatype, source, tag, (uintptr_t)comm, (uintptr_t)status));
}

/* Posts a receive; it stays here until a message is there or the engine adopts it. */
static inline int post(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct wish w;
    struct impi_shm_private *shm = impi_fast.shm;
    if (UNLIKELY(!simple(&w, buf, count, datatype, source, tag, comm) || w.room > impi_fast.eager || !try_lock(shm))) return 0;
    uint32_t n = impi_quick.idle;
    struct impi_type_record *held = NULL; /* the program may free the type before the message is there */
    if (UNLIKELY(w.comm->waiting || n == 0 || (w.plan && !(held = impi_type_pin((uintptr_t)datatype))))) {
        unlock(shm);
        return 0;
    }
    struct impi_quick_slot *s = slot_at(n);
    impi_quick.idle = s->next;
    s->next = 0;
    s->source = source;
    s->tag = tag;
    __atomic_store_n(&s->local, w.local, __ATOMIC_RELAXED);
    s->cid = w.comm->cid;
    s->buf = held ? buf : w.buf;
    s->bytes = (uint32_t)w.room;
    s->count = count;
    s->held = held;
    __atomic_store_n(&s->state, IMPI_QUICK_POSTED, __ATOMIC_RELAXED);
    struct impi_quick_queue *q = &impi_quick.from[w.local];
    if (q->tail) slot_at(q->tail)->next = n;
    else q->head = n;
    q->tail = n;
    impi_quick.posted++;
    *request = (MPI_Request)((uintptr_t)s->generation << 32 | IMPI_QUICK_BIT | (n - 1));
    unlock(shm);
    return 1;
}

int impi_direct_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (LIKELY(request && post(buf, count, datatype, source, tag, comm, request))) return MPI_SUCCESS;
    IN_GO(impi_Irecv((uintptr_t)buf, count, (uintptr_t)datatype, source, tag, (uintptr_t)comm, (uintptr_t)request));
}

/* The slot of a request that was posted here; NULL for any other. */
static inline struct impi_quick_slot *quick(MPI_Request request)
{
    uintptr_t n = (uint32_t)(uintptr_t)request ^ IMPI_QUICK_BIT;
    if (n >= IMPI_QUICK_SLOTS) return NULL;
    struct impi_quick_slot *s = &impi_quick.slots[n];
    return __atomic_load_n(&s->generation, __ATOMIC_RELAXED) == (uintptr_t)request >> 32 ? s : NULL;
}

/* A request that is complete without its engine: null, or a send that is over. */
static inline int idle(MPI_Request request) { return request == MPI_REQUEST_NULL || (uintptr_t)request == IMPI_SENT_REQUEST; }

/* Waits until a message for a request is there, at most so many looks; 0 if Go should go on. */
static inline int await(MPI_Request request, uint32_t looks)
{
    if (idle(request)) return 1;
    struct impi_quick_slot *s = quick(request);
    struct impi_shm_private *shm = impi_fast.shm;
    if (UNLIKELY(!s)) return 0;
    for (;;) {
        uint32_t state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
        if (state == IMPI_QUICK_DONE) return 1;
        if (UNLIKELY(state != IMPI_QUICK_POSTED)) return 0;
        int local = __atomic_load_n(&s->local, __ATOMIC_RELAXED);
        struct impi_shm_inbound *in = &shm->peers[local].in;
        if (UNLIKELY(!opened(in))) return 0;
        if (!arrived(shm, in)) {
            if (looks-- == 0) return 0;
            relax();
            continue;
        }
        if (UNLIKELY(!try_lock(shm))) return 0;
        int wake = 0, stuck, n = drain(shm, in, local, &wake, &stuck);
        unlock(shm);
        if (UNLIKELY(wake)) impi_ring(local);
        if (UNLIKELY(n == 0)) return 0; /* not for us, or another thread was here first: Go sorts it out */
    }
}

/* Completes a request that await has approved; 0 if it is gone since: it stood twice in the program's array, or another
 * thread has completed it. Lock held, if it is one of a slot. */
static inline int settle(MPI_Request *request, MPI_Status *status)
{
    if (idle(*request)) {
        set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    } else {
        struct impi_quick_slot *s = quick(*request);
        if (UNLIKELY(!s || s->state != IMPI_QUICK_DONE)) return 0;
        set_status(status, s->source, s->tag, s->bytes);
        __atomic_store_n(&s->state, IMPI_QUICK_FREE, __ATOMIC_RELAXED);
        uint32_t generation = s->generation + 1;
        __atomic_store_n(&s->generation, generation ? generation : 1, __ATOMIC_RELAXED);
        s->next = impi_quick.idle;
        impi_quick.idle = (uint32_t)(s - impi_quick.slots) + 1;
    }
    *request = MPI_REQUEST_NULL;
    return 1;
}

/* Completes the requests if all of them can be, and answers how many it completed. */
static inline int complete(int count, MPI_Request requests[], MPI_Status statuses[], uint32_t looks)
{
    struct impi_shm_private *shm = impi_fast.shm;
    if (UNLIKELY(!shm || gathered())) return 0;
    int locked = 0, n = 0;
    for (int i = 0; i < count; i++) {
        if (!await(requests[i], looks)) return 0;
        locked |= !idle(requests[i]);
    }
    __atomic_store_n(&impi_fast.turns, __atomic_load_n(&impi_fast.turns, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    if (locked && UNLIKELY(!try_lock(shm))) return 0;
    while (n < count && settle(&requests[n], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[n])) n++;
    if (locked) unlock(shm);
    return n;
}

int impi_direct_Wait(MPI_Request *request, MPI_Status *status)
{
    if (LIKELY(request && complete(1, request, status, patience()))) return MPI_SUCCESS;
    IN_GO(impi_Wait((uintptr_t)request, (uintptr_t)status));
}

int impi_direct_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int n = LIKELY(count > 0 && requests) ? complete(count, requests, statuses, patience()) : 0;
    if (LIKELY(n > 0 && n == count)) return MPI_SUCCESS;
    if (statuses != MPI_STATUSES_IGNORE) statuses += n;
    IN_GO(impi_Waitall(count - n, (uintptr_t)(requests + n), (uintptr_t)statuses));
}

/* A test that finds nothing is over here, if nothing but such tests can bring things on. But a program may do nothing
 * else, and then the engine needs its turn, too. */
static inline int nothing_yet(void)
{
    static uint32_t tests; /* threads may count wrong */
    enum { TURN = 32 };
    const struct impi_fast *f = &impi_fast;
    return f->shm && f->looks && !engine_busy() && !__atomic_load_n(&f->queued, __ATOMIC_RELAXED) &&
           __atomic_add_fetch(&tests, 1, __ATOMIC_RELAXED) % TURN;
}

/* Is this a receive that waits here, with nothing in its ring? */
static inline int pending(MPI_Request request)
{
    struct impi_quick_slot *s = quick(request);
    if (!s || __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != IMPI_QUICK_POSTED) return 0;
    const struct impi_shm_inbound *in = &impi_fast.shm->peers[__atomic_load_n(&s->local, __ATOMIC_RELAXED)].in;
    return opened(in) && !arrived(impi_fast.shm, in);
}

int impi_direct_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (LIKELY(request && flag)) {
        if (complete(1, request, status, 0)) {
            *flag = 1;
            return MPI_SUCCESS;
        }
        if (nothing_yet() && pending(*request)) {
            *flag = 0;
            return MPI_SUCCESS;
        }
    }
    IN_GO(impi_Test((uintptr_t)request, (uintptr_t)flag, (uintptr_t)status));
}

int impi_direct_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    int n = LIKELY(count > 0 && requests && flag) ? complete(count, requests, statuses, 0) : 0;
    if (LIKELY(n > 0 && n == count)) {
        *flag = 1;
        return MPI_SUCCESS;
    }
    if (statuses != MPI_STATUSES_IGNORE) statuses += n;
    IN_GO(impi_Testall(count - n, (uintptr_t)(requests + n), (uintptr_t)flag, (uintptr_t)statuses));
}
