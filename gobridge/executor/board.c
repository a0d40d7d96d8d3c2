/* MPI functions on boards (board.h). Order: a board, who may use it, reductions, what moves blocks, the functions. */
#define _GNU_SOURCE
#include "board_run.h"

struct impi_boards impi_boards;

/* Is the caller the only member? */
static inline int alone(const struct impi_fast_comm *c) { return c && c->size == 1 && !c->inter; }

/* Do so many bytes fit a slot, and are there any? */
static inline int is_short(int64_t n) { return (uint64_t)(n - 1) < LONGEST; }

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

enum result { WHOLE, UP_TO_ME, BEFORE_ME, MY_BLOCK };

/* A reduction: what all vectors, or those of the lower ranks, combine to goes to a root or to all. */
HOT int reduce(MPI_Request *request, enum result kind, int root, const void *sendbuf, void *recvbuf, int64_t count,
               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct impi_operation t = {.request = request, .count = count, .to = recvbuf};
    struct impi_fast_comm *c = find(comm);
    struct impi_board *b = board_of(c, root);
    struct pair p;
    if (UNLIKELY(alone(c) && root < 1 && kind != BEFORE_ME))
        return over(reduce_alone(sendbuf, recvbuf, count, datatype, op), request);
    if (UNLIKELY(!b || !paired(datatype, op, &p) || !p.combine || !is_short(count))) return IMPI_IN_GO;
    t.take = (int)count * p.size;
    t.n = kind == MY_BLOCK ? t.take * b->size : t.take;
    const int result = root == ALL || b->rank == root;
    const void *in = sendbuf == MPI_IN_PLACE && result ? recvbuf : sendbuf;
    if (UNLIKELY(!is_short(t.n) || !readable(in))) return IMPI_IN_GO;
    if (UNLIKELY(result && (!readable(recvbuf) || sendbuf == recvbuf))) return IMPI_IN_GO;
    const int wide = t.n > PAYLOAD, allreduce = kind == WHOLE && root == ALL;
    if (UNLIKELY(allreduce && t.n >= b->slices)) return IMPI_IN_GO;
    if (UNLIKELY(wide && (uintptr_t)recvbuf % (uint64_t)p.size)) return IMPI_IN_GO;
    t.own = in;
    t.combine = p.combine;
    t.at = kind == MY_BLOCK ? b->rank * t.take : 0;
    t.end = !result ? 0 : kind == UP_TO_ME ? b->rank + 1 : kind == BEFORE_ME ? b->rank : b->size;
    t.publish = 1; /* also what is combined where it was shown, as the program's may lie anywhere */
    return operate(b, NULL, &t);
}

struct blocks {
    const void *at;
    int64_t count; /* elements of a block */
    MPI_Datatype type;
};

/* Blocks of equal size go from a root or all to a root, to all, or to the others. A sender has one block for all, or
 * one for each. They are read before anything is written: in place they are where the result belongs. */
HOT int move(MPI_Request *request, int from, int to, int each, struct blocks send, struct blocks recv, MPI_Comm comm)
{
    struct impi_operation t = {.request = request};
    struct impi_board *b = board_of(find(comm), from == ALL ? to : from);
    const struct impi_plan *plan = NULL;
    if (UNLIKELY(!b)) return IMPI_IN_GO;
    const int root = from != ALL, many = each ? b->size : 1, gives = !root || b->rank == from;
    const int gets = to == ALL ? !root || !gives || recv.at != MPI_IN_PLACE : to == OTHERS ? !gives : b->rank == to;
    const struct blocks place = recv;
    int64_t in = 0, out = gets ? laid_out(&recv.at, recv.count, recv.type, &t.plan) : 1;
    const int once = request && each && send.at == MPI_IN_PLACE; /* Go may do all of it again */
    if (UNLIKELY(!is_short(out) || once)) return IMPI_IN_GO;
    t.stride = UNLIKELY(t.plan) ? recv.count * t.plan->extent : out;
    if (UNLIKELY(send.at == MPI_IN_PLACE && gets && !root)) {
        send = place;
        if (!each) send.at = (const char *)send.at + b->rank * t.stride;
    }
    if (gives && is_short(send.count)) in = laid_out(&send.at, send.count * many, send.type, &plan);
    if (!gets) out = in / many;
    if (UNLIKELY(!is_short(out) || !is_short(out * many) || (gives && in != out * many))) return IMPI_IN_GO;
    t.own = send.at;
    t.own_plan = plan;
    t.take = (int)out;
    t.n = t.take * many;
    t.publish = gives && (b->rank != to || plan);
    t.first = root ? from : 0;
    t.end = !gets ? t.first : root ? from + 1 : b->size;
    t.at = each ? b->rank * t.take : 0;
    t.to = (void *)(uintptr_t)recv.at;
    return operate(b, NULL, &t);
}

