/* One operation on a board (board.h): what a member writes, whom it waits for, and what becomes of what it reads. */
#ifndef IMPI_BOARD_RUN_H
#define IMPI_BOARD_RUN_H

#include "board.h"
#include "fast_match.h"

enum {
    SLOTS = IMPI_SHM_BOARD_SLOTS,
    PAYLOAD = IMPI_SHM_BOARD_PAYLOAD,
    SHIFT = IMPI_SHM_BOARD_WORD_SHIFT, /* behind the length */
    WIDE_SLOTS = IMPI_SHM_BOARD_WIDE_SLOTS,
    LONGEST = IMPI_SHM_BOARD_LONGEST
};

enum { ALL = -1, OTHERS = -2 }; /* beside the rank of a root */

/* The board of a communicator, on which an operation with this root may be made; NULL: Go makes it, maybe there. */
static inline struct impi_board *board_of(const struct impi_fast_comm *c, int root)
{
    struct impi_board *b = LIKELY(c) ? __atomic_load_n(&c->board, __ATOMIC_ACQUIRE) : NULL; /* Go may take it back */
    if (UNLIKELY(!b || __atomic_load_n(&b->tasks, __ATOMIC_ACQUIRE))) return NULL;
    return LIKELY(root == ALL || (uint32_t)root < (uint32_t)c->size) ? b : NULL;
}

/* Returns the code of a call whose operation is over, and its request, if it has one. */
static inline int over(int err, MPI_Request *request)
{
    if (request && !err) *request = (MPI_Request)IMPI_SENT_REQUEST;
    return err;
}

static inline int raised(const uint64_t *word, uint64_t least)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= least;
}

/* Waits until a word of the board is at least so large. Returns an error if a peer is lost; IMPI_IN_GO if a
 * contribution does not arrive, or, if the call does not block, after no longer than Go would need to take over: where
 * ranks outnumber cores, the others on this core have run by then. */
RARE int await(const struct impi_board *b, const uint64_t *word, uint64_t least, const struct impi_operation *t)
{
    enum { FEW = 32, TURNS = 2 };
    uint32_t looks = engine_busy() ? 0 : impi_boards.looks;
    if (t->request && looks > FEW) looks = impi_fast.crowded ? TURNS : FEW;
    for (; looks; looks--) {
        between_looks(looks);
        if (raised(word, least)) return MPI_SUCCESS;
    }
    if (t->request) return IMPI_IN_GO;
    char *call = (char *)(uintptr_t)impi_call.names;
    return impi_board_wait((uintptr_t)word, (int64_t)least, b->comm, call, t->take ? t->take : t->n);
}

/* Wakes the members that sleep, after something was stored that they may wait for. */
static inline void wake(const struct impi_board *b)
{
    for (int r = 0; r < b->size; r++)
        if (r != b->rank && UNLIKELY(sleeps(impi_fast.shm, b->peers[r].ctl))) impi_ring(b->peers[r].local);
}

/* Waits until all members have completed so many operations, fewer than this one has. */
RARE int all_done(struct impi_board *b, uint64_t least, const struct impi_operation *t)
{
    uint64_t known = UINT64_MAX;
    for (int r = 0, err; r < b->size; r++) {
        const uint64_t *done = &b->members[r].done;
        if (!raised(done, least) && (err = await(b, done, least, t))) return err;
        uint64_t theirs = __atomic_load_n(done, __ATOMIC_ACQUIRE); /* maybe more than what was awaited */
        if (theirs < known) known = theirs;
    }
    b->known = known;
    return MPI_SUCCESS;
}

/* A member's contribution, and the word before it, which has the number of the operation and the length. */
struct shown {
    uint64_t *word;
    unsigned char *payload;
};

/* The slot of an operation, or of a start of a lane's. */
static inline struct shown slot_of(const struct impi_board *b, const struct impi_lane *l, int wide, int r, uint64_t at)
{
    struct impi_shm_board_wide *w = &b->wide[(uint64_t)r * WIDE_SLOTS + at % WIDE_SLOTS];
    struct impi_shm_board_slot *slot = &b->members[r].slots[at % SLOTS];
    if (l) slot = (void *)((char *)l->slots + ((uint64_t)r * l->many + (at & (l->many - 1))) * l->bytes);
    if (wide) return (struct shown){l ? &slot->word : &w->word, l ? (unsigned char *)slot + LINE : w->payload};
    return (struct shown){&slot->word, slot->payload};
}

