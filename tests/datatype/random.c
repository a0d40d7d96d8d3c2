/* Random nested types against a plain list of their pieces: sizes and extents, messages with the type at either or both
 * ends, packing in one go, and nothing touched between the pieces.
 *
 *   random [seed [types]]
 *
 * ranks: 1 2 3 */
#include "typemap.h"

enum { ROOM = 1 << 20, MIDDLE = 1 << 19, TYPES = 300 };
static unsigned char *plain, *spread, *back;

typedef struct { unsigned char *base, *packed; int n; } walk;

/* Copy a piece out of the spread buffer, as packing does; or compare. */
static int pack_piece(MPI_Aint at, int size, void *arg)
{
    walk *w = arg;
    if (at < -MIDDLE || at + size > ROOM - MIDDLE) return 1;
    memcpy(w->packed + w->n, w->base + at, (size_t)size);
    w->n += size;
    return 0;
}

static int unpack_piece(MPI_Aint at, int size, void *arg)
{
    walk *w = arg;
    memcpy(w->base + at, w->packed + w->n, (size_t)size);
    w->n += size;
    return 0;
}

static void sizes(const typemap *t)
{
    int size = -1;
    MPI_Aint lb = -1, extent = -1, low, high;
    MPI_Type_size(t->type, &size);
    CHECK_EQ(size, typemap_size(t));
    MPI_Type_get_extent(t->type, &lb, &extent);
    CHECK_EQ(lb, t->lb);
    CHECK_EQ(extent, typemap_extent(t));
    MPI_Type_get_true_extent(t->type, &lb, &extent);
    typemap_true(t, &low, &high);
    CHECK_EQ(lb, low);
    CHECK_EQ(extent, high - low);
}

/* basic: the elements at the plain end. */
static void move(const typemap *t, int count, MPI_Datatype basic, int basic_size)
{
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, got = -1,
        position = 0, room = 0;
    MPI_Status status;
    walk w = {spread + MIDDLE, plain, 0};
    check_fill(spread, ROOM, (uint64_t)check_rank);
    if (typemap_walk(t, count, pack_piece, &w)) return; /* too large for the buffers */
    int bytes = w.n, elements = bytes / basic_size;

    /* Typed to plain. */
    unsigned char *in = malloc((size_t)bytes + 8);
    memset(in, 0xA5, (size_t)bytes + 8);
    MPI_Sendrecv(spread + MIDDLE, count, t->type, next, 1, in, elements + 1, basic, previous, 1, MPI_COMM_WORLD,
                 &status);
    MPI_Get_count(&status, basic, &got);
    CHECK_EQ(got, elements);
    check_fill(back, ROOM, (uint64_t)previous);
    w = (walk){back + MIDDLE, plain, 0};
    typemap_walk(t, count, pack_piece, &w);
    CHECK(!memcmp(in, plain, (size_t)bytes));

    /* Plain to typed: gaps keep what was there. */
    memset(spread, 0x5A, ROOM);
    memset(back, 0x5A, ROOM);
    check_fill(plain, (size_t)bytes, (uint64_t)previous + 77);
    w = (walk){back + MIDDLE, plain, 0};
    typemap_walk(t, count, unpack_piece, &w);
    check_fill(in, (size_t)bytes, (uint64_t)check_rank + 77);
    MPI_Sendrecv(in, elements, basic, next, 2, spread + MIDDLE, count, t->type, previous, 2, MPI_COMM_WORLD, &status);
    CHECK(!memcmp(spread, back, ROOM));
    MPI_Get_count(&status, t->type, &got);
    CHECK_EQ(got, count);
    MPI_Get_elements(&status, t->type, &got);
    CHECK_EQ(got, elements);

    /* Packed by us, unpacked by the next. */
    MPI_Pack_size(count, t->type, MPI_COMM_WORLD, &room);
    char *packed = malloc((size_t)room + 1), *come = malloc((size_t)room + 1);
    MPI_Pack(spread + MIDDLE, count, t->type, packed, room, &position, MPI_COMM_WORLD);
    CHECK(position <= room);
    MPI_Sendrecv(packed, position, MPI_PACKED, next, 3, come, room, MPI_PACKED, previous, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_PACKED, &got);
    CHECK_EQ(got, position);
    check_fill(plain, (size_t)bytes, (uint64_t)((previous + check_size - 1) % check_size) + 77);
    memset(spread, 0x5A, ROOM);
    memset(back, 0x5A, ROOM);
    w = (walk){back + MIDDLE, plain, 0};
    typemap_walk(t, count, unpack_piece, &w);
    int at = 0;
    MPI_Unpack(come, got, &at, spread + MIDDLE, count, t->type, MPI_COMM_WORLD);
    CHECK_EQ(at, got);
    CHECK(!memcmp(spread, back, ROOM));
    free(in);
    free(packed);
    free(come);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    const struct { MPI_Datatype type; int size; } basic[] = {{MPI_UNSIGNED_CHAR, 1}, {MPI_SHORT, 2}, {MPI_INT, 4},
        {MPI_UINT64_T, 8}};
    check_stream s = check_seed(argc > 1 ? strtoull(argv[1], NULL, 10) : 7);
    int types = argc > 2 ? (int)strtol(argv[2], NULL, 10) : TYPES / check_size;
    plain = malloc(ROOM);
    spread = malloc(ROOM);
    back = malloc(ROOM);
    for (int k = 0; k < types; k++) {
        int b = check_below(&s, 4), depth = 1 + check_below(&s, 4);
        typemap t = typemap_basic(basic[b].type, basic[b].size), outer;
        int predefined = 1;
        for (int d = 0; d < depth; d++) {
            if (!typemap_random(&s, &t, &outer)) continue;
            typemap_free(&t, predefined); /* the outer type lives on without it */
            t = outer;
            predefined = 0;
        }
        if (!predefined) MPI_Type_commit(&t.type);
        sizes(&t);
        MPI_Aint low, high, extent = typemap_extent(&t);
        typemap_true(&t, &low, &high);
        move(&t, 1, basic[b].type, basic[b].size);
        /* Several in a row, unless they overlap. */
        if (high - low <= extent && extent < 20000) move(&t, 1 + check_below(&s, 5), basic[b].type, basic[b].size);
        move(&t, 0, basic[b].type, basic[b].size);
        typemap_free(&t, predefined);
    }
    free(plain);
    free(spread);
    free(back);
    return check_end();
}
