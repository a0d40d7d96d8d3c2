/* Calls that Go has laid out (gobridge/laid.go): exchanges of blocks on a board (coll/board_v.go), and reductions
 * whose counts are a list. One with the same arguments as such a call, whose lists say the same, is made here. */
#define _GNU_SOURCE
#include <sys/uio.h>
#include "board_run.h"

enum { ELSEWHERE = (1 << SHIFT) - 1, FIELD = 16 /* bits */ };
enum { BY_MESSAGE = IMPI_LAID_BY_MESSAGE, BY_READING = IMPI_LAID_BY_READING };

/* Is it the call once more? Go knows where its lists are. Long loads would wait for what was just stored beside. */
static inline int again(const struct impi_laid *l, const volatile uint64_t *args)
{
    uint64_t other = l->call.names != impi_call.names;
    for (int i = 0; !other && i < IMPI_LAID_ARGS; i++) other = l->call.args[i] ^ args[i];
    for (const struct impi_laid_list *x = l->lists; !other && x < l->lists + IMPI_LAID_LISTS && x->bytes; x++)
        for (const volatile uint32_t *now = x->program, *was = x->was; (char *)was < (char *)x->was + x->bytes; was++)
            other |= *now++ ^ *was;
    return !other;
}

/* A part of operation s that does not stand in its slot, of which that says so many bytes. */
static inline struct shown outside(const struct impi_board *b, uint64_t bytes, int r, uint64_t s)
{
    if (LIKELY(!(bytes & IMPI_PIECE_MARK))) return part_of(b, NULL, 1, r, s);
    struct impi_shm_board_piece *piece = &b->pieces[(uint64_t)r * b->places + s % b->places];
    return (struct shown){&piece->word, piece->payload};
}

/* Shows the list of the own blocks, and the blocks. */
static void show_blocks(const struct impi_board *b, const struct impi_laid *l, uint64_t s)
{
    const struct shown line = part_of(b, NULL, 0, b->rank, s), part = l->wide ? outside(b, l->used, b->rank, s) : line;
    impi_fetch_lines(line.word, LINE), impi_fetch_lines(part.payload, LINE);
    pack_blocks(l, part.payload);
    if (l->wide) memcpy(line.payload, &l->used, 8), memcpy(line.payload + 8, l->head, l->said);
    __atomic_store_n(line.word, s << SHIFT | (l->wide ? ELSEWHERE : l->used), __ATOMIC_RELEASE);
    if (l->ins) wake(b); /* else it is done soon enough */
}

/* Reads a block where it lies, of which a part says from which address on, and how long it is. 0: Go sees to it. */
static int read_block(const struct impi_board *b, const struct impi_laid_block *in, const unsigned char *says)
{
    uint64_t there[2];
    memcpy(there, says, sizeof there);
    if (in->plan || there[1] > (uint64_t)in->n) return 0;
    const struct iovec to = {in->mem, there[1]}, from = {(void *)there[0], there[1]};
    return process_vm_readv(b->peers[in->from].pid, &to, 1, &from, 1, 0) == (ssize_t)there[1];
}

/* Takes a block from the part of another member, when that is there; its length and place are another process's. If the
 * call does not block, Go sees to what does not come that way. */
