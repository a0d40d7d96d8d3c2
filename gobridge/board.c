/* Collective operations on boards (board.h). Order: a board, one operation on it, who may use it, the MPI functions. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include "_cgo_export.h"
#include "shim.h"
#include "board.h"
#include "fast_ring.h"
#include "type_size.h"
#include "z_shim.h"
#include "z_direct.h"

enum { SLOTS = IMPI_SHM_BOARD_SLOTS, PAYLOAD = IMPI_SHM_BOARD_PAYLOAD, SHIFT = IMPI_SHM_BOARD_WORD_SHIFT };

/* What a call that does not take place here answers: Go has to make it, and to say what is wrong with it if something is. */
enum { NOT_HERE = -1 };

struct impi_boards impi_boards;

struct impi_board *impi_board_new(uintptr_t comm, void *memory, int rank, int size, const int32_t *local)
{
    struct impi_board *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->comm = comm;
    b->rank = rank;
    b->size = size;
    b->members = ((struct impi_shm_board *)memory)->members;
    for (int r = 0; r < size; r++) {
        b->peers[r].local = local[r];
        if (r != rank) b->peers[r].ctl = impi_fast.shm->peers[local[r]].out.ctl;
    }
    return b;
}

/* What a member contributes or gets. All of it is copied faster than as much as there is. */
struct part { uint64_t words[PAYLOAD / 8]; };

/* What this member does in an operation. */
struct turn {
    const char *name;      /* of the MPI function */
    int n;                 /* bytes of a part */
    int publish;           /* others need the own part */
    int first, end;        /* whose parts are needed */
    impi_combine *combine; /* they become one; NULL: they stay apart */
    int64_t count;         /* elements of a part */
};

/* Does the engine need its turn? */
static inline int under_way(void)
{
    return __atomic_load_n(&impi_fast.under_way, __ATOMIC_RELAXED) || __atomic_load_n(&impi_fast.gathered, __ATOMIC_RELAXED);
}

static inline int raised(const uint64_t *word, uint64_t least) { return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= least; }

/* Waits until a word of the board is at least so large. Answers the code of an error: a peer is lost. */
static __attribute__((noinline)) int await(const struct impi_board *b, const uint64_t *word, uint64_t least, const char *name)
{
    if (LIKELY(!under_way())) {
        for (uint32_t looks = impi_boards.looks; looks; looks--) {
            relax();
            if (raised(word, least)) return MPI_SUCCESS;
        }
        for (uint32_t looks = impi_boards.yields; looks; looks--) {
            sched_yield();
            if (raised(word, least)) return MPI_SUCCESS;
        }
    }
    return impi_board_wait((uintptr_t)word, (int64_t)least, b->comm, (char *)(uintptr_t)name);
}

/* Wakes the members that sleep, after something was stored that they may wait for. */
static inline void wake(const struct impi_board *b)
{
    for (int r = 0; r < b->size; r++)
        if (r != b->rank && UNLIKELY(sleeps(impi_fast.shm, b->peers[r].ctl))) impi_ring(b->peers[r].local);
}

/* Waits until all members have completed so many operations. */
RARE int all_done(struct impi_board *b, uint64_t least, const char *name)
{
    uint64_t known = b->begun - 1; /* own */
    for (int r = 0; r < b->size; r++) {
        const uint64_t *done = &b->members[r].done;
        int err = r == b->rank || raised(done, least) ? MPI_SUCCESS : await(b, done, least, name);
        if (err) return err;
        uint64_t theirs = r == b->rank ? known : __atomic_load_n(done, __ATOMIC_ACQUIRE);
        if (theirs < known) known = theirs;
    }
    b->known = known;
    return MPI_SUCCESS;
}

/* The operation that comes next. What arrives is another process's word: its length is looked at, and it stays in its slot. */
static inline __attribute__((always_inline)) int operate(struct impi_board *b, const struct turn *t, const struct part *own, struct part *parts)
{
    const uint64_t s = ++b->begun;
    struct impi_shm_board_member *me = &b->members[b->rank];
    int err = MPI_SUCCESS, problem = MPI_SUCCESS;
    if (UNLIKELY(under_way())) impi_board_turn();
    if (t->publish) {
        struct impi_shm_board_slot *slot = &me->slots[s % SLOTS];
        if (UNLIKELY(b->known + SLOTS < s) && (err = all_done(b, s - SLOTS, t->name))) return err;
        *(struct part *)slot->payload = *own;
        __atomic_store_n(&slot->word, s << SHIFT | (uint64_t)t->n, __ATOMIC_RELEASE);
        if (t->first < t->end) wake(b);
    }
    for (int r = t->first; r < t->end; r++) {
        const struct part *part = own;
        if (r != b->rank) {
            const struct impi_shm_board_slot *slot = &b->members[r].slots[s % SLOTS];
            if (!raised(&slot->word, s << SHIFT) && (err = await(b, &slot->word, s << SHIFT, t->name))) return err;
            int got = (int)(__atomic_load_n(&slot->word, __ATOMIC_RELAXED) & ((1 << SHIFT) - 1));
            if (UNLIKELY(got > t->n)) problem = impi_board_truncated(b->comm, (char *)(uintptr_t)t->name, r, got, t->n);
            part = (const struct part *)slot->payload;
        }
        if (t->n == 0) continue;
        if (t->combine && r > t->first) t->combine(parts, part, t->count);
        else parts[t->combine ? 0 : r - t->first] = *part;
    }
    if (t->first == 0 && t->end == b->size) b->known = s - 1; /* who has begun this one */
    __atomic_store_n(&me->done, s, __ATOMIC_RELEASE);
    wake(b);
    return problem;
}

