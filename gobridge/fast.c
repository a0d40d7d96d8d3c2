/* The fast path (fast.h). Order: send, receive, then the MPI functions that try them. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "_cgo_export.h"
#include "shim.h"
#include "fast.h"
#include "z_shim.h"
#include "z_direct.h"

struct impi_fast impi_fast;

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { LINE = IMPI_SHM_LINE_BYTES, INLINE = IMPI_SHM_INLINE_BYTES };

static inline void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static inline int try_lock(struct impi_shm_private *shm)
{
    uint32_t unlocked = IMPI_SHM_LOCK_FREE;
    return __atomic_compare_exchange_n(&shm->lock, &unlocked, IMPI_SHM_LOCK_HELD, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void unlock(struct impi_shm_private *shm)
{
    if (UNLIKELY(__atomic_exchange_n(&shm->lock, IMPI_SHM_LOCK_FREE, __ATOMIC_RELEASE) == IMPI_SHM_LOCK_SLEEP))
        syscall(SYS_futex, &shm->lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The communicator of a handle, if it is one of those known here. */
static inline struct impi_fast_comm *find(MPI_Comm comm)
{
    uintptr_t handle = (uintptr_t)comm;
    uint32_t slot = handle == (uintptr_t)MPI_COMM_WORLD ? 0 : (uint32_t)handle - 4095;
    if (UNLIKELY(slot >= IMPI_FAST_COMMS)) return NULL;
    struct impi_fast_comm *c = &impi_fast.comms[slot];
    return LIKELY(__atomic_load_n(&c->handle, __ATOMIC_ACQUIRE) == handle) ? c : NULL;
}

void impi_fast_publish(struct impi_fast_comm *c, uintptr_t handle) { __atomic_store_n(&c->handle, handle, __ATOMIC_RELEASE); }

/* Bytes of count elements of a type; -1 if that is not simple. */
static inline int64_t bytes(const void *buf, int count, MPI_Datatype datatype)
{
    uintptr_t type = (uintptr_t)datatype - 0x200;
    if (UNLIKELY(type >= IMPI_FAST_TYPES || count < 0 || impi_fast.dense[type] == 0)) return -1;
    if (UNLIKELY((uintptr_t)buf < 4096 && count > 0)) return -1; /* NULL, or a sentinel */
    return (int64_t)count * impi_fast.dense[type];
}

static inline uint64_t record_bytes(uint64_t n) { return n <= INLINE ? LINE : LINE + ((n + LINE - 1) & ~(uint64_t)(LINE - 1)); }

static inline void copy(void *to, const void *from, uint64_t n)
{
    if (n == 8) memcpy(to, from, 8);
    else memcpy(to, from, n);
}

/* Does the other side of a ring sleep? Without a fence: the sleeper has one for both (transport/shm/bell.go). */
static inline int sleeps(const struct impi_shm_private *shm, const struct impi_shm_control *ctl)
{
    return (__atomic_load_n(&ctl->sleepers, __ATOMIC_RELAXED) | shm->fence) != 0;
}

static inline int send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    struct impi_fast *f = &impi_fast;
    struct impi_shm_private *shm = f->shm;
    struct impi_fast_comm *c = find(comm);
    int64_t n = bytes(buf, count, datatype);
    if (UNLIKELY(!shm || !c || n < 0 || n > f->eager || (uint32_t)dest >= (uint32_t)c->size || (uint32_t)tag > f->tag_ub)) return 0;
    int local = c->local[dest];
    if (UNLIKELY(local < 0) || !try_lock(shm)) return 0;

    struct impi_shm_outbound *o = &shm->peers[local].out;
    uint64_t at = o->tail & (shm->ring_bytes - 1), need = record_bytes((uint64_t)n);
    if (UNLIKELY(f->queued || !o->ring || at + need > shm->ring_bytes || o->tail + need + LINE > o->limit)) {
        unlock(shm);
        return 0;
    }
    struct impi_shm_record *r = (struct impi_shm_record *)(o->ring + at);
    ((struct impi_shm_record *)(o->ring + ((at + need) & (shm->ring_bytes - 1))))->state = 0;
    r->tag = tag;
    r->cid = c->cid;
    r->lsrank = c->rank;
    r->srqid = 0;
    copy(n <= INLINE ? r->body : (unsigned char *)r + LINE, buf, (uint64_t)n);
    __atomic_store_n(&r->state, (uint32_t)(IMPI_SHM_FORM_SHORT | (uint64_t)n << IMPI_SHM_LENGTH_SHIFT), __ATOMIC_RELEASE);
    o->tail += need;
    int wake = sleeps(shm, o->ctl);
    unlock(shm);
    if (UNLIKELY(wake)) impi_ring(local);
    return 1;
}

static inline void set_status(MPI_Status *status, int source, int tag, uint64_t n)
{
    if (status == MPI_STATUS_IGNORE) return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status->MPI_internal[0] = (int)(uint32_t)n; /* CStatus in libimpi/complete.go */
    status->MPI_internal[1] = (int)(uint32_t)(n >> 32);
    status->MPI_internal[2] = 0;
}

/* Waits until the ring at r has a record; 0 if Go should do the waiting. */
static inline int await(const struct impi_shm_record *r)
{
    uint32_t looks = impi_fast.looks;
    if (__atomic_load_n(&impi_fast.under_way, __ATOMIC_RELAXED)) looks = 0; /* something needs polls */
    while (!__atomic_load_n(&r->state, __ATOMIC_ACQUIRE)) {
        if (looks-- == 0) return 0;
        relax();
    }
    return 1;
}

