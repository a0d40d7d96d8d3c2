/* What C does with messages that have arrived: it looks at the records at the head of a ring, and gives them to the
 * receives that it has posted (fast.h). For the files of the fast path; the engine's lock is held where it says so. */
#ifndef IMPI_FAST_MATCH_H
#define IMPI_FAST_MATCH_H

#include "fast_ring.h"

/* What a call that waits, tests or probes finds: that only Go can tell, that what it wants is not there yet, that it is
 * there, or that nothing is wanted, since a request is null or inactive. */
enum progress { FOR_GO, WAITING, READY, NOTHING };

/* A record at the head of a ring that carries a whole message. */
struct arrival {
    struct impi_shm_record *record;
    uint64_t bytes; /* of the message */
    uint64_t size;  /* of the record */
    int growing;    /* its sender has not yet written all of it */
};

/* Looks at the head of a ring: 0 if there is no record, or one that Go should see. Lock held. */
static inline int look(struct impi_shm_inbound *in, struct arrival *a)
{
    uint64_t at = in->read & (in->ring_bytes - 1);
    a->record = (struct impi_shm_record *)(in->ring + at);
    uint32_t state = __atomic_load_n(&a->record->state, __ATOMIC_ACQUIRE);
    if (UNLIKELY(state == IMPI_SHM_FORM_SKIP && at != 0)) {
        __atomic_store_n(&in->read, in->read + in->ring_bytes - at, __ATOMIC_RELAXED);
        at = 0;
        a->record = (struct impi_shm_record *)in->ring;
        state = __atomic_load_n(&a->record->state, __ATOMIC_ACQUIRE);
    }
    a->bytes = state >> IMPI_SHM_LENGTH_SHIFT;
    a->size = record_bytes(a->bytes);
    a->growing = 0;
    if (UNLIKELY((state & IMPI_SHM_FORM_MASK) != IMPI_SHM_FORM_SHORT)) {
        if ((state & IMPI_SHM_FORM_MASK) != IMPI_SHM_FORM_GROWING || a->bytes <= INLINE) return 0;
        a->growing = __atomic_load_n(filled_of(a->record), __ATOMIC_ACQUIRE) != a->bytes;
    }
    return a->bytes <= in->max_payload && at + a->size <= in->ring_bytes;
}

/* Moves the payload of a growing record to where it belongs while its sender gathers it. 0 if it does not grow on: then
 * nothing is consumed, and whoever comes next begins anew. */
static int follow(const struct arrival *a, void *buf, const struct impi_plan *plan)
{
    const unsigned char *from = (unsigned char *)a->record + LINE;
    uint64_t n = a->bytes, row = !plan ? 1 : n == (uint64_t)plan->size ? (uint64_t)plan->row : 0, done = 0;
    for (uint32_t looks = impi_fast.looks; done < n; looks--) {
        uint64_t there = __atomic_load_n(filled_of(a->record), __ATOMIC_ACQUIRE);
        if (UNLIKELY(there > n || looks == 0)) return 0;
        if (there < n) there = row ? there - there % row : done;
        if (there == done) {
            between_looks(looks);
            continue;
        }
        if (plan && row) impi_plan_move_rows(plan, buf, from, (int64_t)done, (int64_t)(there - done), 1);
        else if (plan) impi_plan_move(plan, buf, from, (int64_t)n, 1);
        else copy_payload((unsigned char *)buf + done, from + done, there - done);
        done = there;
        looks = impi_fast.looks + 1;
    }
    return 1;
}

/* Copies the message out. */
static inline void unload(const struct arrival *a, void *buf, const struct impi_plan *plan)
{
    const unsigned char *from = a->bytes <= INLINE ? a->record->body : (unsigned char *)a->record + LINE;
    move_payload(plan, buf, from, (int64_t)a->bytes, 1);
}

/* Leaves the ring to the next record. Answers whether the sender sleeps for the room. Lock held. */
static inline int leave(const struct impi_shm_private *shm, struct impi_shm_inbound *in, const struct arrival *a)
{
    __atomic_store_n(&in->read, in->read + a->size, __ATOMIC_RELAXED);
    if (LIKELY(in->read - in->told < in->ring_bytes / 4)) return 0;
    in->told = in->read;
    __atomic_store_n(&in->pos->read, in->read, __ATOMIC_RELEASE);
    return sleeps(shm, in->ctl);
}

static inline int takes(int want, int tag) { return want == tag || want == MPI_ANY_TAG; }

static inline struct impi_quick_slot *slot_at(uint32_t n) { return &impi_quick.slots[n - 1]; }

