/* Exchanges of blocks that are made again and again with the same arguments, of which the library may remember what
 * they mean: data changes, then what the lists of lengths say, at one rank or at all; there are more calls than anybody
 * remembers, others in between, blocks that do not lie in one run, communicators that are freed, and at last a block
 * that is too long. Calls do not block, either: always with another request, and then with several under way. */
/* ranks: 1 3 4 8 */
#include "../check.h"

enum { REPEATS = 5, MOST = 16384, RANKS = 8, KINDS = 19, NONBLOCKING = 10 };

static char in[RANKS * MOST], out[RANKS * MOST];
static int sends[RANKS], gets[RANKS], sent_at[RANKS], got_at[RANKS], in_bytes[RANKS], out_bytes[RANKS];
static MPI_Datatype types[RANKS];

static char value(int turn, int from, int to, int k) { return (char)(turn * 31 + from * 17 + to * 5 + k % 251); }

/* Each rank has a block of so many bytes for each, or the same one for all. */
static void fill(int turn, int n, int for_all)
{
    memset(out, 99, sizeof out);
    for (int r = 0; r < RANKS; r++) {
        sends[r] = gets[r] = n;
        sent_at[r] = got_at[r] = in_bytes[r] = out_bytes[r] = r * MOST;
        types[r] = MPI_CHAR;
        for (int k = 0; k < n; k++) in[r * MOST + k] = value(turn, check_rank, for_all ? 0 : r, k);
    }
}

static void check_from(int turn, int from, int to, const char *block, int n)
{
    for (int k = 0; k < n; k++) CHECK_EQ(block[k], value(turn, from, to, k));
    if (n < MOST) CHECK_EQ(block[n], 99);
}

/* A call that does not block is the same one with another request. */
static MPI_Request *next_request(void)
{
    static MPI_Request all[7];
    static int last;
    return &all[last++ % 7];
}

/* Makes a call that blocks, or one that does not if there is a request. */
#define EITHER(Q, NAME, LATER, ...) \
    do { \
        if (!(Q)) MPI_##NAME(__VA_ARGS__); \
        else MPI_##LATER(__VA_ARGS__, Q), MPI_Wait(Q, MPI_STATUS_IGNORE); \
    } while (0)

/* Neighbor i of a ring: the one before, and the next. */
static int beside(int i) { return (check_rank + (i ? 1 : check_size - 1)) % check_size; }

static void call(int kind, int turn, int n, int root, MPI_Comm comm, MPI_Comm ring)
{
    MPI_Request *q = kind < NONBLOCKING ? NULL : next_request();
    if (q) kind -= NONBLOCKING;
    const int for_all = kind == 2 || kind == 8 || kind == 9, me = check_rank, size = check_size;
    fill(turn, n, for_all);
    if (kind == 9) memcpy(out + me * MOST, in, (size_t)n);
    switch (kind) {
    case 0: EITHER(q, Gatherv, Igatherv, in + root * MOST, n, MPI_CHAR, out, gets, got_at, MPI_CHAR, root, comm); break;
    case 1: EITHER(q, Scatterv, Iscatterv, in, sends, sent_at, MPI_CHAR, out, n, MPI_CHAR, root, comm); break;
    case 2: EITHER(q, Allgatherv, Iallgatherv, in, n, MPI_CHAR, out, gets, got_at, MPI_CHAR, comm); break;
    case 3: EITHER(q, Alltoallv, Ialltoallv, in, sends, sent_at, MPI_CHAR, out, gets, got_at, MPI_CHAR, comm); break;
    case 4: EITHER(q, Alltoallw, Ialltoallw, in, sends, in_bytes, types, out, gets, out_bytes, types, comm); break;
    case 5: /* at the root in place */
        if (me == root) memcpy(out + me * MOST, in + me * MOST, (size_t)n);
        EITHER(q, Gatherv, Igatherv, me == root ? MPI_IN_PLACE : in + root * MOST, n, MPI_CHAR, out, gets, got_at,
               MPI_CHAR, root, comm);
        break;
    case 6:
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < n; k++) in[i * n + k] = value(turn, me, i, k);
        EITHER(q, Neighbor_alltoall, Ineighbor_alltoall, in, n, MPI_CHAR, out, n, MPI_CHAR, ring);
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < n; k++) CHECK_EQ(out[i * n + k], value(turn, beside(i), 1 - i, k));
        return;
    case 7:
        EITHER(q, Neighbor_alltoallv, Ineighbor_alltoallv, in, sends, sent_at, MPI_CHAR, out, gets, got_at, MPI_CHAR,
               ring);
        break;
    case 8: EITHER(q, Neighbor_allgather, Ineighbor_allgather, in, n, MPI_CHAR, out, n, MPI_CHAR, ring); break;
    case 9: MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_CHAR, out, gets, got_at, MPI_CHAR, comm); break;
    }
    if (kind == 1) check_from(turn, root, me, out, n);
    else if (kind == 7) for (int i = 0; i < 2; i++) check_from(turn, beside(i), 1 - i, out + i * MOST, n);
    else if (kind == 8) for (int i = 0; i < 2 * n; i++) CHECK_EQ(out[i], value(turn, beside(i / n), 0, i % n));
    else if ((kind != 0 && kind != 5) || me == root)
        for (int r = 0; r < size; r++) check_from(turn, r, for_all ? 0 : me, out + r * MOST, n);
}