static inline int receive(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct impi_fast *f = &impi_fast;
    struct impi_shm_private *shm = f->shm;
    struct impi_fast_comm *c = find(comm);
    int64_t room = bytes(buf, count, datatype);
    if (UNLIKELY(!shm || !c || room < 0 || (uint32_t)source >= (uint32_t)c->size)) return 0;
    if (UNLIKELY((uint32_t)tag > f->tag_ub && tag != MPI_ANY_TAG)) return 0;
    int local = c->local[source];
    if (UNLIKELY(local < 0)) return 0;
    struct impi_shm_inbound *in = &shm->peers[local].in;
    uint64_t mask = shm->ring_bytes - 1;
    unsigned char *ring = in->ring;
    if (UNLIKELY(!ring) || !await((struct impi_shm_record *)(ring + (in->read & mask))) || !try_lock(shm)) return 0;

    uint64_t at = in->read & mask;
    struct impi_shm_record *r = (struct impi_shm_record *)(ring + at);
    uint32_t state = __atomic_load_n(&r->state, __ATOMIC_ACQUIRE);
    uint64_t n = state >> IMPI_SHM_LENGTH_SHIFT, size = record_bytes(n);
    int got = r->tag;
    if (UNLIKELY((state & IMPI_SHM_FORM_MASK) != IMPI_SHM_FORM_SHORT || c->waiting || r->cid != c->cid || r->lsrank != source ||
                 (got != tag && tag != MPI_ANY_TAG) || n > (uint64_t)room || n > shm->max_payload || at + size > shm->ring_bytes ||
                 in->ring != ring)) {
        unlock(shm);
        return 0;
    }
    copy(buf, n <= INLINE ? r->body : (unsigned char *)r + LINE, n);
    in->read += size;
    int wake = 0;
    if (in->read - in->told >= shm->ring_bytes / 4) {
        in->told = in->read;
        __atomic_store_n(&in->pos->read, in->read, __ATOMIC_RELEASE);
        wake = sleeps(shm, in->ctl);
    }
    unlock(shm);
    if (UNLIKELY(wake)) impi_ring(local);
    set_status(status, source, got, n);
    return 1;
}

/* What the program gets for a call that Go has to make; a child of fork() must not make it. */
#define IN_GO(name, call)                                              \
    do {                                                               \
        if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_" name); \
        int err = (call);                                              \
        return UNLIKELY(err) ? impi_raise(err) : MPI_SUCCESS;          \
    } while (0)

int impi_direct_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    if (LIKELY(send(buf, count, datatype, dest, tag, comm))) return MPI_SUCCESS;
    IN_GO("Send", impi_Send((uintptr_t)buf, count, (uintptr_t)datatype, dest, tag, (uintptr_t)comm));
}

int impi_direct_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    if (LIKELY(send(buf, count, datatype, dest, tag, comm))) return MPI_SUCCESS;
    IN_GO("Rsend", impi_Rsend((uintptr_t)buf, count, (uintptr_t)datatype, dest, tag, (uintptr_t)comm));
}

int impi_direct_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (LIKELY(request && send(buf, count, datatype, dest, tag, comm))) {
        *request = (MPI_Request)IMPI_SENT_REQUEST;
        return MPI_SUCCESS;
    }
    IN_GO("Isend", impi_Isend((uintptr_t)buf, count, (uintptr_t)datatype, dest, tag, (uintptr_t)comm, (uintptr_t)request));
}

int impi_direct_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (LIKELY(receive(buf, count, datatype, source, tag, comm, status))) return MPI_SUCCESS;
    IN_GO("Recv", impi_Recv((uintptr_t)buf, count, (uintptr_t)datatype, source, tag, (uintptr_t)comm, (uintptr_t)status));
}

/* Completes a request that needs nothing of the engine: null, or a send that is complete. */
static inline int settle(MPI_Request *request, MPI_Status *status)
{
    if ((uintptr_t)*request == IMPI_SENT_REQUEST) *request = MPI_REQUEST_NULL;
    else if (*request != MPI_REQUEST_NULL) return 0;
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    return 1;
}

int impi_direct_Wait(MPI_Request *request, MPI_Status *status)
{
    if (LIKELY(impi_fast.shm && request) && settle(request, status)) return MPI_SUCCESS;
    IN_GO("Wait", impi_Wait((uintptr_t)request, (uintptr_t)status));
}

int impi_direct_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (LIKELY(impi_fast.shm && request && flag) && settle(request, status)) {
        *flag = 1;
        return MPI_SUCCESS;
    }
    IN_GO("Test", impi_Test((uintptr_t)request, (uintptr_t)flag, (uintptr_t)status));
}

int impi_direct_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    int i = 0;
    if (LIKELY(impi_fast.shm && requests))
        while (i < count && settle(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i])) i++;
    if (i == count) return MPI_SUCCESS;
    IN_GO("Waitall", impi_Waitall(count, (uintptr_t)requests, (uintptr_t)statuses));
}

int impi_direct_Comm_rank(MPI_Comm comm, int *rank)
{
    struct impi_fast_comm *c = find(comm);
    if (UNLIKELY(!c || !rank)) IN_GO("Comm_rank", impi_Comm_rank((uintptr_t)comm, (uintptr_t)rank));
    *rank = c->rank;
    return MPI_SUCCESS;
}

int impi_direct_Comm_size(MPI_Comm comm, int *size)
{
    struct impi_fast_comm *c = find(comm);
    if (UNLIKELY(!c || !size)) IN_GO("Comm_size", impi_Comm_size((uintptr_t)comm, (uintptr_t)size));
    *size = c->size;
    return MPI_SUCCESS;
}