int impi_lane_start(struct impi_lane *l) { return LIKELY(l) ? operate(l->board, l, &l->operation) : IMPI_IN_GO; }

int impi_exec_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    struct impi_fast_comm *c = find(comm);
    struct impi_board *b = board_of(c, ALL);
    if (UNLIKELY(alone(c))) return over(MPI_SUCCESS, request);
    if (UNLIKELY(!b)) return IMPI_IN_GO;
    struct impi_operation t = {.request = request, .own = b, .publish = 1, .end = b->size};
    return operate(b, NULL, &t);
}

int impi_exec_Ibcast(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                     MPI_Request *request)
{
    struct blocks data = {buffer, count, datatype};
    if (UNLIKELY(alone(find(comm))))
        return root == 0 && bytes(buffer, count, datatype) >= 0 ? over(MPI_SUCCESS, request) : IMPI_IN_GO;
    return root < 0 ? IMPI_IN_GO : move(request, root, OTHERS, 0, data, data, comm);
}

/* Gather and Scatter, whose blocks go between the root and all; Allgather and Alltoall, between all. */
#define BLOCKS const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, \
               MPI_Datatype recvtype
#define MOVED(FROM, TO, EACH) move(request, FROM, TO, EACH, (struct blocks){sendbuf, sendcount, sendtype}, \
                                   (struct blocks){recvbuf, recvcount, recvtype}, comm)

#define ROOTED(OPERATION) (root < 0 ? IMPI_IN_GO : OPERATION)

int impi_exec_Igather(BLOCKS, int root, MPI_Comm comm, MPI_Request *request) { return ROOTED(MOVED(ALL, root, 0)); }
int impi_exec_Iscatter(BLOCKS, int root, MPI_Comm comm, MPI_Request *request) { return ROOTED(MOVED(root, ALL, 1)); }
int impi_exec_Iallgather(BLOCKS, MPI_Comm comm, MPI_Request *request) { return MOVED(ALL, ALL, 0); }
int impi_exec_Ialltoall(BLOCKS, MPI_Comm comm, MPI_Request *request) { return MOVED(ALL, ALL, 1); }

#define VECTORS const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op
#define REDUCED(KIND, ROOT) reduce(request, KIND, ROOT, sendbuf, recvbuf, count, datatype, op, comm)

int impi_exec_Ireduce(VECTORS, int root, MPI_Comm comm, MPI_Request *request) { return ROOTED(REDUCED(WHOLE, root)); }
int impi_exec_Iallreduce(VECTORS, MPI_Comm comm, MPI_Request *request) { return REDUCED(WHOLE, ALL); }
int impi_exec_Iscan(VECTORS, MPI_Comm comm, MPI_Request *request) { return REDUCED(UP_TO_ME, ALL); }
int impi_exec_Iexscan(VECTORS, MPI_Comm comm, MPI_Request *request) { return REDUCED(BEFORE_ME, ALL); }
int impi_exec_Ireduce_scatter_block(VECTORS, MPI_Comm comm, MPI_Request *request) { return REDUCED(MY_BLOCK, ALL); }