static void all_kinds(MPI_Comm comm, int turn)
{
    static const int lengths[] = {8, 0, 64, 40, 1000, 4000, 8192, MOST};
    int period = 1;
    MPI_Comm ring;
    MPI_Cart_create(comm, 1, &check_size, &period, 0, &ring);
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < REPEATS; k++) call(kind, turn + k, lengths[i], (kind + i) % check_size, comm, ring);
    for (int k = 0; k < 3 * REPEATS; k++) /* more than are remembered, in turn */
        for (int kind = 0; kind < KINDS; kind++) call(kind, k, 24, 0, comm, ring);
    MPI_Comm_free(&ring);
}

/* The same arguments, but the lists say something else: that n[r] bytes go from rank 0 to rank r. */
static void from_first(MPI_Request *q, const int *n, int turn, MPI_Comm comm)
{
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        fill(turn + repeat, MOST, 0);
        for (int r = 0; r < check_size; r++) {
            sends[r] = check_rank == 0 ? n[r] : 0;
            gets[r] = r == 0 ? n[check_rank] : 0;
        }
        EITHER(q, Alltoallv, Ialltoallv, in, sends, sent_at, MPI_CHAR, out, gets, got_at, MPI_CHAR, comm);
        check_from(turn + repeat, 0, check_rank, out, n[check_rank]);
    }
}

/* from_first, with bytes that do not follow each other where they arrive. */
static void from_first_apart(const int *n, int turn, MPI_Datatype other, MPI_Comm comm)
{
    static MPI_Datatype apart[RANKS];
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        fill(turn + repeat, MOST, 0);
        for (int r = 0; r < check_size; r++) {
            sends[r] = check_rank == 0 ? n[r] : 0;
            gets[r] = r == 0 ? n[check_rank] : 0;
            apart[r] = other;
        }
        MPI_Alltoallw(in, sends, in_bytes, types, out, gets, out_bytes, apart, comm);
        for (int k = 0; k < n[check_rank]; k++) {
            CHECK_EQ(out[2 * k], value(turn + repeat, 0, check_rank, k));
            CHECK_EQ(out[2 * k + 1], 99);
        }
    }
}

/* The edges of a square go to neighbors on a torus: rows, columns, columns that become rows, rows that become columns,
 * and columns of another make. A rank may be its own neighbor. */
