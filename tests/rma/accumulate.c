/* Accumulate and its kin: every predefined operator with every predefined type, old values, order, derived types. */
/* needs: MPI_Accumulate MPI_Get_accumulate MPI_Fetch_and_op MPI_Compare_and_swap MPI_Win_lock_all MPI_Win_fence */
#include "rma.h"
#include "../coll/ops.h"

enum { ROOM = 100 * sizeof(long double _Complex) };

static rma_window w;
static int turn;

static void accumulate(const void *buf, int n, MPI_Datatype type, int to, MPI_Aint at, MPI_Op op)
{
#if MPI_VERSION >= 4
    if (turn % 2) {
        CHECK_EQ(MPI_Accumulate_c(buf, n, type, to, at, n, type, op, w.win), MPI_SUCCESS);
        return;
    }
#endif
    CHECK_EQ(MPI_Accumulate(buf, n, type, to, at, n, type, op, w.win), MPI_SUCCESS);
}

static void get_accumulate(const void *buf, int n, MPI_Datatype type, void *old, int to, MPI_Aint at, MPI_Op op)
{
    int given = op == MPI_NO_OP ? 0 : n;
#if MPI_VERSION >= 4
    if (turn % 2) {
        CHECK_EQ(MPI_Get_accumulate_c(buf, given, type, old, n, type, to, at, n, type, op, w.win), MPI_SUCCESS);
        return;
    }
#endif
    CHECK_EQ(MPI_Get_accumulate(buf, given, type, old, n, type, to, at, n, type, op, w.win), MPI_SUCCESS);
}

/* Open MPI 4.1 does not keep the order of reads and writes: there, an epoch for each. */
static void then(void)
{
    if (check_library("Open MPI v4.1")) MPI_Win_fence(0, w.win);
}

/* All ranks but 0 add what they have to what rank 0 would have. */
static void all_to_one(const ops_case *c)
{
    static const int lengths[] = {1, 7, 64, 100};
    static long double _Complex in[100];
    int n = lengths[turn % 4], to = turn % check_size;
    turn++;
    ops_fill(c, in, n, check_rank);
    if (check_rank == to) ops_fill(c, w.base, n, 0);
    MPI_Win_fence(0, w.win);
    if (check_rank) accumulate(in, n, c->type, to, rma_at(&w, to, 0), c->op);
    MPI_Win_fence(0, w.win);
    if (check_rank == to) ops_check(c, w.base, 0, n, check_size - 1, "Accumulate");
}

/* Each rank with a target of its own, which holds what rank 0 would have. What one rank does to one place happens in
 * order (MPI 5.0, 12.7.2), so that one epoch shows each operation's old values and what it leaves. */
static void old_values(const ops_case *c)
{
    static long double _Complex first[100], second[100], old[8][100];
    int n = 1 + turn % 9, next = (check_rank + 1) % check_size;
    MPI_Aint at = rma_at(&w, next, 0);
    turn++;
    ops_fill(c, first, n, 0);
    ops_fill(c, second, n, 1);
    ops_fill(c, w.base, n, 0);
    memset(old, 0, sizeof old);
    MPI_Win_fence(0, w.win);
    get_accumulate(second, n, c->type, old[0], next, at, c->op);
    then();
    get_accumulate(NULL, n, c->type, old[1], next, at, MPI_NO_OP);
    then();
    get_accumulate(first, n, c->type, old[2], next, at, MPI_REPLACE);
    then();
    get_accumulate(NULL, n, c->type, old[3], next, at, MPI_NO_OP);
    then();
    CHECK_EQ(MPI_Fetch_and_op(second, old[4], c->type, next, at, c->op, w.win), MPI_SUCCESS);
    then();
    get_accumulate(NULL, n, c->type, old[5], next, at, MPI_NO_OP); /* one element is what it was, the others are not */
    then();
    CHECK_EQ(MPI_Fetch_and_op(first, old[6], c->type, next, at, MPI_REPLACE, w.win), MPI_SUCCESS);
    then();
    CHECK_EQ(MPI_Fetch_and_op(NULL, old[7], c->type, next, at, MPI_NO_OP, w.win), MPI_SUCCESS);
    MPI_Win_fence(0, w.win);
    ops_check(c, old[0], 0, n, 0, "Get_accumulate");
    ops_check(c, old[1], 0, n, 1, "what Get_accumulate left");
    ops_check(c, old[2], 0, n, 1, "Get_accumulate to replace");
    ops_check(c, old[3], 0, n, 0, "what MPI_REPLACE left");
    ops_check(c, old[4], 0, 1, 0, "Fetch_and_op");
    ops_check(c, old[5], 0, 1, 1, "what Fetch_and_op left");
    for (int i = 1; i < n; i++) CHECK(c->is(old[5], i, ops_value(c->kind, 0, i)));
    ops_check(c, old[6], 0, 1, 1, "Fetch_and_op to replace");
    ops_check(c, old[7], 0, 1, 0, "Fetch_and_op with MPI_NO_OP");
    ops_check(c, w.base, 0, n, 0, "what is left in the end");
}

