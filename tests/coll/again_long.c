/* Exchanges of long blocks that are made again and again with the same arguments: blocks that stand in pieces of shared
 * memory, or that are messages. Data changes as soon as a call returns, which nobody may
 * still be reading; what the lists of lengths say changes, at one rank or at all; blocks do not lie in one run where
 * they come from, or where they go, or change places; two calls take turns; calls do not block, or are
 * persistent; and at last a block is too long. */
/* ranks: 1 2 3 4 8 */
#include "../check.h"

#include <stdint.h>

enum { REPEATS = 5, MOST = 18000, RANKS = 8, KINDS = 15 }; /* words of a block at most */

static uint64_t in[2 * RANKS * MOST], out[2 * RANKS * MOST];
static int sends[RANKS], gets[RANKS], at[RANKS], at_bytes[RANKS];
static MPI_Datatype words[RANKS], apart; /* a word, and one beside it that is none */

static uint64_t value(int turn, int from, int to, int k)
{
    return (uint64_t)turn << 48 | (uint64_t)from << 40 | (uint64_t)to << 32 | (uint64_t)k;
}

static void fill(int turn, int n, int step)
{
    for (int i = 0; i < 2 * RANKS * MOST; i++) out[i] = UINT64_MAX;
    for (int r = 0; r < RANKS; r++) {
        sends[r] = gets[r] = n;
        at[r] = r * n;
        at_bytes[r] = r * n * 8;
        words[r] = MPI_UINT64_T;
        for (int k = 0; k < n; k++) in[(r * n + k) * step] = value(turn, check_rank, r, k);
    }
}

static void check_for(int turn, int from, int to, const uint64_t *block, int n, int step)
{
    for (int k = 0; k < n; k++) {
        CHECK(block[k * step] == value(turn, from, to, k));
        if (step > 1) CHECK(block[k * step + 1] == UINT64_MAX);
    }
}

static void check_from(int turn, int from, const uint64_t *block, int n, int step)
{
    check_for(turn, from, check_rank, block, n, step);
}

static void call(int kind, int turn, int n, int root, MPI_Comm comm)
{
    const int out_step = kind == 5 ? 2 : 1, in_step = kind == 6 ? 2 : 1, is_root = check_rank == root;
    MPI_Datatype from = kind == 6 ? apart : MPI_UINT64_T, to = kind == 5 ? apart : MPI_UINT64_T, t = MPI_UINT64_T;
    const int swaps = kind == 8 || kind == 11;
    void *mine = kind == 7 && is_root ? MPI_IN_PLACE : out;
    MPI_Request q = MPI_REQUEST_NULL;
    fill(turn, n, in_step);
    if (swaps) memcpy(out, in, (size_t)n * (size_t)check_size * sizeof *in);
    switch (kind) {
    case 0: MPI_Alltoall(in, n, t, out, n, t, comm); break;
    case 1: MPI_Alltoallv(in, sends, at, t, out, gets, at, t, comm); break;
    case 2: MPI_Alltoallw(in, sends, at_bytes, words, out, gets, at_bytes, words, comm); break;
    case 3: MPI_Scatterv(in, sends, at, t, out, n, t, root, comm); break;
    case 4: case 7: MPI_Scatter(in, n, t, mine, n, t, root, comm); break;
    case 5: case 6: /* by turns, so that the one is not always the last */
        if (turn % 2) MPI_Alltoall(in, n, from, out, n, to, comm);
        else MPI_Scatter(in, n, from, out, n, to, root, comm);
        break;
    case 8: MPI_Alltoall(MPI_IN_PLACE, 0, t, out, n, t, comm); break;
    case 9: MPI_Ialltoall(in, n, t, out, n, t, comm, &q); break;
    case 10: MPI_Iscatter(in, n, t, out, n, t, root, comm, &q); break;
    case 11: MPI_Ialltoall(MPI_IN_PLACE, 0, t, out, n, t, comm, &q); break;
    case 12: MPI_Allgather(in, n, t, out, n, t, comm); break;
    case 13: MPI_Allgatherv(in, n, t, out, gets, at, t, comm); break;
    case 14:
        memcpy(out + check_rank * n, in, (size_t)n * sizeof *in);
        MPI_Allgather(MPI_IN_PLACE, 0, t, out, n, t, comm);
        break;
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    const int by_turns = kind == 5 || kind == 6;
    const int scatters = kind == 3 || kind == 4 || kind == 7 || kind == 10 || (by_turns && turn % 2 == 0);
    if (kind == 7 && is_root) CHECK(out[0] == UINT64_MAX);
    else if (kind > 11) for (int r = 0; r < check_size; r++) check_for(turn, r, 0, out + r * n, n, 1);
    else if (scatters) check_from(turn, root, out, n, out_step);
    else for (int r = 0; r < check_size; r++) check_from(turn, r, out + r * n * out_step, n, out_step);
}

/* The same arguments, but lists that say something else, of blocks from rank 0 to all. */
static void from_first(int n, int other, int turn, MPI_Comm comm)
{
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        fill(turn + repeat, MOST, 1);
        for (int r = 0; r < check_size; r++) {
            const int changed = repeat == REPEATS - 1 && r % 2 ? other : n;
            sends[r] = check_rank == 0 ? changed : 0;
            if (r == check_rank) gets[0] = changed;
        }
        for (int r = 1; r < check_size; r++) gets[r] = 0;
        MPI_Alltoallv(in, sends, at, MPI_UINT64_T, out, gets, at, MPI_UINT64_T, comm);
        check_from(turn + repeat, 0, out, gets[0], 1);
        CHECK(out[gets[0]] == UINT64_MAX);
    }
}