/* Copies the n bytes that the program sees. */
static inline void copy_part(void *to, const void *from, int n)
{
    if (LIKELY(n == 8)) memcpy(to, from, 8);
    else if (n == 4) memcpy(to, from, 4);
    else memcpy(to, from, (size_t)n);
}

/* Is the caller the only member? */
static inline int alone(MPI_Comm comm, const struct impi_fast_comm *c)
{
    if (LIKELY(c)) return c->size == 1;
    return comm == MPI_COMM_SELF && __atomic_load_n(&impi_attr.open, __ATOMIC_RELAXED)
        && __atomic_load_n(&impi_attr.comms[IMPI_ATTR_COMMS].handle, __ATOMIC_ACQUIRE) == (uintptr_t)comm;
}

/* The board of a communicator for an operation that all its members would make on one: *b is NULL if there is none, or not yet.
 * Answers the code of an error. */
static inline int board_of(MPI_Comm comm, const struct impi_fast_comm *c, int root, const char *name, struct impi_board **b)
{
    *b = NULL;
    if (UNLIKELY(c && (uint32_t)root >= (uint32_t)c->size)) return MPI_SUCCESS;
    if (LIKELY(c && c->board)) {
        *b = c->board == &impi_boards.none ? NULL : c->board;
        return MPI_SUCCESS;
    }
    return impi_board_open((uintptr_t)comm, root, (char *)(uintptr_t)name, (uintptr_t)b);
}

/* The kernel of a reduction that is short enough; NULL if there is none. */
static inline impi_combine *short_reduction(int64_t count, MPI_Datatype datatype, MPI_Op op, int *n)
{
    uintptr_t type = (uintptr_t)datatype - (uintptr_t)MPI_DATATYPE_NULL, handle = (uintptr_t)op - (uintptr_t)MPI_OP_NULL;
    if (UNLIKELY(type >= IMPI_FAST_TYPES || handle >= IMPI_BOARD_OP_HANDLES || count < 1 || count > PAYLOAD)) return NULL;
    int code = impi_boards.ops[handle], bytes = (int)count * impi_fast.dense[type];
    if (UNLIKELY(!(impi_boards.types[type].ops >> code & 1) || bytes > PAYLOAD)) return NULL;
    *n = bytes;
    return impi_combines[code][impi_boards.types[type].element];
}

/* The bytes of a short signature, which all members have, whatever their types are; 0 if it is empty, not short, or of no type. */
static inline int short_signature(int64_t count, MPI_Datatype datatype)
{
    int64_t size = impi_type_size((uintptr_t)datatype);
    if (UNLIKELY(size < 0)) size = impi_board_type_size((uintptr_t)datatype);
    return LIKELY(count > 0 && size > 0 && size <= PAYLOAD / count) ? (int)(count * size) : 0;
}

static inline int readable(const void *buf) { return (uintptr_t)buf >= 4096; } /* else it is NULL, or a sentinel */

/* A reduction whose result is its only vector, of any length. */
static inline int reduce_alone(const void *sendbuf, void *recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op)
{
    uintptr_t type = (uintptr_t)datatype - (uintptr_t)MPI_DATATYPE_NULL, handle = (uintptr_t)op - (uintptr_t)MPI_OP_NULL;
    int64_t n = count == (int)count ? bytes(recvbuf, (int)count, datatype) : -1;
    if (UNLIKELY(n < 0 || handle >= IMPI_BOARD_OP_HANDLES || !(impi_boards.types[type].ops >> impi_boards.ops[handle] & 1))) return NOT_HERE;
    if (sendbuf == MPI_IN_PLACE || n == 0) return MPI_SUCCESS;
    if (UNLIKELY(!readable(sendbuf) || sendbuf == recvbuf)) return NOT_HERE;
    copy_payload(recvbuf, sendbuf, (uint64_t)n);
    return MPI_SUCCESS;
}

/* MPI_Reduce, and MPI_Allreduce, which has no root. */
enum { NO_ROOT = -1 };