/* Integers, logicals and bytes can be compared and swapped; among those of ops_each, they have bitwise operators. */
static void compare_and_swap(const ops_case *c)
{
    int logical = c->kind == LXOR && c->type == MPI_C_BOOL, next = (check_rank + 1) % check_size;
    if (c->kind != BXOR && !logical) return;
    static long double _Complex have, wrong, is, old[3];
    MPI_Aint at = rma_at(&w, next, 0);
    memset(w.base, 0x5a, 64);
    c->store(&have, 0, 1), c->store(&wrong, 0, logical ? 0 : 77), c->store(&is, 0, logical ? 0 : 99);
    for (int k = 0; k < 3; k++) c->store(&old[k], 0, 5);
    memcpy(w.base, &have, c->size);
    MPI_Win_fence(0, w.win);
    CHECK_EQ(MPI_Compare_and_swap(&is, &wrong, &old[0], c->type, next, at, w.win), MPI_SUCCESS);
    then();
    CHECK_EQ(MPI_Compare_and_swap(&is, &have, &old[1], c->type, next, at, w.win), MPI_SUCCESS);
    then();
    CHECK_EQ(MPI_Compare_and_swap(&is, &is, &old[2], c->type, next, at, w.win), MPI_SUCCESS);
    MPI_Win_fence(0, w.win);
    CHECK_SAY(c->is(&old[0], 0, 1), "Compare_and_swap of %s does not give the old value", c->type_name);
    CHECK_SAY(c->is(&old[1], 0, 1), "Compare_and_swap of %s swaps what is not equal", c->type_name);
    CHECK_SAY(c->is(&old[2], 0, logical ? 0 : 99), "Compare_and_swap of %s does not swap what is equal", c->type_name);
    CHECK_SAY(c->is(w.base, 0, logical ? 0 : 99), "Compare_and_swap of %s leaves another value", c->type_name);
    for (size_t i = c->size; i < 64; i++) CHECK_EQ(w.base[i], 0x5a);
}

/* All that is to be done with a type and an operator. */
static void each(const ops_case *c)
{
    /* Open MPI 4.1 takes logical operators for none (osc/rdma). */
    if (check_library("Open MPI v4.1") && (c->kind == LAND || c->kind == LOR || c->kind == LXOR)) return;
    all_to_one(c);
    old_values(c);
    compare_and_swap(c);
}

/* Values with the index of where they are: MINLOC and MAXLOC. Records have gaps, which nobody may rely upon. */
#define PAIRS(function, ctype, mpitype) \
    static void function(void) \
    { \
        typedef struct { ctype value; int at; } pair; \
        pair in[5], *here = (pair *)(void *)w.base, old[5]; \
        for (int least = 0; least < 2; least++) { \
            int to = (least + 1) % check_size; \
            for (int i = 0; i < 5; i++) { \
                in[i].value = (ctype)((check_rank * 5 + i * 3) % 7), in[i].at = check_rank; \
                if (check_rank == to) here[i].value = (ctype)(least ? 50 : -50), here[i].at = 1000; \
            } \
            MPI_Win_fence(0, w.win); \
            MPI_Accumulate(in, 5, mpitype, to, rma_at(&w, to, 0), 5, mpitype, least ? MPI_MINLOC : MPI_MAXLOC, w.win); \
            MPI_Win_fence(0, w.win); \
            if (check_rank == to) \
                for (int i = 0; i < 5; i++) { \
                    int best = i * 3 % 7, who = 0; \
                    for (int r = 1; r < check_size; r++) { \
                        int v = (r * 5 + i * 3) % 7; \
                        if (least ? v < best : v > best) best = v, who = r; \
                    } \
                    CHECK_SAY(here[i].value == (ctype)best && here[i].at == who, \
                              "%s with %s: element %d is (%g, %d), " \
                              "not (%d, %d)", least ? "MPI_MINLOC" : "MPI_MAXLOC", #mpitype, i, (double)here[i].value, \
                              here[i].at, best, who); \
                } \
            MPI_Win_fence(0, w.win); \
            if (check_rank == 0) \
                MPI_Get_accumulate(in, 5, mpitype, old, 5, mpitype, to, rma_at(&w, to, 0), 5, mpitype, MPI_REPLACE, \
                                   w.win); \
            MPI_Win_fence(0, w.win); \
            if (check_rank == to) \
                for (int i = 0; i < 5; i++) CHECK(here[i].value == (ctype)(i * 3 % 7) && here[i].at == 0); \
            MPI_Win_fence(0, w.win); \
        } \
    }
