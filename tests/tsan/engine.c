/* A small engine in C in the place of the one in Go: the same lock, rings and tables, and what libimpi does with them,
 * for short messages between two ranks. Order: lock, requests, matching, receives of C (libimpi/quick.go), rings, the
 * calls, boards, windows. */
#define _GNU_SOURCE
#include "engine.h"
#include "../../gobridge/executor/board.h"
#include "../../gobridge/executor/fast_ring.h"
#include "../../gobridge/executor/types.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

__thread struct impi_call impi_call;

static struct impi_shm_private *shm;
static int me;
static unsigned long calls, adoptions;

static void fail(const char *what)
{
    fprintf(stderr, "rank %d: %s\n", me, what);
    abort();
}

static void lock(void)
{
    for (int i = 0; i < 40; i++)
        if (try_lock(shm)) return;
    while (__atomic_exchange_n(&shm->lock, IMPI_SHM_LOCK_SLEEP, __ATOMIC_ACQUIRE) != IMPI_SHM_LOCK_FREE)
        syscall(SYS_futex, &shm->lock, FUTEX_WAIT_PRIVATE, IMPI_SHM_LOCK_SLEEP, NULL, NULL, 0);
}

static void enter(void)
{
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    lock();
}

/* A receive. */
struct request {
    struct request *next;
    uint32_t generation, quick;
    int used, done;
    int32_t source, tag; /* asked for; once done, those of the message */
    uint64_t cid, room;  /* once done, room is the message's length */
    void *buf;
};

struct message {
    struct message *next;
    uint64_t cid, length;
    int32_t source, tag;
    unsigned char payload[];
};

enum { REQUESTS = 4096 };
static struct request pool[REQUESTS], *posted;
static struct message *unexpected;

static struct impi_fast_comm *comm_of(uint64_t cid) { return &impi_fast.comms[cid - 1]; }
static void count_waiting(uint64_t cid, int n)
{
    __atomic_add_fetch(&comm_of(cid)->waiting, (uint32_t)n, __ATOMIC_RELAXED);
}
static void count_under_way(int n) { __atomic_add_fetch(&impi_fast.under_way, (uint32_t)n, __ATOMIC_RELAXED); }

static struct request *new_request(void *buf, uint64_t room, int source, int tag, uint64_t cid)
{
    for (int i = 0; i < REQUESTS; i++) {
        struct request *r = &pool[i];
        if (r->used) continue;
        *r = (struct request){.generation = r->generation + 2,
                              .used = 1,
                              .source = source,
                              .tag = tag,
                              .cid = cid,
                              .room = room,
                              .buf = buf};
        count_under_way(1);
        return r;
    }
    fail("too many requests");
    return NULL;
}

static uintptr_t id_of(const struct request *r) { return (uintptr_t)r->generation << 32 | (uintptr_t)(r - pool + 1); }

static void release(struct request *r)
{
    if (r->quick) {
        struct impi_quick_slot *s = &impi_quick.slots[r->quick - 1];
        __atomic_store_n(&s->state, IMPI_QUICK_FREE, __ATOMIC_RELAXED);
        __atomic_store_n(&s->generation, s->generation + 1, __ATOMIC_RELAXED);
        s->next = impi_quick.idle;
        impi_quick.idle = r->quick;
    }
    r->used = 0;
}

static void finish(struct request *r, const void *payload, uint64_t n, int source, int tag)
{
    if (n > r->room) fail("a message is too long");
    memcpy(r->buf, payload, n);
    r->source = source, r->tag = tag, r->room = n, r->done = 1;
    count_under_way(-1);
}

static int fits(uint64_t cid, int want_source, int want_tag, uint64_t got_cid, int source, int tag)
{
    return cid == got_cid && (want_source == source || want_source == MPI_ANY_SOURCE) &&
           (want_tag == tag || want_tag == MPI_ANY_TAG);
}

static void push(struct request *r)
{
    struct request **at = &posted;
    while (*at) at = &(*at)->next;
    *at = r;
    count_waiting(r->cid, 1);
}