static void edges(MPI_Comm comm)
{
    enum { SIDE = 40, FIELD = SIDE * SIDE };
    static double field[2 * FIELD], around[4][FIELD]; /* a column from the last row on ends behind the square */
    int dims[2] = {0, 0}, periods[2] = {1, 1}, ones[4] = {1, 1, 1, 1}, neighbors[4];
    const MPI_Aint from[4] = {8 * SIDE, 8 * SIDE * (SIDE - 2), 8, 8 * (SIDE - 2)};
    const MPI_Aint to[4] = {0, sizeof around[0], 2 * sizeof around[0], 3 * sizeof around[0]};
    MPI_Datatype row, column, element, shown[4], taken[4];
    MPI_Comm torus;
    MPI_Dims_create(check_size, 2, dims);
    MPI_Cart_create(comm, 2, dims, periods, 0, &torus);
    MPI_Cart_shift(torus, 0, 1, &neighbors[0], &neighbors[1]);
    MPI_Cart_shift(torus, 1, 1, &neighbors[2], &neighbors[3]);
    MPI_Type_contiguous(SIDE, MPI_DOUBLE, &row);
    MPI_Type_vector(SIDE, 1, SIDE, MPI_DOUBLE, &column);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 8 * SIDE, &element);
    MPI_Type_commit(&row), MPI_Type_commit(&column), MPI_Type_commit(&element);
    for (int kind = 0; kind < 4; kind++)
        for (int turn = 0; turn < REPEATS; turn++) {
            int counts[4] = {1, 1, 1, 1};
            for (int i = 0; i < 2 * FIELD; i++) field[i] = check_rank * 2 * FIELD + i + turn;
            for (int i = 0; i < 4; i++) {
                for (int k = 0; k < FIELD; k++) around[i][k] = -1;
                shown[i] = kind == 1 || (kind != 2 && i > 1) ? column : row;
                taken[i] = kind == 2 || (kind != 1 && i > 1) ? column : row;
                if (kind == 3 && i > 1) taken[i] = element, counts[i] = SIDE;
            }
            MPI_Neighbor_alltoallw(field, ones, from, shown, around, counts, to, taken, torus);
            for (int i = 0; i < 4; i++) {
                const int step = taken[i] == row ? 1 : SIDE, far = shown[i ^ 1] == row ? 1 : SIDE;
                for (int k = 0; k < FIELD; k++) {
                    const int in_block = k % step == 0 && k / step < SIDE;
                    const int sent = neighbors[i] * 2 * FIELD + (int)from[i ^ 1] / 8 + k / step * far + turn;
                    const int want = in_block ? sent : -1;
                    CHECK_EQ((int)around[i][k], want);
                }
            }
        }
    MPI_Type_free(&row), MPI_Type_free(&column), MPI_Type_free(&element);
    MPI_Comm_free(&torus);
}

/* A call that is known, while an operation that does not block is under way. */
static void beside_others(MPI_Comm comm)
{
    for (int repeat = 0; repeat < 2 * REPEATS; repeat++) {
        int sum = 0;
        MPI_Request q;
        MPI_Iallreduce(&repeat, &sum, 1, MPI_INT, MPI_SUM, comm, &q);
        call(3, repeat, 16, 0, comm, comm);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK_EQ(sum, repeat * check_size);
    }
}

/* The same exchanges again and again, several of them under way. */
static void under_way(MPI_Comm comm)
{
    enum { AT_ONCE = 6 };
    static const int lengths[AT_ONCE] = {8, 1000, MOST, 24, 0, 300};
    static char from[AT_ONCE][2 * MOST], to[AT_ONCE][2 * MOST];
    int period = 1;
    MPI_Comm ring;
    MPI_Request q[AT_ONCE];
    MPI_Cart_create(comm, 1, &check_size, &period, 0, &ring);
    MPI_Barrier(ring);
    for (int turn = 0; turn < 4 * REPEATS; turn++) {
        memset(to, 99, sizeof to);
        for (int i = 0; i < AT_ONCE; i++) {
            const int n = lengths[i];
            for (int k = 0; k < 2 * n; k++) from[i][k] = value(turn + i, check_rank, k / n, k % n);
            MPI_Ineighbor_alltoall(from[i], n, MPI_CHAR, to[i], n, MPI_CHAR, ring, &q[(i + turn) % AT_ONCE]);
        }
        MPI_Waitall(AT_ONCE, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < AT_ONCE; i++)
            for (int side = 0; side < 2; side++)
                for (int k = 0; k < lengths[i]; k++)
                    CHECK_EQ(to[i][side * lengths[i] + k], value(turn + i, beside(side), 1 - side, k));
    }
    MPI_Comm_free(&ring);
}

