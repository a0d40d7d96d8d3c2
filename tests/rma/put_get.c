/* Put and get between fences: every layout on both sides, every kind of window, displacement units, addresses. */
/* needs: MPI_Put MPI_Get MPI_Win_fence MPI_Win_create MPI_Win_allocate MPI_Win_create_dynamic */
#include "rma.h"
#include <stddef.h>

enum { HOLE = 0x5a5a5a5a };

static rma_layout layout[RMA_LAYOUTS];

static int value(int from, int to, int i) { return from * 10000 + to * 100 + i; }

/* MPI_Put and MPI_Put_c in turn, where there is a large form; so with Get. */
static int large __attribute__((unused));

static void put(const void *buf, int n, MPI_Datatype type, int to, MPI_Aint at, int m, MPI_Datatype there, MPI_Win win)
{
#if MPI_VERSION >= 4
    if (large++ % 2) {
        CHECK_EQ(MPI_Put_c(buf, n, type, to, at, m, there, win), MPI_SUCCESS);
        return;
    }
#endif
    CHECK_EQ(MPI_Put(buf, n, type, to, at, m, there, win), MPI_SUCCESS);
}

static void get(void *buf, int n, MPI_Datatype type, int from, MPI_Aint at, int m, MPI_Datatype there, MPI_Win win)
{
#if MPI_VERSION >= 4
    if (large++ % 2) {
        CHECK_EQ(MPI_Get_c(buf, n, type, from, at, m, there, win), MPI_SUCCESS);
        return;
    }
#endif
    CHECK_EQ(MPI_Get(buf, n, type, from, at, m, there, win), MPI_SUCCESS);
}

/* Place i of the layout holds the value of (from, to, i), and everything between is as it was. */
static void check_places(const int *at, const rma_layout *l, int from, int to, const char *what, const char *kind)
{
    int want[RMA_SPAN];
    for (int i = 0; i < RMA_SPAN; i++) want[i] = HOLE;
    for (int i = 0; i < RMA_LONG; i++) want[l->place[i]] = value(from, to, i);
    for (int i = 0; i < RMA_SPAN; i++)
        CHECK_SAY(at[i] == want[i], "%s, window by %s, %s: int %d of what %d gave %d is %d, not %d", what, kind,
                  l->name,
                  i, from, to, at[i], want[i]);
}

/* Every rank puts to every rank, itself included, and then gets all of it back. One in three pairs of layouts. */
static void layouts(rma_window *w, int third)
{
    int *mine = (int *)(void *)w->base, *out = malloc(sizeof(int) * RMA_SPAN * (size_t)check_size);
    for (int a = 0; a < RMA_LAYOUTS; a++)
        for (int b = 0; b < RMA_LAYOUTS; b++) {
            if ((a * RMA_LAYOUTS + b) % 3 != third) continue;
            const rma_layout *here = &layout[a], *there = &layout[b];
            for (int i = 0; i < RMA_SPAN * check_size; i++) mine[i] = out[i] = HOLE;
            CHECK_EQ(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win), MPI_SUCCESS);
            for (int k = 0; k < check_size; k++) {
                int to = (check_rank + k) % check_size, *from = out + RMA_SPAN * to;
                for (int i = 0; i < RMA_LONG; i++) from[here->place[i]] = value(check_rank, to, i);
                MPI_Aint at = rma_at(w, to, RMA_SPAN * check_rank * (int)sizeof(int) / w->unit);
                put(from, here->count, here->type, to, at, there->count, there->type, w->win);
            }
            CHECK_EQ(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, w->win), MPI_SUCCESS);
            for (int r = 0; r < check_size; r++)
                check_places(mine + RMA_SPAN * r, there, r, check_rank, "put", rma_name[w->kind]);
            for (int i = 0; i < RMA_SPAN * check_size; i++) out[i] = HOLE;
            for (int k = 0; k < check_size; k++) {
                int from = (check_rank + k) % check_size;
                MPI_Aint at = rma_at(w, from, RMA_SPAN * check_rank * (int)sizeof(int) / w->unit);
                get(out + RMA_SPAN * from, here->count, here->type, from, at, there->count, there->type, w->win);
            }
            CHECK_EQ(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT | MPI_MODE_NOSTORE, w->win), MPI_SUCCESS);
            for (int r = 0; r < check_size; r++)
                check_places(out + RMA_SPAN * r, here, check_rank, r, "get", rma_name[w->kind]);
        }
    free(out);
}

