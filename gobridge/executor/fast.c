/* The fast path of sends (fast.h), and what a program asks of a communicator most. */
#define _GNU_SOURCE
#include "fast_match.h"

struct impi_fast impi_fast;
uint32_t impi_in_use;

/* Gives a message to oneself to a receive that is posted here, if nothing stands in the ring before it. Lock held. */
static int hand_over(struct impi_shm_private *shm, const struct impi_fast_comm *c, int local, int tag, const void *buf,
                     int64_t n)
{
    struct impi_quick_queue *q = &impi_quick.from[local];
    const struct impi_shm_inbound *in = &shm->peers[local].in;
    struct impi_quick_slot *before, *s;
    if (!q->head || in->read != shm->peers[local].out.tail) return 0;
    if (!(s = wanted(q, c->cid, c->rank, tag, &before)) || s->held || (uint64_t)n > s->bytes) return 0;
    copy_payload(s->buf, buf, (uint64_t)n);
    deliver(q, s, before, tag, (uint64_t)n);
    return 1;
}

/* Publishes a payload while it is copied, or gathered by rows: a little at first, so that the receiver begins. */
RARE void send_growing(struct impi_shm_record *r, const struct impi_plan *plan, const unsigned char *buf, int64_t n,
                       int64_t row)
{
    enum { BYTES = 4096, ROWS = 1024, FIRST_ROWS = 256 };
    unsigned char *to = (unsigned char *)r + LINE;
    uint32_t *filled = filled_of(r);
    int64_t chunk = !row ? BYTES : row < FIRST_ROWS ? FIRST_ROWS / row * row : row;
    const int64_t next = !row ? 2 * BYTES : row < ROWS ? ROWS / row * row : row, least = row ? 0 : BYTES;
    *filled = 0;
    __atomic_store_n(&r->state, (uint32_t)(IMPI_SHM_FORM_GROWING | (uint64_t)n << IMPI_SHM_LENGTH_SHIFT),
                     __ATOMIC_RELEASE);
    for (int64_t done = 0; done < n; chunk = next) {
        if (n - done < chunk + least) chunk = n - done;
        if (row) impi_fetch_lines(to + done, chunk), impi_plan_move_rows(plan, buf, to, done, chunk, 0);
        else store_payload(NULL, buf + done, to + done, chunk);
        done += chunk;
        __atomic_store_n(filled, (uint32_t)done, __ATOMIC_RELEASE);
    }
}

ALIGNED int impi_exec_Send(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    struct impi_fast *f = &impi_fast;
    struct impi_shm_private *shm = f->shm;
    struct impi_fast_comm *c = find(comm);
    const struct impi_plan *plan;
    int64_t n = laid_out(&buf, count, datatype, &plan);
    if (UNLIKELY(!shm || !c || n < 0 || n > (plan ? f->eager : f->growing))) return IMPI_IN_GO;
    if (UNLIKELY((uint32_t)dest >= (uint32_t)c->size || (uint32_t)tag > f->tag_ub)) return IMPI_IN_GO;
    int local = c->local[dest], self = local == (int)shm->local_rank;
    if (UNLIKELY(local < 0) || !try_lock(shm)) return IMPI_IN_GO;

    struct impi_shm_outbound *o = &shm->peers[local].out;
    uint64_t need = record_bytes((uint64_t)n);
    struct impi_shm_record *r;
    if (UNLIKELY(self) && !plan && hand_over(shm, c, local, tag, buf, n)) goto over;
    /* What waits in the engine may be an earlier message to oneself, or the receive of this one. */
    if (UNLIKELY(f->queued || (self && c->waiting) || !(r = place(shm, o, need)))) {
        unlock(shm);
        return IMPI_IN_GO;
    }
    ((struct impi_shm_record *)(o->ring + ((o->tail + need) & (shm->ring_bytes - 1))))->state = 0;
    r->tag = tag;
    r->cid = c->cid;
    r->lsrank = c->rank;
    r->srqid = 0;
    int64_t row = UNLIKELY(plan) && plan->growing && n == plan->size && f->looks && !self ? plan->row : 0;
    if (UNLIKELY(n > f->eager || row)) {
        send_growing(r, plan, buf, n, row);
    } else {
        unsigned char *to = n <= INLINE ? r->body : (unsigned char *)r + LINE;
        store_payload(plan, buf, to, n);
        __atomic_store_n(&r->state, (uint32_t)(IMPI_SHM_FORM_SHORT | (uint64_t)n << IMPI_SHM_LENGTH_SHIFT),
                         __ATOMIC_RELEASE);
    }
    o->tail += need;
over:;
    int wake = sleeps(shm, o->ctl);
    unlock(shm);
    if (UNLIKELY(wake)) impi_ring(local);
    return MPI_SUCCESS;
}

int impi_exec_Isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request *request)
{
    if (UNLIKELY(!request || impi_exec_Send(buf, count, datatype, dest, tag, comm))) return IMPI_IN_GO;
    *request = (MPI_Request)IMPI_SENT_REQUEST;
    return MPI_SUCCESS;
}

int impi_exec_Comm_rank(MPI_Comm comm, int *rank)
{
    const struct impi_fast_comm *c = find(comm);
    return LIKELY(c && rank) ? *rank = c->rank, MPI_SUCCESS : IMPI_IN_GO;
}

int impi_exec_Comm_size(MPI_Comm comm, int *size)
{
    const struct impi_fast_comm *c = find(comm);
    return LIKELY(c && size) ? *size = c->members, MPI_SUCCESS : IMPI_IN_GO;
}
