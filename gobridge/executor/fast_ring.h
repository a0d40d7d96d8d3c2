/* The rings as the fast path uses them (fast.h): the engine's lock, the lookup of a communicator, records. */
#ifndef IMPI_FAST_RING_H
#define IMPI_FAST_RING_H

#if defined __x86_64__
#include <emmintrin.h>
#endif
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fast.h"
#include "types.h"

enum { LINE = IMPI_SHM_LINE_BYTES, INLINE = IMPI_SHM_INLINE_BYTES };

/* A look at a state word without the lock may fall on a place that has been given back and is written by the sender:
 * any answer will do. The thread sanitizer cannot know that. */
#ifdef __SANITIZE_THREAD__
#define UNLOCKED_LOOK static __attribute__((no_sanitize_thread, noinline, unused))
#else
#define UNLOCKED_LOOK static inline
#endif

static inline void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* Passes the time between two looks, of which so many are left, at something that another rank writes. Now and then
 * that rank is offered this core: it may be waiting for it, although there are cores for all. */
static inline void between_looks(uint32_t left)
{
    if (UNLIKELY(left % IMPI_FAST_OFFER == 0 || impi_fast.crowded)) sched_yield();
    else relax();
}

static inline int try_lock(struct impi_shm_private *shm)
{
    uint32_t unlocked = IMPI_SHM_LOCK_FREE;
    return __atomic_compare_exchange_n(&shm->lock, &unlocked, IMPI_SHM_LOCK_HELD, 0, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
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
    uint32_t slot =
        (uint32_t)handle - (handle < IMPI_FIRST_HANDLE ? (uint32_t)(uintptr_t)MPI_COMM_WORLD : IMPI_FIRST_HANDLE - 2);
    if (UNLIKELY(slot >= IMPI_FAST_COMMS)) return NULL;
    struct impi_fast_comm *c = &impi_fast.comms[slot];
    return LIKELY(__atomic_load_n(&c->handle, __ATOMIC_ACQUIRE) == handle) ? c : NULL;
}

/* Bytes of count elements of a type; -1 if that is not simple. */
static inline int64_t bytes(const void *buf, int64_t count, MPI_Datatype datatype)
{
    uintptr_t type = (uintptr_t)datatype - 0x200;
    if (UNLIKELY(type >= IMPI_FAST_TYPES || (uint64_t)count > INT32_MAX || impi_fast.dense[type] == 0)) return -1;
    if (UNLIKELY((uintptr_t)buf < 4096 && count > 0)) return -1; /* NULL, or a sentinel */
    return count * impi_fast.dense[type];
}

/* The same of any type that C can move. What lies in one run begins at *buf, which follows; else *plan says how it
 * lies. */
static inline int64_t laid_out(const void **buf, int64_t count, MPI_Datatype datatype, const struct impi_plan **plan)
{
    int64_t n = bytes(*buf, count, datatype);
    *plan = NULL;
    if (LIKELY(n >= 0)) return n;
    if (UNLIKELY((uint64_t)count > INT32_MAX)) return -1;
    const struct impi_plan *p = impi_type_planned(*buf, count, (uintptr_t)datatype, &n);
    if (p && p->dense) *buf = (const char *)*buf + p->at;
    else *plan = p;
    return n;
}

/* Where the sender of a growing record says how much of the payload is there. */
static inline uint32_t *filled_of(struct impi_shm_record *r) { return &((struct impi_shm_growing *)r)->filled; }

static inline uint64_t record_bytes(uint64_t n)
{
    return n <= INLINE ? LINE : LINE + ((n + LINE - 1) & ~(uint64_t)(LINE - 1));
}

/* Copies what goes to another core or comes from there: by string instructions if these are quick (transport/bulk). */
static inline void copy_payload(void *to, const void *from, uint64_t n)
{
    if (n == 8) memcpy(to, from, 8);
    else if (n == 4) memcpy(to, from, 4);
#if defined __x86_64__
    else if (n >= impi_fast.strings && !impi_slips(to, from))
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#endif
    else if (n > 2048) impi_move_run(to, from, (int64_t)n); /* the C library may take them anyway */
    else if (n > 0) memcpy(to, from, n); /* nothing may lie nowhere */
}

/* Moves n bytes that lie in one run, or as a plan says, to where another core reads them, or back. */
HOT void move_payload(const struct impi_plan *plan, const void *typed, const void *packed, int64_t n, int unpack)
{
    if (!unpack && n > INLINE && (uint64_t)n < impi_fast.strings) impi_fetch_lines(packed, n); /* strings do without */
    if (UNLIKELY(plan)) impi_plan_move(plan, typed, packed, n, unpack);
    else copy_payload((void *)(uintptr_t)(unpack ? typed : packed), unpack ? packed : typed, (uint64_t)n);
}

/* Copies n bytes to lines that another core reads next, past the caches of this one. */
static inline void store_past(char *to, const char *from, int64_t n)
{
    int64_t done = 0;
#if defined __x86_64__
    for (; done < (n & -LINE); done += 16)
        _mm_stream_si128((void *)(to + done), _mm_loadu_si128((const void *)(from + done)));
    _mm_sfence(); /* before what is published next */
#endif
    memcpy(to + done, from + done, (size_t)(n - done));
}

/* Reports whether this call is one of those for what is done once in so many calls. */
static inline int every_nth_call(uint32_t every)
{
    static uint32_t calls; /* of each file; threads may count wrong */
    uint32_t call = __atomic_load_n(&calls, __ATOMIC_RELAXED) + 1;
    __atomic_store_n(&calls, call, __ATOMIC_RELAXED);
    return UNLIKELY(call % every == 0);
}

/* Moves n bytes to where another core reads them, from one run or as a plan says. */
HOT void store_payload(const struct impi_plan *plan, const void *typed, void *to, int64_t n)
{
    if (UNLIKELY((uint64_t)n >= impi_fast.past) && !plan && (uintptr_t)to % LINE == 0) store_past(to, typed, n);
    else move_payload(plan, typed, to, n, 0);
}

/* Does the other side of a ring sleep? Without a fence: the sleeper has one for both (transport/shm/bell.go). */
static inline int sleeps(const struct impi_shm_private *shm, const struct impi_shm_control *ctl)
{
    return (__atomic_load_n(&ctl->sleepers, __ATOMIC_RELAXED) | shm->fence) != 0;
}

/* Stores what a receive reports, in the form of libimpi/complete.go (CStatus). */
static inline void set_status(MPI_Status *status, int source, int tag, uint64_t n)
{
    if (status == MPI_STATUS_IGNORE) return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status->MPI_internal[0] = (int)(uint32_t)n;
    status->MPI_internal[1] = (int)(uint32_t)(n >> 32);
    status->MPI_internal[2] = 0;
}

/* Reads how far the other side has come; 0 if it has left no room for need bytes, or if Go has to see what it says. */
RARE int refresh(const struct impi_shm_private *shm, struct impi_shm_outbound *o, uint64_t need)
{
    uint64_t read = __atomic_load_n(&o->pos->read, __ATOMIC_ACQUIRE);
    if (read > o->tail || o->tail - read > shm->ring_bytes || read + shm->ring_bytes < o->limit) return 0;
    if (__atomic_load_n(&o->pos->hold, __ATOMIC_RELAXED)) return 0;
    o->limit = read + shm->ring_bytes;
    return o->tail + need <= o->limit;
}

/* A place for a record of so many bytes, and for the state word after it: at the beginning of the ring, behind a record
 * that is skipped, if the end is too near. NULL: there is none now. Lock held. */
static inline struct impi_shm_record *place(const struct impi_shm_private *shm, struct impi_shm_outbound *o,
                                            uint64_t need)
{
    uint64_t at = o->tail & (shm->ring_bytes - 1),
             skip = UNLIKELY(at + need > shm->ring_bytes) ? shm->ring_bytes - at : 0;
    if (UNLIKELY(!o->ring)) return NULL;
    if (UNLIKELY(o->tail + skip + need + LINE > o->limit) && !refresh(shm, o, skip + need + LINE)) return NULL;
    if (UNLIKELY(skip)) {
        ((struct impi_shm_record *)o->ring)->state = 0;
        __atomic_store_n(&((struct impi_shm_record *)(o->ring + at))->state, IMPI_SHM_FORM_SKIP, __ATOMIC_RELEASE);
        o->tail += skip;
        at = 0;
    }
    return (struct impi_shm_record *)(o->ring + at);
}

#endif
