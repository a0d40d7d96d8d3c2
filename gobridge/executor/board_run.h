/* One operation on a board (board.h): what a member writes, whom it waits for, and what becomes of what it reads. */
#ifndef IMPI_BOARD_RUN_H
#define IMPI_BOARD_RUN_H

#include "board.h"
#include "fast_match.h"

enum {
    SLOTS = IMPI_SHM_BOARD_SLOTS,
    PAYLOAD = IMPI_SHM_BOARD_PAYLOAD,
    SHIFT = IMPI_SHM_BOARD_WORD_SHIFT,
    LANE_SLOTS = IMPI_SHM_BOARD_LANE_SLOTS,
    LENGTH_MASK = (1 << SHIFT) - 1
};

/* What a member contributes or gets. All of it is copied faster than as much as there is. */
struct part { uint64_t words[PAYLOAD / 8]; };

/* Copies what the program sees of a part. */
static inline void copy_part(void *to, const void *from, int n)
{
    if (LIKELY(n == 8)) memcpy(to, from, 8);
    else if (n == 4) memcpy(to, from, 4);
    else memcpy(to, from, (size_t)n);
}

/* Answers the code of a call whose operation is over, and its request, if it has one. */
static inline int over(int err, MPI_Request *request)
{
    if (request && !err) *request = (MPI_Request)IMPI_SENT_REQUEST;
    return err;
}

static inline int raised(const uint64_t *word, uint64_t least)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= least;
}

/* Waits until a word of the board is at least so large. Answers an error, as a peer is lost, or, if the call does not
 * block, IMPI_IN_GO, after no longer than Go would need to take over. */
RARE int await(const struct impi_board *b, const uint64_t *word, uint64_t least, const struct impi_turn *t)
{
    enum { FEW = 32 };
    uint32_t looks = engine_busy() ? 0 : impi_boards.looks;
    if (t->request && looks > FEW) looks = impi_fast.crowded ? 0 : FEW;
    for (; looks; looks--) {
        between_looks(looks);
        if (raised(word, least)) return MPI_SUCCESS;
    }
    if (t->request) return IMPI_IN_GO;
    return impi_board_wait((uintptr_t)word, (int64_t)least, b->comm, (char *)(uintptr_t)impi_call.names);
}

/* Wakes the members that sleep, after something was stored that they may wait for. */
static inline void wake(const struct impi_board *b)
{
    for (int r = 0; r < b->size; r++)
        if (r != b->rank && UNLIKELY(sleeps(impi_fast.shm, b->peers[r].ctl))) impi_ring(b->peers[r].local);
}

/* Waits until all members have completed so many operations, fewer than this one has. */
RARE int all_done(struct impi_board *b, uint64_t least, const struct impi_turn *t)
{
    uint64_t known = UINT64_MAX;
    for (int r = 0; r < b->size; r++) {
        const uint64_t *done = &b->members[r].done;
        int err = raised(done, least) ? MPI_SUCCESS : await(b, done, least, t);
        if (err) return err;
        uint64_t theirs = __atomic_load_n(done, __ATOMIC_ACQUIRE); /* maybe more than what was awaited */
        if (theirs < known) known = theirs;
    }
    b->known = known;
    return MPI_SUCCESS;
}

/* Where a member's part of operation s stands, or that of start s of a lane. */
static inline struct impi_shm_board_slot *slot_of(const struct impi_board *b, const struct impi_lane *l, int r,
                                                  uint64_t s)
{
    struct impi_shm_board_member *m = &b->members[r];
    return l ? &m->lanes[l->number][s % LANE_SLOTS] : &m->slots[s % SLOTS];
}

/* The operation that comes next, or the next start of a lane's, of which each member publishes a part, if an empty one.
 * What others wrote is another process's: no length or place is taken from there. */
HOT int operate(struct impi_board *b, struct impi_lane *l, const struct impi_turn *t, const struct part *own)
{
    const uint64_t s = (l ? l->starts : b->begun) + 1;
    struct part result;
    int err, problem = MPI_SUCCESS;
    if (UNLIKELY(engine_busy())) impi_board_turn();
    if (l && UNLIKELY(l->known + LANE_SLOTS <= s)) return IMPI_IN_GO; /* which looks whether the slot is free */
    if (!l && t->publish && UNLIKELY(b->known + SLOTS < s) && (err = all_done(b, s - SLOTS, t))) return err;
    if (!l) b->begun = s;
    if (t->publish || l) {
        struct impi_shm_board_slot *slot = slot_of(b, l, b->rank, s);
        *(struct part *)slot->payload = *own;
        __atomic_store_n(&slot->word, s << SHIFT | (t->publish ? (uint64_t)t->n : 0), __ATOMIC_RELEASE);
        if (t->end - t->first > 1) wake(b); /* else it is done soon enough */
    }
    for (int r = t->first; r < t->end; r++) {
        const char *piece = (const char *)own + t->at;
        if (r != b->rank) {
            const struct impi_shm_board_slot *slot = slot_of(b, l, r, s);
            err = LIKELY(raised(&slot->word, s << SHIFT)) ? MPI_SUCCESS : await(b, &slot->word, s << SHIFT, t);
            int got = (int)(__atomic_load_n(&slot->word, __ATOMIC_RELAXED) & LENGTH_MASK);
            int wrong = got > t->n || (t->take < t->n && got < t->n);
            if (UNLIKELY(err || (wrong && t->request))) {
                if (!l) b->left = s; /* if Go carries on: it does all of this again, and MPI_Wait says what is wrong */
                return err ? err : IMPI_IN_GO;
            }
            if (wrong) problem = impi_board_truncated(b->comm, (char *)(uintptr_t)impi_call.names, r, got, t->n);
            piece = (const char *)slot->payload + t->at;
        }
        void *to = (char *)t->to + (r - t->first) * t->stride;
        if (t->combine && r > t->first) t->combine(&result, piece, t->count);
        else if (LIKELY(!t->plan && t->take)) copy_part(t->combine ? &result : to, piece, t->take);
        else if (t->plan) impi_plan_move(t->plan, to, piece, t->take, 1);
    }
    if (l) l->starts = s, l->known = t->end - t->first == b->size ? s : l->known;
    else __atomic_store_n(&b->members[b->rank].done, s, __ATOMIC_RELEASE);
    wake(b);
    if (t->combine && t->first < t->end && LIKELY(!problem)) copy_part(t->to, &result, t->take);
    return over(problem, t->request);
}

#endif