/* The persistent request of a handle; NULL if C has never heard of it. */
static inline struct impi_persistent *persistent(MPI_Request request)
{
    uint32_t n = (uint32_t)(uintptr_t)request - 1;
    if (n >= IMPI_PERSISTENT_SLOTS) return NULL;
    struct impi_persistent *p = &impi_persistent[n];
    return __atomic_load_n(&p->request, __ATOMIC_RELAXED) == (uintptr_t)request ? p : NULL;
}

/* Finds the oldest posted receive that takes a message; before is the one ahead of it in the queue. */
static inline struct impi_quick_slot *wanted(const struct impi_quick_queue *q, uint64_t cid, int32_t source,
                                             int32_t tag, struct impi_quick_slot **before)
{
    *before = NULL;
    for (uint32_t n = q->head; n; n = (*before)->next) {
        struct impi_quick_slot *s = slot_at(n);
        if (s->cid == cid && s->source == source && takes(s->tag, tag)) return s;
        *before = s;
    }
    return NULL;
}

/* Ends a posted receive whose message is in its buffer, and takes it out of its queue. */
static inline void deliver(struct impi_quick_queue *q, struct impi_quick_slot *s, struct impi_quick_slot *before,
                           int tag, uint64_t bytes)
{
    if (before) before->next = s->next;
    else q->head = s->next;
    if (!s->next) q->tail = before ? (uint32_t)(before - impi_quick.slots) + 1 : 0;
    impi_quick.posted--;
    s->tag = tag;
    s->bytes = (uint32_t)bytes;
    __atomic_store_n(&s->state, IMPI_QUICK_DONE, __ATOMIC_RELEASE);
}

/* Gives what has arrived from a rank of the machine to the receives posted here, and stops at the first message that
 * none of them takes. Answers how many found theirs; *stuck says that the next is for one of them, but that Go has
 * to give it. Lock held. */
static inline int drain(const struct impi_shm_private *shm, struct impi_shm_inbound *in, int local, int *wake,
                        int *stuck)
{
    struct impi_quick_queue *q = &impi_quick.from[local];
    struct arrival a;
    int n = 0;
    *stuck = 0;
    while (q->head && look(in, &a)) {
        struct impi_quick_slot *before, *s = wanted(q, a.record->cid, a.record->lsrank, a.record->tag, &before);
        if (!s) break;
        const struct impi_plan *plan = s->held ? &s->held->plan : NULL;
        if (UNLIKELY(a.bytes > s->bytes || (plan && a.bytes != s->bytes))) {
            *stuck = 1;
            break;
        }
        if (LIKELY(!a.growing)) unload(&a, s->buf, plan);
        else if (!follow(&a, s->buf, plan)) break;
        if (UNLIKELY(plan)) impi_type_release(s->held);
        int tag = a.record->tag;
        *wake |= leave(shm, in, &a);
        deliver(q, s, before, tag, a.bytes);
        n++;
    }
    return n;
}

/* Is there a record? Without the lock it may be another thread's already: whoever is told so looks again. */
UNLOCKED_LOOK int arrived(const struct impi_shm_inbound *in)
{
    uint64_t read = __atomic_load_n(&in->read, __ATOMIC_RELAXED);
    struct impi_shm_record *r = (struct impi_shm_record *)(in->ring + (read & (in->ring_bytes - 1)));
    return __atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != 0;
}

/* Is the ring there yet? The engine opens it when its sender has begun to send. */
static inline int opened(const struct impi_shm_inbound *in)
{
    return __atomic_load_n(&in->ring, __ATOMIC_ACQUIRE) != NULL;
}

/* Are coalesced sends waiting to leave? */
static inline int gathered(void) { return __atomic_load_n(&impi_fast.gathered, __ATOMIC_RELAXED) != 0; }

/* Does the engine need somebody to enter it? */
static inline int engine_busy(void) { return __atomic_load_n(&impi_fast.under_way, __ATOMIC_RELAXED) || gathered(); }

/* How often to look at an empty ring before Go waits: not at all if something else needs polls. */
static inline uint32_t patience(void)
{
    return engine_busy() ? 0 : __atomic_load_n(&impi_fast.looks, __ATOMIC_RELAXED);
}

/* A test or probe that finds nothing is over here, if nothing but such calls can bring things on, and it is not the
 * engine's turn: a program may do nothing but repeat a call that is over at once, until another process has got on,
 * which may need this one for that. Where cores are few, other ranks get theirs. */
static inline int nothing_else_to_do(void)
{
    if (!patience() || __atomic_load_n(&impi_fast.queued, __ATOMIC_RELAXED) || every_nth_call(32)) return 0;
    if (UNLIKELY(impi_fast.crowded)) sched_yield();
    return 1;
}

/* The answer of a test. */
static inline int tested(enum progress got, int *flag)
{
    if (got == FOR_GO || (got == WAITING && !nothing_else_to_do())) return IMPI_IN_GO;
    *flag = got == READY;
    return MPI_SUCCESS;
}

#endif