PAIRS(two_ints, int, MPI_2INT)
PAIRS(float_ints, float, MPI_FLOAT_INT)
PAIRS(double_ints, double, MPI_DOUBLE_INT)
PAIRS(long_ints, long, MPI_LONG_INT)
PAIRS(short_ints, short, MPI_SHORT_INT)
PAIRS(ldouble_ints, long double, MPI_LONG_DOUBLE_INT)

static void pairs(void)
{
    two_ints();
    float_ints();
    double_ints();
    long_ints();
    short_ints();
    ldouble_ints();
}

/* One origin's accumulates to one place happen in their order, long or short, with an answer or without. */
static void ordered(void)
{
    enum { N = 2000, TURNS = 40 };
    rma_window o;
    rma_open(&o, w.kind, N * check_size * (MPI_Aint)sizeof(int), sizeof(int), MPI_COMM_WORLD);
    memset(o.base, 0, (size_t)o.size);
    typedef int row[N], answers[4];
    row *many = malloc(sizeof(row) * TURNS);
    answers *seen = malloc(sizeof(answers) * TURNS);
    int next = (check_rank + 1) % check_size, two = 2, one[TURNS];
    MPI_Aint first = N * check_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, o.win);
    for (int t = 0; t < TURNS; t++) {
        int n = t % 3 ? 1 + t : N;
        for (int i = 0; i < n; i++) many[t][i] = t * 1000 + i;
        one[t] = -t;
        MPI_Accumulate(many[t], n, MPI_INT, next, rma_at(&o, next, first), n, MPI_INT, MPI_REPLACE, o.win);
        MPI_Fetch_and_op(&two, &seen[t][0], MPI_INT, next, rma_at(&o, next, first), MPI_SUM, o.win);
        MPI_Accumulate(&two, 1, MPI_INT, next, rma_at(&o, next, first), 1, MPI_INT, MPI_PROD, o.win);
        MPI_Get_accumulate(NULL, 0, MPI_INT, &seen[t][1], 1, MPI_INT, next, rma_at(&o, next, first), 1, MPI_INT,
                           MPI_NO_OP, o.win);
        MPI_Accumulate(&one[t], 1, MPI_INT, next, rma_at(&o, next, first + n - 1), 1, MPI_INT, MPI_REPLACE, o.win);
        MPI_Get_accumulate(&two, 1, MPI_INT, &seen[t][2], 1, MPI_INT, next, rma_at(&o, next, first + n - 1), 1, MPI_INT,
                           MPI_SUM, o.win);
        MPI_Fetch_and_op(NULL, &seen[t][3], MPI_INT, next, rma_at(&o, next, first + n - 1), MPI_NO_OP, o.win);
    }
    MPI_Win_unlock_all(o.win);
    for (int t = 0; t < TURNS; t++) {
        int want[4] = {t * 1000, (t * 1000 + 2) * 2, -t, 2 - t};
        for (int k = 0; k < 4; k++)
            CHECK_SAY(seen[t][k] == want[k],
                      "window by %s: accumulates out of order: answer %d of turn %d is %d, not %d",
                      rma_name[w.kind], k, t, seen[t][k], want[k]);
    }
    free(many);
    free(seen);
    rma_close(&o);
}