/* Persistent ones, which ranks start in different orders. */
static void persistent(int n, MPI_Comm comm)
{
    static uint64_t other[2 * RANKS * MOST];
    const size_t all = (size_t)n * (size_t)check_size * sizeof *in;
    MPI_Request q[2], *first = &q[check_rank % 2], *second = &q[!(check_rank % 2)];
    fill(0, n, 1);
    MPI_Alltoall_init(in, n, MPI_UINT64_T, out, n, MPI_UINT64_T, comm, MPI_INFO_NULL, &q[0]);
    MPI_Alltoallv_init(in, sends, at, MPI_UINT64_T, other, gets, at, MPI_UINT64_T, comm, MPI_INFO_NULL, &q[1]);
    for (int turn = 0; turn < 3 * REPEATS; turn++) {
        fill(turn, n, 1);
        memset(other, 99, all);
        MPI_Start(first), MPI_Start(second);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int r = 0; r < check_size; r++) check_from(turn, r, out + r * n, n, 1);
        CHECK(memcmp(out, other, all) == 0);
    }
    MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
}

static void too_long(int n, MPI_Comm comm)
{
    const int here = check_size > 1 && !check_spans();
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int repeat = 0; repeat <= REPEATS; repeat++) {
        int class_ = MPI_SUCCESS;
        fill(repeat, n, 1);
        if (repeat == REPEATS && here && check_rank == 0) sends[1]++;
        const int err = MPI_Scatterv(in, sends, at, MPI_UINT64_T, out, n, MPI_UINT64_T, 0, comm);
        if (err != MPI_SUCCESS) MPI_Error_class(err, &class_);
        CHECK_EQ(class_, repeat == REPEATS && here && check_rank == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        CHECK(out[n] == UINT64_MAX);
    }
}

int main(int argc, char **argv)
{
    static const int lengths[] = {500, 2048, 4096, 8192, MOST};
    MPI_Comm comm;
    check_start(&argc, &argv);
    CHECK(check_size <= RANKS);
    MPI_Type_create_resized(MPI_UINT64_T, 0, 16, &apart);
    MPI_Type_commit(&apart);
    for (int turn = 0; turn < (check_size < 8 ? 2 : 1); turn++) { /* the second one may get the memory of the first */
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = 0; i < 5; i++)
                for (int k = 0; k < REPEATS; k++) call(kind, turn + k, lengths[i], (kind + i) % check_size, comm);
        for (int k = 0; k < 2 * REPEATS; k++) call(k % 2 ? 0 : 3, k, 8192, 0, comm);
        from_first(8192, 10, 0, comm);
        from_first(10, 8192, 7, comm);
        from_first(MOST, 2000, 20, comm);
        for (int i = 0; i < 5; i++) persistent(lengths[i], comm);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    too_long(2048, comm);
    too_long(8192, comm);
    MPI_Comm_free(&comm);
    MPI_Type_free(&apart);
    return check_end();
}
