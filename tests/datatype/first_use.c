/* A type's first use may be anything: packing, unpacking, a message, a question. Each kind of layout is packed and sent
 * before and after the library was asked of its extent, and committed before and after, and is the same every time.
 *
 *   first_use [seed [types]]
 */
/* ranks: 1 2 */
/* clients: none */
#include "typemap.h"

enum { ROOM = 1 << 17, MIDDLE = 1 << 16, TYPES = 1200, LONG = 700 };
static unsigned char *list, *spread, *back, *packed;

typedef struct { unsigned char *base; int n; } walk;

static int pack_piece(MPI_Aint at, int size, void *arg)
{
    walk *w = arg;
    if (at < -MIDDLE || at + size > ROOM - MIDDLE) return 1;
    memcpy(list + w->n, w->base + at, (size_t)size);
    w->n += size;
    return 0;
}

static int unpack_piece(MPI_Aint at, int size, void *arg)
{
    walk *w = arg;
    memcpy(w->base + at, list + w->n, (size_t)size);
    w->n += size;
    return 0;
}

static int packs(const typemap *t, int count, uint64_t seed)
{
    int position = 3;
    walk w = {spread + MIDDLE, 0};
    check_fill(spread, ROOM, seed);
    if (typemap_walk(t, count, pack_piece, &w)) return 0;
    memset(packed, 0xA5, (size_t)w.n + 8);
    CHECK_EQ(MPI_Pack(spread + MIDDLE, count, t->type, packed, w.n + 3, &position, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(position, w.n + 3);
    CHECK(!memcmp(packed + 3, list, (size_t)w.n) && packed[2] == 0xA5 && packed[w.n + 3] == 0xA5);
    return 1;
}

static int wanted(const typemap *t, int count, uint64_t seed)
{
    walk size = {spread + MIDDLE, 0}, w = {back + MIDDLE, 0};
    if (typemap_walk(t, count, pack_piece, &size)) return -1;
    check_fill(list, (size_t)size.n, seed);
    memset(back, 0x5A, ROOM);
    memset(spread, 0x5A, ROOM);
    typemap_walk(t, count, unpack_piece, &w);
    return size.n;
}

static void unpacks(const typemap *t, int count, uint64_t seed)
{
    int position = 0, n = wanted(t, count, seed);
    if (n < 0) return;
    CHECK_EQ(MPI_Unpack(list, n, &position, spread + MIDDLE, count, t->type, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(position, n);
    CHECK(!memcmp(spread, back, ROOM));
}

/* From the type to bytes, and from bytes to the type; each rank by its own. */
static void travels(const typemap *t, int count, uint64_t seed)
{
    int to = check_rank ^ 1, n;
    MPI_Status status;
    walk w = {spread + MIDDLE, 0};
    check_fill(spread, ROOM, seed);
    if (to >= check_size || typemap_walk(t, count, pack_piece, &w)) return;
    n = w.n;
    if (check_rank == 0) MPI_Send(spread + MIDDLE, count, t->type, to, 1, MPI_COMM_WORLD);
    else MPI_Recv(packed, n, MPI_BYTE, to, 1, MPI_COMM_WORLD, &status);
    CHECK(check_rank == 0 || !memcmp(packed, list, (size_t)n));
    n = wanted(t, count, seed);
    if (check_rank == 0) {
        MPI_Send(list, n, MPI_BYTE, to, 2, MPI_COMM_WORLD);
        return;
    }
    MPI_Recv(spread + MIDDLE, count, t->type, to, 2, MPI_COMM_WORLD, &status);
    CHECK(!memcmp(spread, back, ROOM));
    MPI_Get_count(&status, t->type, &n);
    CHECK_EQ(n, typemap_size(t) ? count : 0);
}

static void asked(const typemap *t)
{
    MPI_Aint lb, extent;
    CHECK_EQ(MPI_Type_get_extent(t->type, &lb, &extent), MPI_SUCCESS);
    CHECK_EQ(lb, t->lb);
    CHECK_EQ(extent, typemap_extent(t));
}

static void used(typemap *t, int order, uint64_t seed)
{
    MPI_Aint low, high, extent = typemap_extent(t);
    typemap_true(t, &low, &high);
    int several = high - low <= extent && extent < 20000 ? 2 + (int)(seed % 9) : 1;
    if (order & 1) asked(t);
    MPI_Type_commit(&t->type);
    for (int turn = 0; turn < 2; turn++) {
        switch (order >> 1) {
        case 0: packs(t, 1, seed); break;
        case 1: unpacks(t, 1, seed); break;
        case 2: packs(t, several, seed); break;
        default: travels(t, 1, seed);
        }
        packs(t, 1, seed + 1);
        unpacks(t, several, seed + 2);
        packs(t, several, seed + 3);
        travels(t, several, seed + 4);
        asked(t);
    }
}

/* Many blocks; of one length or of several, now and then one right behind the other; or as far apart as the first
 * two. */
static typemap long_list(check_stream *s, const typemap *of)
{
    int n = 1 + check_below(s, LONG), equal = check_below(s, 2), even = check_below(s, 4) == 0,
        touch = check_below(s, 3);
    int most = 1 + check_below(s, 1 << check_below(s, 6)), started = 0, place[LONG], length[LONG];
    typemap t = {0};
    MPI_Aint byte[LONG], extent = typemap_extent(of);
    for (int i = 0, at = -n; i < n; i++) {
        length[i] = equal ? most : 1 + check_below(s, most);
        place[i] = at;
        byte[i] = at * extent;
        at += even ? most + 1 : length[i] + (touch < 2 && check_below(s, touch ? 20 : 2) == 0 ? 0
            : 1 + check_below(s, 3));
    }
    if (check_below(s, 20) == 0) length[n / 2] = 0;
    switch (check_below(s, 4)) {
    case 0: MPI_Type_indexed(n, length, place, of->type, &t.type); break;
    case 1: MPI_Type_create_hindexed(n, length, byte, of->type, &t.type); break;
    case 2: MPI_Type_create_indexed_block(n, most, place, of->type, &t.type); equal = 2; break;
    default: MPI_Type_create_hindexed_block(n, most, byte, of->type, &t.type); equal = 2;
    }
    for (int i = 0; i < n; i++) typemap_append(&t, of, place[i] * extent, equal == 2 ? most : length[i], &started);
    return t;
}

/* Fields of several types and kinds, with gaps; its bounds follow from the data, padded for the strictest of them. */
static typemap structure(check_stream *s)
{
    static const struct { MPI_Datatype type; int size; } basic[] = {{MPI_CHAR, 1}, {MPI_SHORT, 2}, {MPI_INT, 4},
        {MPI_DOUBLE, 8}, {MPI_C_LONG_DOUBLE_COMPLEX, 32}};
    int n = 1 + check_below(s, 5), length[5], started = 0, any = 0;
    MPI_Aint byte[5];
    MPI_Datatype of[5], inner = MPI_DATATYPE_NULL;
    typemap t = {.align = 1};
    for (int i = 0, at = -64; i < n; i++) {
        int b = check_below(s, 5), pair = check_below(s, 4) == 0;
        typemap e = typemap_basic(basic[b].type, basic[b].size);
        if (b == 4) e.align = 16;
        of[i] = e.type;
        length[i] = check_below(s, 4);
        if (pair && inner == MPI_DATATYPE_NULL) { /* two of them, with a hole between */
            typemap two = {.align = e.align, .lb = 0, .ub = 3 * (MPI_Aint)basic[b].size};
            int begun = 1;
            typemap_append(&two, &e, 0, 1, &begun);
            typemap_append(&two, &e, 2 * (MPI_Aint)basic[b].size, 1, &begun);
            MPI_Type_vector(2, 1, 2, e.type, &inner);
            of[i] = inner;
            free(e.piece);
            e = two;
        }
        at = (at + 15) / 16 * 16 + (check_below(s, 2) ? 0 : e.align);
        byte[i] = at;
        typemap_append(&t, &e, at, length[i], &started);
        any += length[i];
        at += length[i] * (int)typemap_extent(&e);
        free(e.piece);
    }
    MPI_Type_create_struct(n, length, byte, of, &t.type);
    if (inner != MPI_DATATYPE_NULL) MPI_Type_free(&inner);
    if (any && t.align) t.ub = t.lb + (t.ub - t.lb + t.align - 1) / t.align * t.align;
    return t;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    const struct { MPI_Datatype type; int size; } basic[] = {{MPI_UNSIGNED_CHAR, 1}, {MPI_SHORT, 2}, {MPI_INT, 4},
        {MPI_UINT64_T, 8}, {MPI_C_DOUBLE_COMPLEX, 16}};
    check_stream s = check_seed(argc > 1 ? strtoull(argv[1], NULL, 10) : 11);
    int types = argc > 2 ? (int)strtol(argv[2], NULL, 10) : TYPES / check_size;
    list = malloc(ROOM);
    packed = malloc(ROOM);
    spread = malloc(ROOM);
    back = malloc(ROOM);
    for (int k = 0; k < types; k++) {
        int b = check_below(&s, 5), depth = 1 + check_below(&s, 4), predefined = 1;
        typemap t = typemap_basic(basic[b].type, basic[b].size), outer;
        if (k % 3 == 0) {
            outer = long_list(&s, &t);
            typemap_free(&t, 1);
            t = outer;
            predefined = 0;
        } else if (k % 3 == 1) {
            typemap_free(&t, 1);
            t = structure(&s);
            predefined = 0;
        }
        for (int d = k % 3 < 2 ? 3 : 0; d < depth; d++) {
            if (!typemap_random(&s, &t, &outer)) continue;
            typemap_free(&t, predefined);
            t = outer;
            predefined = 0;
        }
        if (!predefined) used(&t, check_below(&s, 8), (uint64_t)k);
        typemap_free(&t, predefined);
    }
    free(list);
    free(packed);
    free(spread);
    free(back);
    return check_end();
}