static inline __attribute__((always_inline)) int reduce(const void *sendbuf, void *recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op,
                                                        int root, MPI_Comm comm)
{
    const int everybody = root == NO_ROOT;
    struct turn t = {.name = everybody ? "MPI_Allreduce" : "MPI_Reduce", .count = count};
    struct impi_fast_comm *c = find(comm);
    struct impi_board *b;
    if (UNLIKELY(alone(comm, c))) return everybody || root == 0 ? reduce_alone(sendbuf, recvbuf, count, datatype, op) : NOT_HERE;
    t.combine = short_reduction(count, datatype, op, &t.n);
    if (UNLIKELY(!t.combine)) return NOT_HERE;
    int err = board_of(comm, c, everybody ? 0 : root, t.name, &b);
    if (UNLIKELY(err || !b)) return err ? err : NOT_HERE;

    const int result = everybody || b->rank == root;
    const void *in = sendbuf == MPI_IN_PLACE && result ? recvbuf : sendbuf;
    if (UNLIKELY(!readable(in) || (result && (!readable(recvbuf) || sendbuf == recvbuf)))) return NOT_HERE;
    struct part own = {{0}}, parts;
    copy_part(&own, in, t.n);
    t.publish = everybody || !result;
    t.end = result ? b->size : 0;
    err = operate(b, &t, &own, &parts);
    if (result && LIKELY(!err)) copy_part(recvbuf, &parts, t.n);
    return err;
}

static inline int bcast(void *buffer, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct turn t = {.name = "MPI_Bcast", .count = count};
    struct impi_fast_comm *c = find(comm);
    struct impi_board *b;
    if (UNLIKELY(alone(comm, c))) return root == 0 && count == (int)count && bytes(buffer, (int)count, datatype) >= 0 ? MPI_SUCCESS : NOT_HERE;
    t.n = short_signature(count, datatype);
    if (UNLIKELY(t.n == 0)) return NOT_HERE;
    int err = board_of(comm, c, root, t.name, &b);
    if (UNLIKELY(err || !b)) return err ? err : NOT_HERE;

    const struct impi_type_plan *plan;
    const void *at = buffer;
    const int here = LIKELY(laid_out(&at, (int)count, datatype, &plan) == t.n); /* else Go looks at the arguments, and moves the data */
    struct part part = {{0}};
    t.publish = b->rank == root;
    if (UNLIKELY(!here)) err = impi_bcast_part((uintptr_t)buffer, count, (uintptr_t)datatype, root, (uintptr_t)comm, (uintptr_t)&part, t.publish);
    else if (t.publish && UNLIKELY(plan)) impi_type_move(plan, at, &part, t.n, 0);
    else if (t.publish) copy_part(&part, at, t.n);
    if (UNLIKELY(err)) return err;
    t.first = root;
    t.end = t.publish ? root : root + 1;
    err = operate(b, &t, &part, &part);
    if (err || t.publish) return err;
    if (UNLIKELY(!here)) return impi_bcast_rest((uintptr_t)buffer, count, (uintptr_t)datatype, (uintptr_t)comm, (uintptr_t)&part);
    if (UNLIKELY(plan)) impi_type_move(plan, at, &part, t.n, 1);
    else copy_part((void *)(uintptr_t)at, &part, t.n);
    return MPI_SUCCESS;
}

static inline int barrier(MPI_Comm comm)
{
    struct impi_fast_comm *c = find(comm);
    struct impi_board *b;
    struct part nothing = {{0}};
    if (UNLIKELY(alone(comm, c))) return MPI_SUCCESS;
    int err = board_of(comm, c, 0, "MPI_Barrier", &b);
    if (UNLIKELY(err || !b)) return err ? err : NOT_HERE;
    struct turn t = {.name = "MPI_Barrier", .publish = 1, .end = b->size};
    return operate(b, &t, &nothing, &nothing);
}

#define HERE_OR_IN_GO(here, go)                          \
    do {                                                 \
        int code = (here);                               \
        if (LIKELY(code == MPI_SUCCESS)) return code;    \
        if (code != NOT_HERE) return impi_raise(code);   \
        IN_GO(go);                                       \
    } while (0)

int impi_direct_Barrier(MPI_Comm comm) { HERE_OR_IN_GO(barrier(comm), impi_Barrier((uintptr_t)comm)); }

int impi_direct_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    HERE_OR_IN_GO(bcast(buffer, count, datatype, root, comm),
                  impi_Bcast((uintptr_t)buffer, count, (uintptr_t)datatype, root, (uintptr_t)comm));
}

int impi_direct_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    HERE_OR_IN_GO(root == NO_ROOT ? NOT_HERE : reduce(sendbuf, recvbuf, count, datatype, op, root, comm),
                  impi_Reduce((uintptr_t)sendbuf, (uintptr_t)recvbuf, count, (uintptr_t)datatype, (uintptr_t)op, root, (uintptr_t)comm));
}

int impi_direct_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    HERE_OR_IN_GO(reduce(sendbuf, recvbuf, count, datatype, op, NO_ROOT, comm),
                  impi_Allreduce((uintptr_t)sendbuf, (uintptr_t)recvbuf, count, (uintptr_t)datatype, (uintptr_t)op, (uintptr_t)comm));
}

int impi_direct_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return impi_direct_Bcast_c(buffer, count, datatype, root, comm);
}

int impi_direct_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    return impi_direct_Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm);
}

int impi_direct_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return impi_direct_Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm);
}
