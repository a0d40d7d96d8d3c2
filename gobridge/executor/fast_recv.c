/* The fast path of receives, probes and persistent requests (fast.h). Order: what a call asks for, blocking receives,
 * exchanges, posted receives, the start of persistent requests, which the engine has made, probes. */
#define _GNU_SOURCE
#include "board.h"
#include "fast_match.h"

struct impi_quick impi_quick;
struct impi_persistent impi_persistent[IMPI_PERSISTENT_SLOTS];

/* The checked arguments of a receive or a probe. */
struct receive_args {
    struct impi_fast_comm *comm;
    int source, tag;
    int local; /* the source's rank in the machine's segment */
    void *buf; /* where the data begins */
    int64_t room;
    const struct impi_plan *plan; /* if it is no run; then the message must have all of room */
};

/* Finds the communicator; 0 if the call is not a simple one, as in the next two. */
static inline int from_any(struct receive_args *w, int tag, MPI_Comm comm)
{
    w->comm = find(comm);
    w->tag = tag;
    return LIKELY(impi_fast.shm && w->comm && ((uint32_t)tag <= impi_fast.tag_ub || tag == MPI_ANY_TAG));
}

/* Finds the sender. */
static inline int from(struct receive_args *w, int source, int tag, MPI_Comm comm)
{
    if (UNLIKELY(!from_any(w, tag, comm) || (uint32_t)source >= (uint32_t)w->comm->size)) return 0;
    w->source = source;
    w->local = w->comm->local[source];
    return w->local >= 0;
}

/* Finds where the data goes. */
static inline int typed(struct receive_args *w, void *buf, int64_t count, MPI_Datatype datatype)
{
    const void *at = buf;
    w->room = laid_out(&at, count, datatype, &w->plan);
    w->buf = (void *)(uintptr_t)at;
    return w->room >= 0;
}

/* Finds the message that a receive or probe asks for at the head of its source's ring, after at most so many looks. The
 * lock is held if it is READY. */
HOT enum progress next_message(const struct receive_args *w, uint32_t looks, struct arrival *a)
{
    struct impi_shm_private *shm = impi_fast.shm;
    struct impi_shm_inbound *in = &shm->peers[w->local].in;
    /* What waits in the engine may be the message. */
    if (UNLIKELY(!opened(in) || __atomic_load_n(&w->comm->waiting, __ATOMIC_RELAXED))) return FOR_GO;
    for (;;) {
        for (; !arrived(in); looks--) {
            if (looks == 0) return WAITING;
            between_looks(looks);
        }
        if (!try_lock(shm)) return FOR_GO;
        int wake = 0, stuck = 0;
        if (UNLIKELY(impi_quick.from[w->local].head) && drain(shm, in, w->local, &wake, &stuck) > 0) {
            unlock(shm);
            if (UNLIKELY(wake)) impi_ring(w->local);
            continue;
        }
        if (LIKELY(look(in, a) && !stuck && !w->comm->waiting && a->record->cid == w->comm->cid &&
                   a->record->lsrank == w->source && takes(w->tag, a->record->tag))) return READY;
        unlock(shm);
        return FOR_GO;
    }
}

/* The same from whichever rank has one, of a communicator whose members are all in this machine. A rank whose ring is
 * not open yet has not sent anything before: Go will see its first message. */
RARE enum progress any_message(struct receive_args *w, int tag, MPI_Comm comm, uint32_t looks, struct arrival *a)
{
    enum { MOST = 64 }; /* ranks that are looked at again and again */
    static int start;   /* threads may change each other's */
    if (!from_any(w, tag, comm) || (w->comm->size > MOST && looks > 0)) return FOR_GO;
    const struct impi_fast_comm *c = w->comm;
    int first = __atomic_load_n(&start, __ATOMIC_RELAXED);
    if (__atomic_load_n(&c->waiting, __ATOMIC_RELAXED)) return FOR_GO;
    for (;; between_looks(looks)) {
        for (int k = 0; k < c->size; k++) {
            w->source = (first + k) % c->size;
            if (UNLIKELY((w->local = c->local[w->source]) < 0)) return FOR_GO;
            const struct impi_shm_inbound *in = &impi_fast.shm->peers[w->local].in;
            if (!opened(in) || !arrived(in)) continue;
            __atomic_store_n(&start, w->source + 1, __ATOMIC_RELAXED);
            return next_message(w, 0, a) == READY ? READY : FOR_GO;
        }
        if (looks-- == 0) return WAITING;
    }
}

