/* MPI functions on boards (board.h). Order: a board, who may use it, reductions, broadcast, barrier, the functions. */
#define _GNU_SOURCE
#include <stdlib.h>
#include "board_run.h"

struct impi_boards impi_boards;

struct impi_board *impi_board_new(uintptr_t comm, void *memory, int rank, int size, const int32_t *local,
                                  void *const *controls)
{
    struct impi_board *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->comm = comm;
    b->rank = rank;
    b->size = size;
    b->members = ((struct impi_shm_board *)memory)->members;
    for (int r = 0; r < size; r++) {
        b->peers[r].local = local[r];
        if (r != rank) b->peers[r].ctl = controls[r];
    }
    return b;
}

/* Is the caller the only member? */
static inline int alone(const struct impi_fast_comm *c) { return c && c->size == 1; }

/* Finds the board of a communicator for an operation that all its members would make on one: *b is NULL if there is
 * none. Answers the code of an error. */
static inline int board_of(MPI_Comm comm, const struct impi_fast_comm *c, int root, const char *name,
                           struct impi_board **b)
{
    *b = NULL;
    if (UNLIKELY(c && (uint32_t)root >= (uint32_t)c->size)) return MPI_SUCCESS;
    if (UNLIKELY(!c || !c->board)) return impi_board_open((uintptr_t)comm, root, (char *)(uintptr_t)name, (uintptr_t)b);
    if (LIKELY(c->board != &impi_boards.none)) *b = c->board;
    return MPI_SUCCESS;
}

/* A predefined type and operation that go together. */
struct pair {
    int size;              /* bytes of an element without gaps */
    impi_combine *combine; /* NULL: there is no kernel for them */
};

/* 0 if they are not predefined, or do not go together. */
static inline int paired(MPI_Datatype datatype, MPI_Op op, struct pair *p)
{
    uintptr_t type = (uintptr_t)datatype - (uintptr_t)MPI_DATATYPE_NULL;
    uintptr_t handle = (uintptr_t)op - (uintptr_t)MPI_OP_NULL;
    if (UNLIKELY(type >= IMPI_FAST_TYPES || handle >= IMPI_BOARD_OP_HANDLES)) return 0;
    int code = impi_boards.ops[handle];
    p->size = impi_fast.dense[type];
    p->combine = impi_combines[code][impi_boards.types[type].element];
    return impi_boards.types[type].ops >> code & 1;
}

/* Are there elements, and do they fit a slot? */
static inline int is_short(int64_t count, int64_t size)
{
    return count > 0 && count <= PAYLOAD && size > 0 && size <= PAYLOAD && count * size <= PAYLOAD;
}

static inline int readable(const void *buf) { return (uintptr_t)buf >= 4096; } /* else it is NULL, or a sentinel */

/* A reduction whose result is its only vector, of any length. */
static inline int reduce_alone(const void *sendbuf, void *recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op)
{
    struct pair p;
    int64_t n = bytes(recvbuf, count, datatype);
    if (UNLIKELY(n < 0 || !paired(datatype, op, &p))) return IMPI_IN_GO;
    if (sendbuf == MPI_IN_PLACE || n == 0) return MPI_SUCCESS;
    if (UNLIKELY(!readable(sendbuf) || sendbuf == recvbuf)) return IMPI_IN_GO;
    copy_payload(recvbuf, sendbuf, (uint64_t)n);
    return MPI_SUCCESS;
}

/* Copies what the program sees of a part. */
static inline void copy_part(void *to, const void *from, int n)
{
    if (LIKELY(n == 8)) memcpy(to, from, 8);
    else if (n == 4) memcpy(to, from, 4);
    else memcpy(to, from, (size_t)n);
}

enum { NO_ROOT = -1 };

