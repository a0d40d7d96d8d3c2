/* Layouts of some thousand elements, of every width, each with a list of where its elements are: packed, sent,
 * received, and copied by a process to itself into the same and into other layouts. */
/* ranks: 1 2 3 */
#include "../check.h"

enum { ROOM = 400000, MOST = 20000 }; /* elements */

static int place[MOST], places; /* of the elements, in order */
static int next, previous;

static void at(int i)
{
    CHECK(places < MOST && i >= 0 && i < ROOM);
    place[places++] = i;
}

static MPI_Datatype every_other(MPI_Datatype of)
{
    MPI_Datatype t;
    MPI_Type_vector(5000, 1, 2, of, &t);
    for (int i = 0; i < 5000; i++) at(2 * i);
    return t;
}

static MPI_Datatype small_blocks(MPI_Datatype of)
{
    MPI_Datatype t, u;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(of, &lb, &extent);
    MPI_Type_vector(5, 1, 2, of, &t);
    MPI_Type_create_hvector(900, 1, 11 * extent, t, &u);
    MPI_Type_free(&t);
    for (int i = 0; i < 900; i++)
        for (int j = 0; j < 5; j++) at(11 * i + 2 * j);
    return u;
}

static MPI_Datatype panel(MPI_Datatype of)
{
    MPI_Datatype t;
    MPI_Type_vector(300, 17, 64, of, &t);
    for (int i = 0; i < 300; i++)
        for (int j = 0; j < 17; j++) at(64 * i + j);
    return t;
}

static MPI_Datatype transposition(MPI_Datatype of)
{
    MPI_Datatype t, u, v;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(of, &lb, &extent);
    MPI_Type_vector(77, 1, 64, of, &t);
    MPI_Type_create_resized(t, 0, extent, &u);
    MPI_Type_contiguous(61, u, &v);
    MPI_Type_free(&t);
    MPI_Type_free(&u);
    for (int i = 0; i < 61; i++)
        for (int j = 0; j < 77; j++) at(64 * j + i);
    return v;
}

static MPI_Datatype pages_apart(MPI_Datatype of)
{
    MPI_Datatype t;
    MPI_Type_vector(90, 3, 4096, of, &t);
    for (int i = 0; i < 90; i++)
        for (int j = 0; j < 3; j++) at(4096 * i + j);
    return t;
}

static MPI_Datatype box(MPI_Datatype of)
{
    int sizes[4] = {7, 9, 11, 13}, part[4] = {5, 6, 7, 8}, start[4] = {1, 2, 3, 4};
    MPI_Datatype t;
    MPI_Type_create_subarray(4, sizes, part, start, MPI_ORDER_C, of, &t);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 7; k++)
                for (int l = 0; l < 8; l++) at((((i + 1) * 9 + j + 2) * 11 + k + 3) * 13 + l + 4);
    return t;
}

static MPI_Datatype backwards(MPI_Datatype of)
{
    MPI_Datatype t, u;
    MPI_Aint lb, extent, to;
    MPI_Type_get_extent(of, &lb, &extent);
    MPI_Type_vector(2000, 2, -3, of, &t);
    to = 6000 * extent;
    MPI_Type_create_hindexed_block(1, 1, &to, t, &u);
    MPI_Type_free(&t);
    for (int i = 0; i < 2000; i++) at(6000 - 3 * i), at(6001 - 3 * i);
    return u;
}

static MPI_Datatype scattered(MPI_Datatype of)
{
    static int disp[5000];
    MPI_Datatype t;
    for (int i = 0; i < 5000; i++) {
        disp[i] = (int)((long)i * 1237 % 5003) * 5;
        at(disp[i]), at(disp[i] + 1), at(disp[i] + 2);
    }
    MPI_Type_create_indexed_block(5000, 3, disp, of, &t);
    memset(disp, 0, sizeof disp); /* the type does not need it any more */
    return t;
}

static MPI_Datatype ragged(MPI_Datatype of)
{
    static int disp[4000], length[4000];
    MPI_Datatype t;
    for (int i = 0, end = 0; i < 4000; i++) {
        length[i] = i % 97 == 5 ? 0 : 1 + i * 7 % 4;
        disp[i] = end + i * 5 % 3;
        end = disp[i] + length[i];
        for (int j = 0; j < length[i]; j++) at(disp[i] + j);
    }
    MPI_Type_indexed(4000, length, disp, of, &t);
    memset(disp, 0, sizeof disp);
    memset(length, 0, sizeof length);
    return t;
}