HOT enum progress message(struct receive_args *w, int source, int tag, MPI_Comm comm, uint32_t looks, struct arrival *a)
{
    if (UNLIKELY(source == MPI_ANY_SOURCE)) return any_message(w, tag, comm, looks, a);
    return LIKELY(from(w, source, tag, comm)) ? next_message(w, looks, a) : FOR_GO;
}

/* Takes the message that has been found, and gives up the lock. */
static inline int take(const struct receive_args *w, const struct arrival *a, MPI_Status *status)
{
    struct impi_shm_private *shm = impi_fast.shm;
    struct impi_shm_inbound *in = &shm->peers[w->local].in;
    if (UNLIKELY(a->bytes > (uint64_t)w->room || (w->plan && a->bytes != (uint64_t)w->room) ||
                 (a->growing && (impi_quick.from[w->local].head || !follow(a, w->buf, w->plan))))) {
        unlock(shm);
        return IMPI_IN_GO;
    }
    int got = a->record->tag;
    if (LIKELY(!a->growing)) unload(a, w->buf, w->plan);
    int wake = leave(shm, in, a);
    unlock(shm);
    if (UNLIKELY(wake)) impi_ring(w->local);
    set_status(status, w->source, got, a->bytes);
    return MPI_SUCCESS;
}

ALIGNED int impi_exec_Recv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                           MPI_Status *status)
{
    struct receive_args w;
    struct arrival a;
    if (UNLIKELY(!typed(&w, buf, count, datatype))) return IMPI_IN_GO;
    return LIKELY(message(&w, source, tag, comm, patience(), &a) == READY) ? take(&w, &a, status) : IMPI_IN_GO;
}

/* The two halves of an exchange: the send is over when it has been made here, and Go may have to make the receive. */
int impi_exec_Sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                       void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                       MPI_Comm comm, MPI_Status *status)
{
    struct receive_args w; /* Go says what is wrong with a receive before anything is sent */
    if (UNLIKELY(!typed(&w, recvbuf, recvcount, recvtype) || !from(&w, source, recvtag, comm))) return IMPI_IN_GO;
    if (UNLIKELY(impi_exec_Send(sendbuf, sendcount, sendtype, dest, sendtag, comm))) return IMPI_IN_GO;
    if (LIKELY(!impi_exec_Recv(recvbuf, recvcount, recvtype, source, recvtag, comm, status))) return MPI_SUCCESS;
    int replace = sendbuf == recvbuf && sendtype == recvtype; /* else they must not overlap */
    return impi_sendrecv_rest((uintptr_t)recvbuf, recvcount, (uintptr_t)recvtype, source, recvtag, (uintptr_t)comm,
                              (uintptr_t)status, replace);
}

int impi_exec_Sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                               int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return impi_exec_Sendrecv(buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag, comm, status);
}

/* Posts a receive; it stays here until a message is there or the engine adopts it. NULL: that is not for C. Lock held
 * when it answers a slot. */