/* Reductions whose counts are a list, of short and long vectors: data changes, and once the list. */
static void reductions(MPI_Comm comm)
{
    enum { LONGEST = 4000 };
    static const int lengths[] = {1, 5, 40, 500, LONGEST / 2};
    static int from[RANKS * LONGEST], to[RANKS * LONGEST], counts[RANKS];
    const int ranks = check_size, me = check_rank, of_ranks = 7 * ranks * (ranks - 1) / 2;
    for (int way = 0; way < 4; way++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (int repeat = 0; repeat < 2 * REPEATS; repeat++) {
                MPI_Request *q = way & 1 ? next_request() : NULL;
                int total = 0, first = 0, *own = way & 2 ? to : from;
                for (int r = 0; r < ranks; r++) { /* of different lengths, one of them 0 */
                    const int other = repeat == REPEATS ? (r + 1) % ranks : r;
                    counts[r] = lengths[l] * (other % 3);
                    if (r < me) first += counts[r];
                    total += counts[r];
                }
                for (int i = 0; i < RANKS * LONGEST; i++) to[i] = -1;
                for (int i = 0; i < total; i++) own[i] = 7 * me + i + repeat;
                EITHER(q, Reduce_scatter, Ireduce_scatter, way & 2 ? MPI_IN_PLACE : from, to, counts, MPI_INT, MPI_SUM,
                       comm);
                for (int i = 0; i < counts[me]; i++) CHECK_EQ(to[i], of_ranks + ranks * (first + i + repeat));
                if (!(way & 2)) CHECK_EQ(to[counts[me]], -1);
            }
}

static void too_long(int blocks, MPI_Comm comm)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    fill(0, 16, 0);
    for (int repeat = 0; repeat <= REPEATS; repeat++) {
        const int n = repeat == REPEATS && check_rank == 1 ? 17 : 16;
        int err, class_ = MPI_SUCCESS, other = MPI_SUCCESS;
        MPI_Request q = MPI_REQUEST_NULL;
        if (blocks) err = MPI_Gatherv(in, n, MPI_CHAR, out, gets, got_at, MPI_CHAR, 0, comm);
        else err = MPI_Igatherv(in, n, MPI_CHAR, out, gets, got_at, MPI_CHAR, 0, comm, &q);
        if (!blocks && err == MPI_SUCCESS) err = MPI_Wait(&q, MPI_STATUS_IGNORE);
        if (err != MPI_SUCCESS) MPI_Error_class(err, &class_);
        if (check_spans() && check_rank < 2) /* who sends more may notice, and root then gets what there is room for */
            MPI_Sendrecv(&class_, 1, MPI_INT, 1 - check_rank, 0, &other, 1, MPI_INT, 1 - check_rank, 0, comm,
                         MPI_STATUS_IGNORE);
        if (check_rank == 0 && class_ == MPI_SUCCESS) class_ = other;
        if (check_rank == 1 && class_ == MPI_ERR_TRUNCATE && check_spans() && repeat == REPEATS) continue;
        CHECK_EQ(class_, check_rank == 0 && repeat == REPEATS ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
}

int main(int argc, char **argv)
{
    static const int one[RANKS] = {0, 0, 0, 5000}, many[RANKS] = {0, 8000, 8000, 5000}, less[RANKS] = {0, 3, 0, 60};
    MPI_Datatype other;
    MPI_Comm comm;
    check_start(&argc, &argv);
    MPI_Type_create_resized(MPI_CHAR, 0, 2, &other);
    MPI_Type_commit(&other);
    CHECK(check_size <= RANKS);
    for (int turn = 0; turn < (check_size < 8 ? 2 : 1); turn++) { /* the second one may get the memory of the first */
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        all_kinds(comm, turn * REPEATS);
        for (MPI_Request q, *later = NULL;; later = &q) {
            from_first(later, one, 0, comm);
            from_first(later, many, 7, comm); /* rank 3 does not see that its block has no room for others */
            from_first(later, less, 3, comm);
            if (later) break;
        }
        from_first_apart(one, 0, other, comm);
        from_first_apart(many, 7, other, comm);
        from_first_apart(less, 3, other, comm);
        edges(comm);
        beside_others(comm);
        under_way(comm);
        reductions(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int blocks = 0; blocks < 2 && check_size > 1; blocks++) too_long(blocks, comm);
    MPI_Comm_free(&comm);
    MPI_Type_free(&other);
    return check_end();
}