static MPI_Datatype two_vectors(MPI_Datatype of)
{
    int length[2] = {1, 1};
    MPI_Aint disp[2], lb, extent;
    MPI_Datatype v[2], t, u, w;
    MPI_Type_get_extent(of, &lb, &extent);
    MPI_Type_vector(3, 2, 3, of, &v[0]);
    MPI_Type_vector(4, 1, 2, of, &v[1]);
    disp[0] = 9 * extent, disp[1] = 0;
    MPI_Type_create_struct(2, length, disp, v, &t);
    MPI_Type_create_resized(t, 0, 19 * extent, &u);
    MPI_Type_contiguous(600, u, &w);
    MPI_Type_free(&v[0]);
    MPI_Type_free(&v[1]);
    MPI_Type_free(&t);
    MPI_Type_free(&u);
    for (int i = 0; i < 600; i++) {
        for (int j = 0; j < 3; j++) at(19 * i + 9 + 3 * j), at(19 * i + 10 + 3 * j);
        for (int j = 0; j < 4; j++) at(19 * i + 2 * j);
    }
    return w;
}

/* Element i of what rank `rank` sends is value(rank, i, byte) in each byte: the same in any order of bytes. */
static int value(int rank, int i) { return 1 + (rank * 29 + i * 7 + i / 251) % 100; }

static void put(char *memory, int width, int where, int v) { memset(memory + (size_t)where * width, v, width); }

static int holds(const char *memory, int width, int where, int v)
{
    for (int b = 0; b < width; b++)
        if (memory[(size_t)where * width + b] != v) return 0;
    return 1;
}

/* All elements are those of a rank, and nothing else has changed. */
static void check_layout(const char *memory, int width, int rank, const char *what)
{
    static char used[ROOM];
    memset(used, 0, sizeof used);
    for (int i = 0; i < places; i++) {
        used[place[i]] = 1;
        CHECK_SAY(holds(memory, width, place[i], value(rank, i)), "%s: element %d of %d, width %d", what, i, places,
                  width);
    }
    for (int i = 0; i < ROOM; i++) {
        CHECK_SAY(used[i] || holds(memory, width, i, 0), "%s: a gap was written at %d", what, i);
    }
}

static void run(MPI_Datatype (*make)(MPI_Datatype), MPI_Datatype of, const char *name)
{
    int width, bytes, position = 0;
    static char full[ROOM * 16], memory[ROOM * 16], flat[MOST * 16];
    MPI_Type_size(of, &width);
    places = 0;
    MPI_Datatype t = make(of);
    MPI_Type_commit(&t);
    MPI_Type_size(t, &bytes);
    CHECK_EQ(bytes, places * width);
    memset(full, 0, sizeof full);
    for (int i = 0; i < places; i++) put(full, width, place[i], value(check_rank, i));

    int room;
    MPI_Pack_size(1, t, MPI_COMM_WORLD, &room);
    char *packed = malloc((size_t)room);
    MPI_Pack(full, 1, t, packed, room, &position, MPI_COMM_WORLD);
    CHECK(position <= room);
    int end = position;
    memset(memory, 0, sizeof memory);
    position = 0;
    MPI_Unpack(packed, end, &position, memory, 1, t, MPI_COMM_WORLD);
    CHECK_EQ(position, end);
    check_layout(memory, width, check_rank, name);
    free(packed);

    memset(flat, 0, sizeof flat);
    MPI_Sendrecv(full, 1, t, next, 1, flat, places, of, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < places; i++) {
        CHECK_SAY(holds(flat, width, i, value(previous, i)), "%s: sent element %d", name, i);
    }
    memset(memory, 0, sizeof memory);
    for (int i = 0; i < places; i++) put(flat, width, i, value(check_rank, i));
    MPI_Sendrecv(flat, places, of, next, 2, memory, 1, t, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_layout(memory, width, previous, name);

    memset(memory, 0, sizeof memory);
    MPI_Sendrecv(full, 1, t, 0, 3, memory, 1, t, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    check_layout(memory, width, check_rank, name);
    memset(memory, 0, sizeof memory);
    MPI_Datatype spaced;
    MPI_Type_vector(places, 1, 3, of, &spaced);
    MPI_Type_commit(&spaced);
    MPI_Sendrecv(full, 1, t, 0, 3, memory, 1, spaced, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    for (int i = 0; i < places; i++) {
        CHECK_SAY(holds(memory, width, 3 * i, value(check_rank, i)), "%s: spaced element %d", name, i);
    }
    MPI_Type_free(&spaced);
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    static const struct { const char *name; MPI_Datatype (*make)(MPI_Datatype); } table[] = {
        {"every other", every_other}, {"small blocks", small_blocks}, {"panel", panel},
        {"transposition", transposition}, {"pages apart", pages_apart}, {"box", box}, {"backwards", backwards},
        {"scattered", scattered}, {"ragged", ragged},
        {"two vectors", two_vectors},
    };
    MPI_Datatype of[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (size_t j = 0; j < sizeof of / sizeof *of; j++) run(table[i].make, of[j], table[i].name);
    return check_end();
}