/* Records of int, double and char: one type with holes in the middle, one packed tightly, one in another order. */
static void records(rma_kind kind)
{
    enum { N = 7 };
    typedef struct { int a; double b; char c; } record;
    static const int ones[] = {1, 1, 1};
    const MPI_Aint loose_at[] = {offsetof(record, a), offsetof(record, b), offsetof(record, c)}, tight_at[] = {0, 4,
                                                                                                               12},
                   turned_at[] = {12, 0, 8};
    const MPI_Datatype of[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Datatype inner, loose, tight, turned;
    MPI_Type_create_struct(3, ones, loose_at, of, &inner);
    MPI_Type_create_resized(inner, 0, sizeof(record), &loose);
    MPI_Type_create_struct(3, ones, turned_at, of, &turned); /* signature int, double, char; memory double, char, int */
    MPI_Type_free(&inner);
    MPI_Type_create_struct(3, ones, tight_at, of, &inner);
    MPI_Type_create_resized(inner, 0, 13, &tight);
    MPI_Type_commit(&loose);
    MPI_Type_commit(&tight);
    MPI_Type_commit(&turned);
    rma_window w;
    rma_open(&w, kind, N * 16, 1, MPI_COMM_WORLD);
    record out[N], in[N];
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    for (int way = 0; way < 2; way++) {
        MPI_Datatype there = way ? turned : tight;
        int stride = way ? 16 : 13, a_at = way ? 12 : 0, b_at = way ? 0 : 4, c_at = way ? 8 : 12;
        for (int i = 0; i < N; i++) out[i] = (record){check_rank * 100 + i, i / 8.0 - check_rank, (char)('a' + i)};
        memset(in, 0, sizeof in);
        memset(w.base, 0x5a, (size_t)w.size);
        MPI_Win_fence(0, w.win);
        put(out, N, loose, next, rma_at(&w, next, 0), N, there, w.win);
        MPI_Win_fence(0, w.win);
        for (int i = 0; i < N; i++) {
            int a;
            double b;
            memcpy(&a, w.base + stride * i + a_at, sizeof a);
            memcpy(&b, w.base + stride * i + b_at, sizeof b);
            CHECK_EQ(a, previous * 100 + i);
            CHECK_SAY(b == i / 8.0 - previous, "double of record %d is %g, not %g", i, b, i / 8.0 - previous);
            CHECK_EQ(w.base[stride * i + c_at], 'a' + i);
            if (way) for (int gap = 9; gap < 12; gap++) CHECK_EQ(w.base[stride * i + gap], 0x5a);
        }
        get(in, N, loose, next, rma_at(&w, next, 0), N, there, w.win);
        MPI_Win_fence(0, w.win);
        for (int i = 0; i < N; i++) CHECK(in[i].a == out[i].a && in[i].b == out[i].b && in[i].c == out[i].c);
    }
    MPI_Type_free(&inner);
    MPI_Type_free(&loose);
    MPI_Type_free(&tight);
    MPI_Type_free(&turned);
    rma_close(&w);
}

/* The target's unit counts, and it may be another at every rank. */
static void units(void)
{
    enum { SIZE = 32768 };
    static const int unit_of[] = {1, 8, 3, 1000, 16, 7, 4, 2};
    static char memory[SIZE], want[SIZE];
    MPI_Win win;
    int unit = unit_of[check_rank % 8], word = 0x01020304 * (check_rank + 1), in[64];
    CHECK(check_size <= 8);
    memset(memory, 0x5a, sizeof memory);
    memset(want, 0x5a, sizeof want);
    CHECK_EQ(MPI_Win_create(memory, SIZE, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    for (int to = 0; to < check_size; to++) put(&word, 1, MPI_INT, to, 4 * check_rank + 1, 4, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    for (int from = 0; from < check_size; from++) {
        int its = 0x01020304 * (from + 1);
        memcpy(want + (4 * from + 1) * unit, &its, sizeof its);
    }
    for (int i = 0; i < SIZE; i++)
        CHECK_SAY(memory[i] == want[i], "unit %d: byte %d is %d, not %d", unit, i, memory[i], want[i]);
    for (int from = 0; from < check_size; from++) get(&in[from], 4, MPI_BYTE, from, 4 * check_rank + 1, 1, MPI_INT,
                                                      win);
    MPI_Win_fence(0, win);
    for (int from = 0; from < check_size; from++) CHECK_EQ(in[from], word);
    MPI_Win_free(&win);
}

/* MPI_PROC_NULL, and counts of 0 at any displacement, do nothing; a rank's own window is a target as any. */
static void nothing_and_self(rma_window *w)
{
    int one = 1, got = -5, *mine = (int *)(void *)w->base;
    for (int i = 0; i < RMA_SPAN; i++) mine[i] = HOLE;
    MPI_Win_fence(0, w->win);
    put(&one, 1, MPI_INT, MPI_PROC_NULL, 1 << 30, 1, MPI_INT, w->win);
    get(&got, 1, MPI_INT, MPI_PROC_NULL, 1 << 30, 1, MPI_INT, w->win);
    CHECK_EQ(MPI_Accumulate(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w->win), MPI_SUCCESS);
    put(NULL, 0, MPI_INT, 0, rma_at(w, 0, 0), 0, MPI_INT, w->win);
    get(NULL, 0, layout[4].type, check_size - 1, rma_at(w, check_size - 1, 0), 0, MPI_INT, w->win);
    MPI_Win_fence(0, w->win);
    for (int i = 0; i < RMA_SPAN; i++) CHECK_EQ(mine[i], HOLE);
    CHECK_EQ(got, -5);
    put(&check_rank, 1, MPI_INT, check_rank, rma_at(w, check_rank, 0), 1, MPI_INT, w->win);
    MPI_Win_fence(0, w->win);
    CHECK_EQ(mine[0], check_rank);
    get(&got, 1, MPI_INT, check_rank, rma_at(w, check_rank, 0), 1, MPI_INT, w->win);
    MPI_Win_fence(0, w->win);
    CHECK_EQ(got, check_rank);
}

/* Many gets of the same memory by all at once, and empty epochs in between. */
static void all_read_one(rma_window *w)
{
    int *mine = (int *)(void *)w->base, in[RMA_SPAN];
    for (int turn = 0; turn < check_size; turn++) {
        for (int i = 0; i < RMA_SPAN; i++) mine[i] = check_rank * 1000 + i + turn;
        MPI_Win_fence(MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE, w->win);
        for (int i = 0; i < RMA_SPAN; i++)
            get(&in[i], 1, MPI_INT, turn, rma_at(w, turn, i * (int)sizeof(int) / w->unit), 1, MPI_INT, w->win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
        for (int i = 0; i < RMA_SPAN; i++) CHECK_EQ(in[i], turn * 1000 + i + turn);
        MPI_Win_fence(0, w->win);
        MPI_Win_fence(0, w->win);
    }
}

/* Origin buffers as types of absolute addresses, at MPI_BOTTOM; the same at the target in a dynamic window. */
static void addresses(void)
{
    rma_window w;
    int parts[2][3] = {{0}}, in[6], next = (check_rank + 1) % check_size,
        previous = (check_rank + check_size - 1) % check_size;
    MPI_Aint here[2], there[2];
    MPI_Datatype origin, target;
    static const int three[] = {3, 3};
    rma_open(&w, RMA_DYNAMIC, 64, 1, MPI_COMM_WORLD);
    MPI_Get_address(parts[1], &here[0]);
    MPI_Get_address(parts[0], &here[1]);
    MPI_Type_create_hindexed(2, three, here, MPI_INT, &origin);
    MPI_Type_commit(&origin);
    there[0] = MPI_Aint_add(w.start[next], 32);
    there[1] = w.start[next];
    MPI_Type_create_hindexed(2, three, there, MPI_INT, &target);
    MPI_Type_commit(&target);
    for (int i = 0; i < 6; i++) parts[i / 3][i % 3] = check_rank * 10 + i;
    MPI_Win_fence(0, w.win);
    MPI_Datatype copy;
    MPI_Type_dup(target, &copy);
    put(MPI_BOTTOM, 1, origin, next, 0, 1, copy, w.win);
    MPI_Type_free(&copy); /* what is under way keeps it */
    MPI_Win_fence(0, w.win);
    memset(in, -1, sizeof in);
    memcpy(in, w.base, 12);
    memcpy(in + 3, w.base + 32, 12);
    for (int i = 0; i < 6; i++) CHECK_EQ(in[i], previous * 10 + i);
    for (int i = 12; i < 32; i++) CHECK_EQ(w.base[i], 0x5a);
    memset(parts, 0, sizeof parts);
    MPI_Win_fence(0, w.win);
    get(MPI_BOTTOM, 1, origin, next, 0, 1, target, w.win);
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < 6; i++) CHECK_EQ(parts[i / 3][i % 3], check_rank * 10 + i);
    MPI_Type_free(&origin);
    MPI_Type_free(&target);
    rma_close(&w);
}

/* Long ones, contiguous and not, of a length that is a multiple of nothing; several to one target in one epoch. */
static void lengths(rma_kind kind)
{
    static const int length[] = {1, 2, 7, 8, 9, 63, 64, 65, 4095, 4097, 65537, 1000003};
    enum { MOST = 1000003 };
    rma_window w;
    rma_open(&w, kind, 2 * MOST, 1, MPI_COMM_WORLD);
    char *out = malloc(MOST), *in = malloc(MOST);
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    for (size_t k = 0; k < sizeof length / sizeof *length; k++) {
        int n = length[k];
        MPI_Datatype every_other;
        MPI_Type_vector(n, 1, 2, MPI_BYTE, &every_other);
        MPI_Type_commit(&every_other);
        for (int way = 0; way < 2; way++) {
            memset(w.base, 0x5a, 2 * (size_t)n);
            memset(in, 0, (size_t)n);
            check_fill(out, (size_t)n, (uint64_t)(check_rank * 100 + way));
            MPI_Win_fence(0, w.win);
            if (way) put(out, n, MPI_BYTE, next, rma_at(&w, next, 0), 1, every_other, w.win);
            else put(out, n, MPI_BYTE, next, rma_at(&w, next, 0), n, MPI_BYTE, w.win);
            MPI_Win_fence(0, w.win);
            if (way) get(in, n, MPI_BYTE, next, rma_at(&w, next, 0), 1, every_other, w.win);
            else get(in, n, MPI_BYTE, next, rma_at(&w, next, 0), n, MPI_BYTE, w.win);
            MPI_Win_fence(0, w.win);
            CHECK_SAY(!memcmp(in, out, (size_t)n), "%d bytes that were put, in a window by %s, come back otherwise", n,
                      rma_name[kind]);
            if (way)
                for (int i = 0; i < n; i++) {
                    in[i] = w.base[2 * i];
                    if (i < n - 1) CHECK_EQ(w.base[2 * i + 1], 0x5a);
                }
            long differs = check_differs(way ? in : w.base, (size_t)n, (uint64_t)(previous * 100 + way));
            CHECK_SAY(differs == -1, "byte %ld of %d that were put, in a window by %s, is another", differs, n,
                      rma_name[kind]);
            if (!way) CHECK_EQ(w.base[n], 0x5a);
        }
        MPI_Type_free(&every_other);
    }
    free(out);
    free(in);
    rma_close(&w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    rma_layouts(layout, MPI_INT, sizeof(int));
    RMA_EACH(kind) {
        static const int unit[] = {1, 4, 320};
        for (int u = 0; u < 3; u++) {
            rma_window w;
            rma_open(&w, kind, (MPI_Aint)sizeof(int) * RMA_SPAN * check_size, unit[u], MPI_COMM_WORLD);
            layouts(&w, u);
            if (u < 2) {
                nothing_and_self(&w);
                all_read_one(&w);
            }
            rma_close(&w);
        }
        records(kind);
        lengths(kind);
    }
    units();
    addresses();
    rma_layouts_free(layout);
    return check_end();
}