/* Publishes a member's contribution. If that is long and has a block for each member, its own block is left out. */
static inline void show(const struct impi_operation *t, struct shown own, uint64_t word, int wide)
{
    if (LIKELY(t->publish)) {
        const int each = wide && !t->combine && t->take < t->n && !t->own_plan;
        const int before = each ? t->at : t->n, after = before + t->take;
        store_payload(t->own_plan, t->own, own.payload, before);
        if (after < t->n) store_payload(NULL, (const char *)t->own + after, own.payload + after, t->n - after);
        word |= (uint64_t)t->n;
    }
    __atomic_store_n(own.word, word, __ATOMIC_RELEASE);
}

/* The operation that comes next, or the next start of a lane's, for which each member publishes its contribution, even
 * an empty one. No length or offset is taken from what other processes wrote. */
HOT int operate(struct impi_board *b, struct impi_lane *l, const struct impi_operation *t)
{
    const int wide_shift = IMPI_SHM_BOARD_WIDE_SHIFT, short_shift = SHIFT;
    const int shift = l ? (int)l->shift : t->n > PAYLOAD ? wide_shift : short_shift, wide = shift > short_shift;
    const uint64_t s = (l ? l->starts : b->begun) + 1;
    uint64_t *const user = &b->wide_users[s % WIDE_SLOTS]; /* of the wide slot */
    const int64_t free = wide ? (int64_t)*user : (int64_t)s - SLOTS; /* when so many are done */
    const char *own = t->own;
    uint64_t result[PAYLOAD / 8];
    const int over_own = (uintptr_t)t->to - (uintptr_t)t->own < (uint64_t)t->n, aside = wide && t->combine && over_own;
    int err, problem = MPI_SUCCESS;
    if (UNLIKELY(aside && !b->scratch) && !(b->scratch = aligned_alloc(LINE, sizeof *b->wide))) return IMPI_IN_GO;
    void *const acc = !wide ? result : aside ? b->scratch : t->to;
    if (UNLIKELY(engine_busy())) impi_board_turn();
    const int far = l && l->known + l->many <= s;
    for (int r = 0; UNLIKELY(far) && r < b->size; r++)
        if (!raised(slot_of(b, l, wide, r, s - 1).word, (s - 1) << shift)) return IMPI_IN_GO; /* which looks closer */
    if (UNLIKELY(far)) l->known = s - 1;
    if (!l && t->publish && UNLIKELY((int64_t)b->known < free) && (err = all_done(b, (uint64_t)free, t))) return err;
    if (!l) b->begun = s;
    if (t->publish || l) {
        const struct shown mine = slot_of(b, l, wide, b->rank, s);
        show(t, mine, s << shift, wide);
        if (t->own_plan || (t->combine && (uintptr_t)t->own % 16)) own = (const char *)mine.payload; /* aligned */
        if (t->end - t->first > 1) wake(b); /* else it is done soon enough */
    }
    for (int r = t->first; r < t->end; r++) {
        const char *in = own;
        if (r != b->rank) {
            const struct shown theirs = slot_of(b, l, wide, r, s);
            err = LIKELY(raised(theirs.word, s << shift)) ? MPI_SUCCESS : await(b, theirs.word, s << shift, t);
            int got = (int)(__atomic_load_n(theirs.word, __ATOMIC_RELAXED) & (((uint64_t)1 << shift) - 1));
            int wrong = got != t->n && (got > t->n || t->combine || t->take < t->n);
            if (UNLIKELY(err || (wrong && t->request))) {
                if (!l) b->left = s; /* if Go carries on: it does all of this again, and MPI_Wait says what is wrong */
                return err ? err : IMPI_IN_GO;
            }
            if (wrong) problem = impi_board_truncated(b->comm, (char *)(uintptr_t)impi_call.names, r, got, t->n);
            in = (const char *)theirs.payload;
        }
        in += t->at;
        void *to = (char *)t->to + (r - t->first) * t->stride;
        if (t->combine && r > t->first) t->combine(acc, in, t->count);
        else move_payload(t->plan, t->combine ? acc : to, in, t->take, 1);
    }
    if (wide && !l) *user = s;
    if (l) l->starts = s, l->known = t->end - t->first == b->size ? s : l->known;
    else __atomic_store_n(&b->members[b->rank].done, s, __ATOMIC_RELEASE);
    if (!l && !wide) impi_fetch_lines(slot_of(b, l, 0, b->rank, s + 1).word, 2 * LINE); /* before others read ahead */
    wake(b);
    if (t->combine && acc != t->to && t->first < t->end && !problem) copy_payload(t->to, acc, (uint64_t)t->take);
    return over(problem, t->request);
}

#endif