HOT struct impi_quick_slot *post(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm)
{
    struct receive_args w;
    struct impi_shm_private *shm = impi_fast.shm;
    if (UNLIKELY(!typed(&w, buf, count, datatype) || w.room > impi_fast.growing || !from(&w, source, tag, comm)))
        return NULL;
    if (UNLIKELY(!try_lock(shm))) return NULL;
    uint32_t n = impi_quick.idle;
    struct impi_type *held = NULL; /* the program may free the type before the message is there */
    if (UNLIKELY(w.comm->waiting || n == 0 || (w.plan && !(held = impi_type_hold((uintptr_t)datatype))))) {
        unlock(shm);
        return NULL;
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
    s->count = (int32_t)count;
    s->held = held;
    s->persistent = 0;
    __atomic_store_n(&s->state, IMPI_QUICK_POSTED, __ATOMIC_RELAXED);
    struct impi_quick_queue *q = &impi_quick.from[w.local];
    if (q->tail) slot_at(q->tail)->next = n;
    else q->head = n;
    q->tail = n;
    impi_quick.posted++;
    return s;
}

static inline uint32_t number_of(const struct impi_quick_slot *s) { return (uint32_t)(s - impi_quick.slots) + 1; }

int impi_exec_Irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                    MPI_Request *request)
{
    struct impi_quick_slot *s;
    if (UNLIKELY(!request || !(s = post(buf, count, datatype, source, tag, comm)))) return IMPI_IN_GO;
    *request = (MPI_Request)((uintptr_t)s->generation << 32 | IMPI_QUICK_BIT | (number_of(s) - 1));
    unlock(impi_fast.shm);
    return MPI_SUCCESS;
}

/* Starts a persistent request; 0 if Go has to. */
static inline int start(MPI_Request request)
{
    struct impi_persistent *p = persistent(request);
    if (UNLIKELY(!p || p->state != IMPI_PERSISTENT_INACTIVE)) return 0;
    void *buf = (void *)(uintptr_t)p->buf;
    MPI_Datatype datatype = (MPI_Datatype)(uintptr_t)p->datatype;
    MPI_Comm comm = (MPI_Comm)(uintptr_t)p->comm;
    if (p->kind != IMPI_PERSISTENT_RECEIVE) {
        if (p->kind == IMPI_PERSISTENT_SEND ? impi_exec_Send(buf, p->count, datatype, p->peer, p->tag, comm)
                                            : impi_lane_start(buf)) return 0;
        __atomic_store_n(&p->state, IMPI_PERSISTENT_SENT, __ATOMIC_RELAXED);
        return 1;
    }
    struct impi_quick_slot *s = post(buf, p->count, datatype, p->peer, p->tag, comm);
    if (UNLIKELY(!s)) return 0;
    s->persistent = (uint32_t)(uintptr_t)request;
    p->slot = number_of(s);
    __atomic_store_n(&p->state, IMPI_PERSISTENT_POSTED, __ATOMIC_RELAXED);
    unlock(impi_fast.shm);
    return 1;
}

int impi_exec_Start(MPI_Request *request) { return LIKELY(request && start(*request)) ? MPI_SUCCESS : IMPI_IN_GO; }

int impi_exec_Startall(int count, MPI_Request requests[])
{
    int n = 0;
    while (LIKELY(requests && n < count) && start(requests[n])) n++;
    if (LIKELY(n == count && count > 0)) return MPI_SUCCESS;
    return n > 0 ? impi_startall_rest(count, (uintptr_t)requests, n) : IMPI_IN_GO;
}

/* Describes a message that can be received, and leaves it where it is. */
static enum progress probe(int source, int tag, MPI_Comm comm, MPI_Status *status, uint32_t looks)
{
    struct receive_args w;
    struct arrival a;
    enum progress got = message(&w, source, tag, comm, looks, &a);
    if (got != READY) return got;
    int sent = a.record->tag;
    unlock(impi_fast.shm);
    set_status(status, w.source, sent, a.bytes);
    return READY;
}

int impi_exec_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return LIKELY(probe(source, tag, comm, status, patience()) == READY) ? MPI_SUCCESS : IMPI_IN_GO;
}

int impi_exec_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return LIKELY(flag) ? tested(probe(source, tag, comm, status, 0), flag) : IMPI_IN_GO;
}