static int take_block(const struct impi_board *b, struct impi_laid_block *in, uint64_t s, const struct impi_turn *t)
{
    struct shown part = part_of(b, NULL, 0, in->from, s);
    int err = LIKELY(raised(part.word, s << SHIFT)) ? MPI_SUCCESS : await(b, part.word, s << SHIFT, t);
    if (UNLIKELY(err)) return err;
    uint64_t bytes = __atomic_load_n(part.word, __ATOMIC_RELAXED) & ELSEWHERE, entry = BY_MESSAGE;
    const uint64_t here = ((uint64_t)in->entry + 1) * sizeof entry, end = here + sizeof entry;
    const unsigned char *list = part.payload;
    if (bytes == ELSEWHERE) {
        memcpy(&bytes, list, sizeof bytes);
        part = outside(b, bytes, in->from, s), bytes &= ~IMPI_PIECE_MARK;
        list = end + sizeof bytes <= PAYLOAD ? list + sizeof bytes : part.payload;
    }
    if (bytes <= IMPI_SHM_BOARD_MOST && end <= bytes) memcpy(&entry, list + here, sizeof entry);
    const int64_t n = bytes > IMPI_SHM_BOARD_MOST ? BY_MESSAGE : (uint16_t)entry;
    const uint64_t at = (uint16_t)(entry >> FIELD);
    if (n == BY_READING && at + 16 <= bytes && !t->request && read_block(b, in, part.payload + at)) return MPI_SUCCESS;
    if (UNLIKELY(n >= BY_READING || n > in->n || (in->plan && n < in->n) || at + (uint64_t)n > bytes))
        return t->request ? IMPI_IN_GO : impi_laid_take(b->comm, (char *)(uintptr_t)impi_call.names, (uintptr_t)in);
    const unsigned char *block = part.payload + in->at;
    int64_t size = in->n;
    __asm__("" : "+r"(block), "+r"(size)); /* where it was before: its loads need not wait for those of the list */
    if (UNLIKELY(n != in->n || at != (uint64_t)in->at)) block = part.payload + at, size = n, in->at = (int32_t)at;
    move_payload(in->plan, in->mem, block, size, 1);
    return MPI_SUCCESS;
}

static int exchange(struct impi_board *b, const struct impi_laid *l, MPI_Request *request)
{
    const struct impi_turn t = {.request = request};
    const uint64_t s = b->begun + 1;
    uint64_t *const user = l->used & IMPI_PIECE_MARK ? &b->piece_users[s % b->places] : &b->wide_users[s % WIDE_SLOTS];
    /* The places are free when so many operations are done. */
    const int64_t slot = (int64_t)s - SLOTS, last = (int64_t)*user, free = l->wide && last > slot ? last : slot;
    int err, problem = MPI_SUCCESS;
    if (UNLIKELY(engine_busy())) impi_board_turn();
    if (l->head_bytes && UNLIKELY((int64_t)b->known < free) && (err = all_done(b, (uint64_t)free, &t))) return err;
    b->begun = s;
    if (l->head_bytes) show_blocks(b, l, s);
    for (struct impi_laid_block *in = l->in; in < l->in + l->ins; in++) {
        if (in->own) move_payload(in->plan, in->mem, in->own, in->n, 1);
        else if (UNLIKELY(err = take_block(b, in, s, &t)) && (request || err == IMPI_IN_GO)) return b->left = s, err;
        else if (UNLIKELY(err)) problem = err;
    }
    if (l->wide) *user = s;
    __atomic_store_n(&b->members[b->rank].done, s, __ATOMIC_RELEASE);
    if (!l->wide) impi_fetch_lines(part_of(b, NULL, 0, b->rank, s + 1).word, 2 * LINE);
    wake(b);
    if (l->stays && (err = all_done(b, s, &t)) && !problem) problem = err;
    return over(problem, request);
}

int impi_again(MPI_Comm comm, MPI_Request *request, const uint64_t args[IMPI_LAID_ARGS])
{
    struct impi_board *b = board_of(find(comm), ALL);
    if (UNLIKELY(!b)) return IMPI_IN_GO;
    for (int i = 0; i < IMPI_LAID_CALLS; i++)
        if (b->laid[i] && again(b->laid[i], args)) {
            b->laid[i]->turn.request = request;
            return b->laid[i]->turn.n > 0 ? operate(b, NULL, &b->laid[i]->turn) : exchange(b, b->laid[i], request);
        }
    b->missed.names = impi_call.names;
    memcpy(b->missed.args, args, sizeof b->missed.args);
    return IMPI_IN_GO;
}