static void adopt_quick(void)
{
    for (int local = 0; local < RANKS; local++) {
        for (uint32_t n = impi_quick.from[local].head; n; n = impi_quick.slots[n - 1].next) {
            struct impi_quick_slot *s = &impi_quick.slots[n - 1];
            struct request *r = new_request(s->buf, s->bytes, s->source, s->tag, s->cid);
            r->quick = n;
            push(r);
            s->request = id_of(r);
            __atomic_store_n(&s->state, IMPI_QUICK_ADOPTED, __ATOMIC_RELAXED);
            adoptions++;
        }
        impi_quick.from[local] = (struct impi_quick_queue){0, 0};
    }
    impi_quick.posted = 0;
}

static void post(struct request *r)
{
    adopt_quick();
    for (struct message **at = &unexpected; *at; at = &(*at)->next) {
        struct message *m = *at;
        if (!fits(r->cid, r->source, r->tag, m->cid, m->source, m->tag)) continue;
        *at = m->next;
        count_waiting(m->cid, -1);
        finish(r, m->payload, m->length, m->source, m->tag);
        free(m);
        return;
    }
    push(r);
}

static void arrive(uint64_t cid, int source, int tag, const void *payload, uint64_t n)
{
    adopt_quick();
    for (struct request **at = &posted; *at; at = &(*at)->next) {
        struct request *r = *at;
        if (!fits(r->cid, r->source, r->tag, cid, source, tag)) continue;
        *at = r->next;
        count_waiting(cid, -1);
        finish(r, payload, n, source, tag);
        return;
    }
    struct message *m = malloc(sizeof *m + n), **end = &unexpected;
    *m = (struct message){.cid = cid, .length = n, .source = source, .tag = tag};
    memcpy(m->payload, payload, n);
    while (*end) end = &(*end)->next;
    *end = m;
    count_waiting(cid, 1);
}

/* The request of an id; NULL if there is none. */
static struct request *find_request(uintptr_t id)
{
    if (id & IMPI_QUICK_BIT) {
        uint32_t n = ((uint32_t)id & ~(uint32_t)IMPI_QUICK_BIT) + 1;
        struct impi_quick_slot *s = &impi_quick.slots[n - 1];
        if (n > IMPI_QUICK_SLOTS || s->generation != id >> 32 || s->state == IMPI_QUICK_FREE) return NULL;
        if (s->state == IMPI_QUICK_POSTED) adopt_quick();
        if (s->state == IMPI_QUICK_DONE) {
            struct request *r = new_request(s->buf, s->bytes, s->source, s->tag, s->cid);
            r->quick = n, r->done = 1;
            count_under_way(-1);
            s->request = id_of(r);
            __atomic_store_n(&s->state, IMPI_QUICK_ADOPTED, __ATOMIC_RELAXED);
        }
        id = s->request;
    }
    uint32_t n = (uint32_t)id;
    struct request *r = n >= 1 && n <= REQUESTS ? &pool[n - 1] : NULL;
    return r && r->used && r->generation == id >> 32 ? r : NULL;
}

/* Takes what has arrived. */
static void poll_ring(struct impi_shm_inbound *in)
{
    for (;;) {
        uint64_t at = in->read & (RING - 1);
        struct impi_shm_record *r = (struct impi_shm_record *)(in->ring + at);
        uint32_t state = __atomic_load_n(&r->state, __ATOMIC_ACQUIRE);
        if (state == 0) return;
        uint64_t n = state >> IMPI_SHM_LENGTH_SHIFT, size = record_bytes(n);
        if (state == IMPI_SHM_FORM_SKIP) {
            size = RING - at;
        } else {
            arrive(r->cid, r->lsrank, r->tag, n <= INLINE ? r->body : (unsigned char *)r + LINE, n);
        }
        __atomic_store_n(&in->read, in->read + size, __ATOMIC_RELAXED);
        if (in->read - in->told >= RING / 4) {
            in->told = in->read;
            __atomic_store_n(&in->pos->read, in->read, __ATOMIC_RELEASE);
        }
    }
}

static void poll_all(void) { poll_ring(&shm->peers[1 - me].in); }

/* Gives other threads a turn, and says that this rank sleeps: senders ring. */
static void pause_unlocked(void)
{
    struct impi_shm_control *own = (struct impi_shm_control *)shm->segment; /* so has threads.c arranged it */
    __atomic_store_n(&own->sleepers, 1, __ATOMIC_RELAXED);
    unlock(shm);
    sched_yield();
    lock();
}