/* Derived types of one predefined type, other ones at each side: sums, and old values. */
static void derived(void)
{
    static rma_layout layout[RMA_LAYOUTS];
    rma_window d;
    double out[RMA_SPAN], old[RMA_SPAN], want[RMA_SPAN], *mine;
    rma_layouts(layout, MPI_DOUBLE, sizeof(double));
    rma_open(&d, w.kind, RMA_SPAN * sizeof(double), sizeof(double), MPI_COMM_WORLD);
    mine = (double *)(void *)d.base;
    for (int a = 0; a < RMA_LAYOUTS; a++)
        for (int b = (a + w.kind) % 2; b < RMA_LAYOUTS; b += 2) {
            const rma_layout *here = &layout[a], *there = &layout[b], *back = &layout[(a + b) % RMA_LAYOUTS];
            int to = (a + b) % check_size, one = b % check_size;
            for (int i = 0; i < RMA_SPAN; i++) mine[i] = want[i] = i / 2.0, out[i] = -1e9, old[i] = -7;
            for (int i = 0; i < RMA_LONG; i++) out[here->place[i]] = check_rank + i * 10;
            MPI_Win_fence(0, d.win);
            MPI_Accumulate(out, here->count, here->type, to, rma_at(&d, to, 0), there->count, there->type, MPI_SUM,
                           d.win);
            MPI_Win_fence(0, d.win);
            for (int i = 0; i < RMA_LONG && check_rank == to; i++)
                want[there->place[i]] += check_size * (check_size - 1) / 2 + check_size * i * 10;
            for (int i = 0; i < RMA_SPAN; i++)
                CHECK_SAY(mine[i] == want[i], "Accumulate from %s to %s: double %d is %g, not %g", here->name,
                          there->name, i, mine[i], want[i]);
            MPI_Win_fence(0, d.win);
            if (check_rank == one)
                MPI_Get_accumulate(out, here->count, here->type, old, back->count, back->type, one, rma_at(&d, one, 0),
                                   there->count, there->type, MPI_MAX, d.win);
            MPI_Win_fence(0, d.win);
            if (check_rank != one) continue;
            for (int i = 0; i < RMA_LONG; i++) {
                double *at = &want[there->place[i]], mine_was = *at;
                CHECK_SAY(old[back->place[i]] == mine_was, "Get_accumulate from %s, %s: old value %d is %g, not %g",
                          there->name, back->name, i, old[back->place[i]], mine_was);
                old[back->place[i]] = -7;
                if (check_rank + i * 10 > mine_was) *at = check_rank + i * 10;
            }
            for (int i = 0; i < RMA_SPAN; i++) CHECK(old[i] == -7 && mine[i] == want[i]);
        }
    rma_close(&d);
    rma_layouts_free(layout);
}

/* Long ones from all ranks to all at once, and between them short ones to the same places. */
static void many(void)
{
    enum { N = 50000 };
    rma_window m;
    rma_open(&m, w.kind, N * sizeof(double), sizeof(double), MPI_COMM_WORLD);
    double *out = malloc(N * sizeof *out), *mine = (double *)(void *)m.base, one = 1;
    for (int i = 0; i < N; i++) mine[i] = i, out[i] = check_rank + i % 10;
    MPI_Win_fence(0, m.win);
    for (int k = 0; k < check_size; k++) {
        int to = (check_rank + k) % check_size;
        MPI_Accumulate(out, N, MPI_DOUBLE, to, rma_at(&m, to, 0), N, MPI_DOUBLE, MPI_SUM, m.win);
        for (int i = 0; i < 10; i++)
            MPI_Accumulate(&one, 1, MPI_DOUBLE, to, rma_at(&m, to, 100 * i), 1, MPI_DOUBLE, MPI_SUM, m.win);
    }
    MPI_Win_fence(0, m.win);
    for (int i = 0; i < N; i++) {
        double want = i + check_size * (check_size - 1) / 2 + check_size * (i % 10);
        if (i < 1000 && i % 100 == 0) want += check_size;
        CHECK_SAY(mine[i] == want, "window by %s: double %d is %g, not %g", rma_name[w.kind], i, mine[i], want);
    }
    free(out);
    rma_close(&m);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    RMA_EACH(kind) {
        rma_open(&w, kind, ROOM, 1, MPI_COMM_WORLD);
        ops_each(each);
        if (!check_library("Open MPI v4.1")) pairs(); /* it ends a job that accumulates them (osc/pt2pt) */
        derived();
        if (!check_library("Open MPI v4.1")) ordered();
        many();
        rma_close(&w);
    }
    return check_end();
}