/* MPI_Reduce, and MPI_Allreduce, which has no root. */
HOT int reduce(const void *sendbuf, void *recvbuf, int64_t count, MPI_Datatype datatype, MPI_Op op, int root,
               MPI_Comm comm)
{
    const int everybody = root == NO_ROOT;
    struct turn t = {.name = everybody ? "MPI_Allreduce" : "MPI_Reduce", .count = count};
    struct impi_fast_comm *c = find(comm);
    struct impi_board *b;
    struct pair p;
    if (UNLIKELY(alone(c)))
        return everybody || root == 0 ? reduce_alone(sendbuf, recvbuf, count, datatype, op) : IMPI_IN_GO;
    if (UNLIKELY(!paired(datatype, op, &p) || !p.combine || !is_short(count, p.size))) return IMPI_IN_GO;
    int err = board_of(comm, c, everybody ? 0 : root, t.name, &b);
    if (UNLIKELY(err || !b)) return err ? err : IMPI_IN_GO;

    const int result = everybody || b->rank == root;
    const void *in = sendbuf == MPI_IN_PLACE && result ? recvbuf : sendbuf;
    if (UNLIKELY(!readable(in) || (result && (!readable(recvbuf) || sendbuf == recvbuf)))) return IMPI_IN_GO;
    struct part own = {{0}}, parts;
    t.n = (int)count * p.size;
    copy_part(&own, in, t.n);
    t.combine = p.combine;
    t.publish = everybody || !result;
    t.end = result ? b->size : 0;
    err = operate(b, &t, &own, &parts);
    if (result && LIKELY(!err)) copy_part(recvbuf, &parts, t.n);
    return err;
}

/* The bytes of a short signature: all members have the same, whatever their types are. 0: it is empty, or not short, or
 * there is no such type. */
static inline int short_signature(int64_t count, MPI_Datatype datatype)
{
    int64_t size = impi_type_size(datatype);
    return LIKELY(is_short(count, size)) ? (int)(count * size) : 0;
}

int impi_exec_Bcast(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct turn t = {.name = "MPI_Bcast"};
    struct impi_fast_comm *c = find(comm);
    struct impi_board *b;
    if (UNLIKELY(alone(c)))
        return root == 0 && bytes(buffer, count, datatype) >= 0 ? MPI_SUCCESS : IMPI_IN_GO;
    t.n = short_signature(count, datatype);
    if (UNLIKELY(t.n == 0)) return IMPI_IN_GO;
    int err = board_of(comm, c, root, t.name, &b);
    if (UNLIKELY(err || !b)) return err ? err : IMPI_IN_GO;

    struct part part = {{0}};
    const struct impi_plan *plan;
    const void *at = buffer;
    if (UNLIKELY(laid_out(&at, count, datatype, &plan) != t.n)) return IMPI_IN_GO; /* on the same board */
    t.publish = b->rank == root;
    if (t.publish && UNLIKELY(plan)) impi_plan_move(plan, at, &part, t.n, 0);
    else if (t.publish) copy_part(&part, at, t.n);
    t.first = root;
    t.end = t.publish ? root : root + 1;
    err = operate(b, &t, &part, &part);
    if (err || t.publish) return err;
    if (UNLIKELY(plan)) impi_plan_move(plan, at, &part, t.n, 1);
    else copy_part((void *)(uintptr_t)at, &part, t.n);
    return MPI_SUCCESS;
}

int impi_exec_Barrier(MPI_Comm comm)
{
    struct impi_fast_comm *c = find(comm);
    struct impi_board *b;
    struct part nothing = {{0}};
    if (UNLIKELY(alone(c))) return MPI_SUCCESS;
    int err = board_of(comm, c, 0, "MPI_Barrier", &b);
    if (UNLIKELY(err || !b)) return err ? err : IMPI_IN_GO;
    struct turn t = {.name = "MPI_Barrier", .publish = 1, .end = b->size};
    return operate(b, &t, &nothing, &nothing);
}

int impi_exec_Reduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                     MPI_Comm comm)
{
    return root < 0 ? IMPI_IN_GO : reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
}

int impi_exec_Allreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm)
{
    return reduce(sendbuf, recvbuf, count, datatype, op, NO_ROOT, comm);
}