void impi_ring(GoInt32 local) { __atomic_store_n(&shm->peers[local].out.ctl->sleepers, 0, __ATOMIC_RELAXED); }

static int try_send(struct impi_shm_outbound *o, const void *buf, uint64_t n, int tag, const struct impi_fast_comm *c)
{
    uint64_t at = o->tail & (RING - 1), need = record_bytes(n), skip = RING - at < need ? RING - at : 0;
    o->limit = __atomic_load_n(&o->pos->read, __ATOMIC_ACQUIRE) + RING;
    if (o->tail + skip + need + LINE > o->limit) return 0;
    struct impi_shm_record *r = (struct impi_shm_record *)(o->ring + (skip ? 0 : at));
    ((struct impi_shm_record *)(o->ring + ((o->tail + skip + need) & (RING - 1))))->state = 0;
    r->tag = tag, r->cid = c->cid, r->lsrank = c->rank, r->srqid = 0;
    memcpy(n <= INLINE ? r->body : (unsigned char *)r + LINE, buf, n);
    uint32_t state = (uint32_t)(IMPI_SHM_FORM_SHORT | n << IMPI_SHM_LENGTH_SHIFT);
    if (skip) {
        r->state = state;
        __atomic_store_n(&((struct impi_shm_record *)(o->ring + at))->state, IMPI_SHM_FORM_SKIP, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(&r->state, state, __ATOMIC_RELEASE);
    }
    o->tail += skip + need;
    return 1;
}

static struct impi_fast_comm *known(uintptr_t comm)
{
    struct impi_fast_comm *c = find((MPI_Comm)comm);
    if (!c) fail("no such communicator");
    return c;
}

static int size_of(uintptr_t datatype) { return impi_fast.dense[datatype - 0x200]; }

GoInt32 impi_Send(GoUintptr buf, GoInt64 count, GoUintptr datatype, GoInt32 dest, GoInt32 tag, GoUintptr comm)
{
    enter();
    while (poll_all(), !try_send(&shm->peers[dest].out, (void *)buf, (uint64_t)count * (uint64_t)size_of(datatype), tag,
                                 known(comm)))
        pause_unlocked();
    unlock(shm);
    return 0;
}

GoInt32 impi_Rsend(GoUintptr buf, GoInt64 count, GoUintptr datatype, GoInt32 dest, GoInt32 tag, GoUintptr comm)
{
    return impi_Send(buf, count, datatype, dest, tag, comm);
}

GoInt32 impi_Isend(GoUintptr buf, GoInt64 count, GoUintptr datatype, GoInt32 dest, GoInt32 tag, GoUintptr comm,
                   GoUintptr request)
{
    *(uintptr_t *)request = IMPI_SENT_REQUEST;
    return impi_Send(buf, count, datatype, dest, tag, comm);
}

static uintptr_t start_receive(uintptr_t buf, int64_t count, uintptr_t datatype, int source, int tag, uintptr_t comm)
{
    struct request *r =
        new_request((void *)buf, (uint64_t)count * (uint64_t)size_of(datatype), source, tag, known(comm)->cid);
    post(r);
    return id_of(r);
}

GoInt32 impi_Irecv(GoUintptr buf, GoInt64 count, GoUintptr datatype, GoInt32 source, GoInt32 tag, GoUintptr comm,
                   GoUintptr request)
{
    enter();
    *(uintptr_t *)request = start_receive(buf, count, datatype, source, tag, comm);
    unlock(shm);
    return 0;
}

static int is_idle(uintptr_t id) { return id == (uintptr_t)MPI_REQUEST_NULL || id == IMPI_SENT_REQUEST; }

/* Is the request done? NULL ones are. Lock held. */
static int done(uintptr_t id)
{
    if (is_idle(id)) return 1;
    struct request *r = find_request(id);
    if (!r) fail("a request that is none");
    return r->done;
}

static void collect(uintptr_t *id, MPI_Status *status)
{
    if (!is_idle(*id)) {
        struct request *r = find_request(*id);
        set_status(status, r->source, r->tag, r->room);
        release(r);
    } else {
        set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    }
    *id = (uintptr_t)MPI_REQUEST_NULL;
}

GoInt32 impi_Waitall(GoInt32 count, GoUintptr requests, GoUintptr statuses)
{
    uintptr_t *id = (uintptr_t *)requests;
    MPI_Status *status = (MPI_Status *)statuses;
    enter();
    for (int i = 0; i < count; i++) {
        while (poll_all(), !done(id[i])) pause_unlocked();
        collect(&id[i], status ? &status[i] : NULL);
    }
    unlock(shm);
    return 0;
}

GoInt32 impi_Wait(GoUintptr request, GoUintptr status) { return impi_Waitall(1, request, status); }

GoInt32 impi_Testall(GoInt32 count, GoUintptr requests, GoUintptr flag, GoUintptr statuses)
{
    uintptr_t *id = (uintptr_t *)requests;
    MPI_Status *status = (MPI_Status *)statuses;
    int all = 1;
    enter();
    poll_all();
    for (int i = 0; i < count; i++) all &= done(id[i]);
    for (int i = 0; all && i < count; i++) collect(&id[i], status ? &status[i] : NULL);
    unlock(shm);
    *(int *)flag = all;
    return 0;
}

GoInt32 impi_Test(GoUintptr request, GoUintptr flag, GoUintptr status)
{
    return impi_Testall(1, request, flag, status);
}

GoInt32 impi_Recv(GoUintptr buf, GoInt64 count, GoUintptr datatype, GoInt32 source, GoInt32 tag, GoUintptr comm,
                  GoUintptr status)
{
    uintptr_t id;
    impi_Irecv(buf, count, datatype, source, tag, comm, (uintptr_t)&id);
    return impi_Waitall(1, (uintptr_t)&id, status);
}

GoInt32 impi_sendrecv_rest(GoUintptr buf, GoInt64 count, GoUintptr datatype, GoInt32 source, GoInt32 tag,
                           GoUintptr comm, GoUintptr status, GoInt32 replace)
{
    (void)replace;
    return impi_Recv(buf, count, datatype, source, tag, comm, status);
}

GoInt32 impi_Sendrecv(GoUintptr sendbuf, GoInt64 sendcount, GoUintptr sendtype, GoInt32 dest, GoInt32 sendtag,
                      GoUintptr recvbuf, GoInt64 recvcount, GoUintptr recvtype, GoInt32 source, GoInt32 recvtag,
                      GoUintptr comm, GoUintptr status)
{
    impi_Send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
    return impi_Recv(recvbuf, recvcount, recvtype, source, recvtag, comm, status);
}

GoInt32 impi_board_wait(GoUintptr word, GoInt64 least, GoUintptr comm, char *function, GoInt32 bytes)
{
    (void)comm, (void)function, (void)bytes;
    enter();
    while (poll_all(), __atomic_load_n((uint64_t *)word, __ATOMIC_ACQUIRE) < (uint64_t)least) pause_unlocked();
    unlock(shm);
    return 0;
}

void impi_board_turn(void)
{
    enter();
    poll_all();
    unlock(shm);
}

/* Boards, where the collectives of each communicator meet. */
static void open_boards(void *memory[COMMS])
{
    static struct impi_board boards[COMMS];
    uintptr_t type = (uintptr_t)MPI_INT - (uintptr_t)MPI_DATATYPE_NULL;
    for (int i = 0; i < COMMS; i++) {
        struct impi_fast_comm *c = &impi_fast.comms[i];
        struct impi_board *b = c->board = &boards[i];
        b->comm = c->handle, b->rank = c->rank, b->size = c->size, b->slices = INT32_MAX;
        b->members = ((struct impi_shm_board *)memory[i])->members;
        b->wide = (struct impi_shm_board_wide *)&b->members[RANKS];
        for (int r = 0; r < RANKS; r++) {
            b->peers[r].local = r;
            if (r != me) b->peers[r].ctl = shm->peers[r].out.ctl;
        }
    }
    impi_boards.looks = 50;
    impi_boards.ops[(uintptr_t)MPI_SUM - (uintptr_t)MPI_OP_NULL] = IMPI_OP_SUM;
    impi_boards.types[type].ops = 1 << IMPI_OP_SUM;
    impi_boards.types[type].element = IMPI_ELEMENT_SIGNED + 2;
}

void counts(unsigned long *entered, unsigned long *adopted)
{
    lock();
    *entered = __atomic_load_n(&calls, __ATOMIC_RELAXED);
    *adopted = adoptions;
    if (posted || unexpected || impi_quick.posted) fail("something is left");
    unlock(shm);
}

static uint64_t *posts; /* by who waits for them */

static void open_windows(struct memory *memory, MPI_Win windows[WINDOWS])
{
    static struct impi_window_target targets[WINDOWS][RANKS];
    static struct impi_window views[WINDOWS];
    static uint32_t locking[WINDOWS][RANKS];
    posts = memory->posted;
    impi_windows.swappable[(uintptr_t)MPI_INT - (uintptr_t)MPI_DATATYPE_NULL] = 1;
    for (int i = 0; i < WINDOWS; i++) {
        for (int r = 0; r < RANKS; r++)
            targets[i][r] = (struct impi_window_target){.base = memory->cells[i][r], .words = &memory->words[i][r],
                .control = r == me ? (struct impi_shm_control *)shm->segment : shm->peers[r].out.ctl,
                .size = sizeof memory->cells[i][r], .unit = sizeof(int),
                .completes = &memory->completed[r], .completed = &memory->completed[me],
                .locking = &locking[i][r], .mine = (uint32_t)me + 1,
                .hold = i == ALL ? IMPI_WINDOW_SHARED : IMPI_WINDOW_NOT_HELD};
        views[i] = (struct impi_window){.handle = IMPI_FIRST_HANDLE + (uint64_t)i, .targets = targets[i],
            .count = RANKS, .me = (uint32_t)me, .direct = 1, .may_lock = i == ONE,
            .access = i == ALL ? IMPI_WINDOW_IN_LOCK_ALL : IMPI_WINDOW_CLOSED};
        windows[i] = (MPI_Win)(uintptr_t)views[i].handle;
        __atomic_store_n(&impi_windows.of[i], &views[i], __ATOMIC_RELEASE);
    }
}

void impi_window_wake(GoUintptr win)
{
    (void)win;
    impi_ring(1 - me);
}

static GoInt32 await(const uint64_t *word, uint64_t least)
{
    return impi_board_wait((uintptr_t)word, (int64_t)least, 0, NULL, 0);
}

/* A fence that lasts: the number is stored once more. */
GoInt32 impi_Win_fence(GoInt32 assert, GoUintptr win)
{
    struct impi_window *w = impi_windows.of[win - IMPI_FIRST_HANDLE];
    __atomic_store_n(&w->targets[me].words->fence, ++w->fences, __ATOMIC_SEQ_CST);
    impi_window_wake(win);
    for (int r = 0; r < RANKS; r++) await(&w->targets[r].words->fence, w->fences);
    w->access = assert ? IMPI_WINDOW_CLOSED : IMPI_WINDOW_FENCED;
    return 0;
}

/* Epochs between the two ranks; the groups are not looked at. */
GoInt32 impi_Win_post(GoUintptr group, GoInt32 assert, GoUintptr win)
{
    struct impi_window *w = impi_windows.of[win - IMPI_FIRST_HANDLE];
    w->posted = 1;
    __atomic_store_n(&posts[1 - me], ++w->targets[1 - me].exposed, __ATOMIC_SEQ_CST);
    impi_window_wake(win);
    return 0;
}

GoInt32 impi_Win_start(GoUintptr group, GoInt32 assert, GoUintptr win)
{
    struct impi_window *w = impi_windows.of[win - IMPI_FIRST_HANDLE];
    struct impi_window_target *t = &w->targets[1 - me];
    await(&posts[me], ++t->started);
    w->access = IMPI_WINDOW_IN_START;
    t->hold = IMPI_WINDOW_OPEN;
    return 0;
}

/* An epoch that lasts. */
GoInt32 impi_Win_wait(GoUintptr win)
{
    struct impi_window *w = impi_windows.of[win - IMPI_FIRST_HANDLE];
    await(w->targets[1 - me].completed, w->targets[1 - me].exposed);
    w->posted = 0;
    return 0;
}

/* A lock that is not free. */
GoInt32 impi_Win_lock(GoInt32 lock_type, GoInt32 rank, GoInt32 assert, GoUintptr win)
{
    struct impi_window *w = impi_windows.of[win - IMPI_FIRST_HANDLE];
    struct impi_window_target *t = &w->targets[rank];
    struct impi_window_member *m = t->words;
    const int exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
    t->ticket = __atomic_fetch_add(&m->next, 1, __ATOMIC_SEQ_CST);
    impi_board_wait((uintptr_t)(exclusive ? &m->write : &m->read), (int64_t)t->ticket, (uintptr_t)assert, NULL, 0);
    if (!exclusive) __atomic_store_n(&m->read, t->ticket + 1, __ATOMIC_SEQ_CST);
    t->hold = exclusive ? IMPI_WINDOW_EXCLUSIVE : IMPI_WINDOW_SHARED;
    w->access = IMPI_WINDOW_IN_LOCKS;
    w->locks++;
    return 0;
}

/* Accumulates while another one holds the target's lock for long. */
GoInt32 impi_Accumulate(GoUintptr origin_addr, GoInt64 origin_count, GoUintptr origin_datatype, GoInt32 target_rank,
                        GoInt64 target_disp, GoInt64 target_count, GoUintptr target_datatype, GoUintptr op,
                        GoUintptr win)
{
    sched_yield();
    return PMPI_Accumulate((void *)origin_addr, (int)origin_count, (MPI_Datatype)origin_datatype, target_rank,
                           target_disp, (int)target_count, (MPI_Datatype)target_datatype, (MPI_Op)op, (MPI_Win)win);
}

GoInt32 impi_Fetch_and_op(GoUintptr origin_addr, GoUintptr result_addr, GoUintptr datatype, GoInt32 target_rank,
                          GoInt64 target_disp, GoUintptr op, GoUintptr win)
{
    sched_yield();
    return PMPI_Fetch_and_op((void *)origin_addr, (void *)result_addr, (MPI_Datatype)datatype, target_rank, target_disp,
                             (MPI_Op)op, (MPI_Win)win);
}

GoInt32 impi_Compare_and_swap(GoUintptr origin_addr, GoUintptr compare_addr, GoUintptr result_addr, GoUintptr datatype,
                              GoInt32 target_rank, GoInt64 target_disp, GoUintptr win)
{
    sched_yield();
    return PMPI_Compare_and_swap((void *)origin_addr, (void *)compare_addr, (void *)result_addr, (MPI_Datatype)datatype,
                                 target_rank, target_disp, (MPI_Win)win);
}

void open_engine(struct impi_shm_private *segment, MPI_Comm comms[COMMS], void *boards[COMMS], struct memory *memory,
                 MPI_Win windows[WINDOWS])
{
    static int32_t local[RANKS];
    shm = segment;
    me = (int)shm->local_rank;
    local[me] = -1, local[1 - me] = 1 - me;
    for (int i = 0; i < IMPI_QUICK_SLOTS; i++)
        impi_quick.slots[i].generation = 1, impi_quick.slots[i].next = (uint32_t)(i + 2) % (IMPI_QUICK_SLOTS + 1);
    impi_quick.idle = 1;
    impi_fast.tag_ub = 1 << 20, impi_fast.eager = impi_fast.growing = EAGER, impi_fast.looks = 50;
    impi_fast.strings = impi_fast.past = UINT64_MAX;
    impi_fast.dense[(uintptr_t)MPI_INT - 0x200] = 4;
    impi_types.named[(uintptr_t)MPI_INT - (uintptr_t)MPI_DATATYPE_NULL].size = 4;
    for (int i = 0; i < COMMS; i++) {
        struct impi_fast_comm *c = &impi_fast.comms[i];
        comms[i] = i == 0 ? MPI_COMM_WORLD : i == 1 ? MPI_COMM_SELF : (MPI_Comm)(uintptr_t)(4094 + i);
        c->cid = (uint64_t)i + 1, c->rank = me, c->size = c->members = RANKS, c->local = local;
        __atomic_store_n(&c->handle, (uintptr_t)comms[i], __ATOMIC_RELEASE);
    }
    open_boards(boards);
    open_windows(memory, windows);
    impi_in_use = 1;
    impi_fast.shm = shm;
}

/* What must not happen here. */
#define NEVER(declaration) declaration { fail(#declaration); return 0; }
void impi_error_action(GoInt32 code, struct impi_action *action) { (void)code, (void)action; fail("an error"); }
void impi_error_fatal(GoInt32 code, GoInt32 call, GoUintptr args, GoUintptr returns, GoInt32 n)
{
    (void)code, (void)call, (void)args, (void)returns, (void)n;
    fail("a fatal error");
}
void impi_process_ends(uintptr_t exit) { (void)exit; fail("the end"); }
uint32_t impi_events;
void impi_deliver(void) { fail("events"); }
#pragma GCC diagnostic ignored "-Wunused-parameter"
NEVER(GoInt32 impi_Put(GoUintptr origin_addr, GoInt64 origin_count, GoUintptr origin_datatype, GoInt32 target_rank,
                       GoInt64 target_disp, GoInt64 target_count, GoUintptr target_datatype, GoUintptr win))
NEVER(GoInt32 impi_Get(GoUintptr origin_addr, GoInt64 origin_count, GoUintptr origin_datatype, GoInt32 target_rank,
                       GoInt64 target_disp, GoInt64 target_count, GoUintptr target_datatype, GoUintptr win))
NEVER(GoInt32 impi_Win_complete(GoUintptr win))
NEVER(GoInt32 impi_Win_unlock(GoInt32 rank, GoUintptr win))
NEVER(GoInt32 impi_missing(char *function, GoInt32 kind, GoUintptr handle))
NEVER(GoInt32 impi_Sendrecv_replace(GoUintptr buf, GoInt64 count, GoUintptr datatype, GoInt32 dest, GoInt32 sendtag,
                                    GoInt32 source, GoInt32 recvtag, GoUintptr comm, GoUintptr status))
NEVER(GoInt32 impi_Probe(GoInt32 source, GoInt32 tag, GoUintptr comm, GoUintptr status))
NEVER(GoInt32 impi_Iprobe(GoInt32 source, GoInt32 tag, GoUintptr comm, GoUintptr flag, GoUintptr status))
NEVER(GoInt32 impi_Waitany(GoInt32 count, GoUintptr requests, GoUintptr index, GoUintptr status))
NEVER(GoInt32 impi_Testany(GoInt32 count, GoUintptr requests, GoUintptr index, GoUintptr flag, GoUintptr status))
NEVER(GoInt32 impi_Waitsome(GoInt32 count, GoUintptr requests, GoUintptr outcount, GoUintptr indices,
                            GoUintptr statuses))
NEVER(GoInt32 impi_Testsome(GoInt32 count, GoUintptr requests, GoUintptr outcount, GoUintptr indices,
                            GoUintptr statuses))
NEVER(GoInt32 impi_Start(GoUintptr request))
NEVER(GoInt32 impi_startall_rest(GoInt32 count, GoUintptr requests, GoInt32 first))
NEVER(GoInt32 impi_Comm_rank(GoUintptr comm, GoUintptr rank))
NEVER(GoInt32 impi_Comm_size(GoUintptr comm, GoUintptr size))
NEVER(GoInt32 impi_Type_size(GoUintptr datatype, GoUintptr size))
NEVER(GoInt32 impi_Get_count(GoUintptr status, GoUintptr datatype, GoUintptr count))
NEVER(GoInt32 impi_board_truncated(GoUintptr comm, char *function, GoInt32 rank, GoInt32 got, GoInt32 want))
NEVER(GoInt32 impi_Barrier(GoUintptr comm))
NEVER(GoInt32 impi_Bcast(GoUintptr buffer, GoInt64 count, GoUintptr datatype, GoInt32 root, GoUintptr comm))
NEVER(GoInt32 impi_Reduce(GoUintptr sendbuf, GoUintptr recvbuf, GoInt64 count, GoUintptr datatype, GoUintptr op,
                          GoInt32 root, GoUintptr comm))
NEVER(GoInt32 impi_Allreduce(GoUintptr sendbuf, GoUintptr recvbuf, GoInt64 count, GoUintptr datatype, GoUintptr op,
                             GoUintptr comm))
