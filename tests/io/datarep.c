/* Data representations: native, internal, external32 byte for byte, and those that a program registers. */
/* ranks: 1 2 3 4 */
/* needs: MPI_File_set_view MPI_File_get_type_extent MPI_Register_datarep MPI_Register_datarep_c MPI_File_write_all */
#include "io.h"
#include <stddef.h>

static MPI_File file;

static void set(MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype, const char *rep)
{
    char got[MPI_MAX_DATAREP_STRING] = "";
    MPI_Offset got_at;
    MPI_Datatype e, f;
    int n, m, k, combiner;
    IO_OK(MPI_File_set_view(file, at, etype, filetype, rep, MPI_INFO_NULL));
    IO_OK(MPI_File_get_view(file, &got_at, &e, &f, got));
    CHECK_SAY(!strcmp(got, rep), "the representation is %s, not %s", got, rep);
    MPI_Type_get_envelope(e, &n, &m, &k, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&e);
    MPI_Type_get_envelope(f, &n, &m, &k, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&f);
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint extent = -1;
    IO_OK(MPI_File_get_type_extent(file, type, &extent));
    return extent;
}

/* The same type, written as external32 and packed as external32, is the same bytes; and it is read as it was. */
static void like_pack(MPI_Datatype type, const void *values, int n, int size)
{
    char *path = io_path("external32"), packed[256], back[256];
    MPI_Aint position = 0;
    long got;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    set(0, type, type, "external32");
    CHECK_EQ(extent_of(type), size);
    if (check_rank == check_size - 1) io_do(file, &io_accesses[0], 1, 0, 0, (void *)values, n, type, n);
    io_settle(file);
    memset(back, 0, sizeof back);
    io_do(file, &io_accesses[2], 0, 0, 0, back, n, type, n);
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK(!memcmp(back, values, (size_t)(n * extent)));
    MPI_Pack_external("external32", values, n, type, packed, sizeof packed, &position);
    unsigned char *bytes = io_contents(path, &got);
    CHECK_EQ(got, n * size);
    CHECK_EQ(position, n * size);
    CHECK_SAY(!memcmp(bytes, packed, (size_t)got), "not the bytes that MPI_Pack_external gives, elements of %d", size);
    free(bytes);
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

static void named_types(void)
{
    static const signed char chars[] = {1, -2, 3};
    static const short shorts[] = {1, -2, 300};
    static const int ints[] = {1, -2, 0x12345678};
    static const long longs[] = {1, -2, 0x12345678};
    static const long long wide[] = {1, -2, 0x123456789abcdefll};
    static const float floats[] = {1, -2.5f, 1e-40f};
    static const double doubles[] = {1, -2.5, 1e300};
    static const int32_t fixed[] = {1, -2, 77};
    static const MPI_Aint addresses[] = {1, -2, 77};
    like_pack(MPI_BYTE, chars, 3, 1);
    like_pack(MPI_SIGNED_CHAR, chars, 3, 1);
    like_pack(MPI_SHORT, shorts, 3, 2);
    like_pack(MPI_INT, ints, 3, 4);
    if (check_library("libimpi")) like_pack(MPI_LONG, longs, 3, 4); /* others give it 8 */
    like_pack(MPI_LONG_LONG, wide, 3, 8);
    like_pack(MPI_FLOAT, floats, 3, 4);
    like_pack(MPI_DOUBLE, doubles, 3, 8);
    like_pack(MPI_INT32_T, fixed, 3, 4);
    like_pack(MPI_AINT, addresses, 3, 8);
}

/* Every access writes and reads the most significant byte first, whatever memory looks like. */
static void accesses(void)
{
    char *path = io_path("accesses");
    enum { EACH = 100 };
    for (int k = 0; k < IO_ACCESSES; k++) {
        const io_access *a = &io_accesses[k];
        int common = a->pointer == IO_COMMON, ints[EACH], spread[2 * EACH];
        MPI_Datatype column, every;
        if (io_waits(a) && check_library("MPICH")) continue; /* which forgets the representation */
        MPI_Type_create_resized(MPI_INT, 0, common ? 4 : 4 * check_size, &column);
        MPI_Type_vector(EACH, 1, 2, MPI_INT, &every);
        MPI_Type_commit(&column), MPI_Type_commit(&every);
        file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
        set(common ? 0 : 4 * check_rank, MPI_INT, column, "external32");
        for (int i = 0; i < EACH; i++) ints[i] = spread[2 * i] = (check_rank + 1) * 0x01020304 + i;
        io_do(file, a, 1, 0, 0, ints, EACH, MPI_INT, EACH);
        io_do(file, a, 1, 1, EACH, spread, 1, every, 1);
        for (int i = 0; i < EACH; i++) CHECK_EQ(ints[i], (check_rank + 1) * 0x01020304 + i); /* not turned here */
        io_settle(file);
        long n;
        unsigned char *bytes = io_contents(path, &n);
        CHECK_EQ(n, 8 * EACH * check_size);
        for (int i = 0; i < 2 * EACH * check_size; i++) {
            const unsigned char *b = bytes + 4 * i;
            int got = (int)((unsigned)b[0] << 24 | (unsigned)b[1] << 16 | (unsigned)b[2] << 8 | b[3]);
            int rank = i % check_size, item = i / check_size % EACH;
            if (common) item = i % EACH, rank = (got - item) / 0x01020304 - 1;
            CHECK_SAY(rank >= 0 && rank < check_size && got == (rank + 1) * 0x01020304 + item,
                      "%s writes %x as int %d of the file", a->name, (unsigned)got, i);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        free(bytes);
        memset(ints, 0, sizeof ints);
        memset(spread, 0, sizeof spread);
        if (a->pointer == IO_OWN) IO_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
        if (common) IO_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
        io_do(file, a, 0, 1, 0, spread, 1, every, 1);
        io_do(file, a, 0, 0, EACH, ints, EACH, MPI_INT, EACH);
        for (int i = 0; i < EACH; i++) {
            int rank = common ? (ints[0] / 0x01020304) - 1 : check_rank;
            CHECK_EQ(ints[i], (rank + 1) * 0x01020304 + i);
            rank = common ? (spread[0] / 0x01020304) - 1 : check_rank;
            CHECK_EQ(spread[2 * i], (rank + 1) * 0x01020304 + i);
        }
        MPI_Type_free(&column), MPI_Type_free(&every);
        IO_OK(MPI_File_close(&file));
        io_delete(path);
    }
}

/* A portable filetype is scaled to the extents of the file (14.3.1): every second long is every second 4 bytes. A
 * struct moves members of different sizes. */
static void scaled(void)
{
    if (!check_library("libimpi")) return; /* others take the extents of memory */
    char *path = io_path("scaled");
    long out[6], in[6] = {0}, n;
    MPI_Datatype every;
    MPI_Offset byte;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Type_vector(3, 1, 2, MPI_LONG, &every);
    MPI_Type_commit(&every);
    CHECK_EQ(extent_of(every), 5 * sizeof(long)); /* still native */
    set(8, MPI_LONG, every, "external32");
    CHECK_EQ(extent_of(every), 20);
    IO_OK(MPI_File_get_byte_offset(file, 4, &byte)); /* the second of the second tile */
    CHECK_EQ(byte, 8 + 20 + 8);
    for (int i = 0; i < 6; i++) out[i] = 0x11223300 + i;
    if (check_rank == 0) io_do(file, &io_accesses[0], 1, 0, 0, out, 6, MPI_LONG, 6);
    io_settle(file);
    io_do(file, &io_accesses[2], 0, 0, 0, in, 6, MPI_LONG, 6);
    for (int i = 0; i < 6; i++) CHECK_EQ(in[i], out[i]);
    unsigned char *bytes = io_contents(path, &n);
    CHECK_EQ(n, 8 + 40);
    for (int i = 0; i < 6; i++)
        CHECK(!memcmp(bytes + 8 + i / 3 * 20 + i % 3 * 8, (char[]){0x11, 0x22, 0x33, (char)i}, 4));
    free(bytes);
    MPI_Type_free(&every);
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

/* A struct of memory, members of several sizes: packed in the file, as its etype says. */
static void structs(void)
{
    struct particle { double x; int id; char kind; } out[4], in[4];
    const int length[] = {1, 1, 1};
    const MPI_Aint at[] = {offsetof(struct particle, x), offsetof(struct particle, id),
                           offsetof(struct particle, kind)};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
    char *path = io_path("structs");
    MPI_Datatype raw, particle;
    long n;
    MPI_Type_create_struct(3, length, at, types, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(struct particle), &particle);
    MPI_Type_commit(&particle);
    memset(out, 0, sizeof out);
    memset(in, 0, sizeof in);
    for (int i = 0; i < 4; i++) out[i] = (struct particle){1.5 * i, 1000 + i, (char)('a' + i)};
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    set(0, MPI_BYTE, MPI_BYTE, "external32");
    if (check_rank == 0) IO_OK(MPI_File_write_at(file, 0, out, 4, particle, MPI_STATUS_IGNORE));
    io_settle(file);
    IO_OK(MPI_File_read_at_all(file, 0, in, 4, particle, MPI_STATUS_IGNORE));
    for (int i = 0; i < 4; i++) CHECK(in[i].x == out[i].x && in[i].id == out[i].id && in[i].kind == out[i].kind);
    unsigned char *bytes = io_contents(path, &n);
    CHECK_EQ(n, 4 * 13);
    CHECK(!memcmp(bytes + 13, "\x3f\xf8\0\0\0\0\0\0\0\0\x03\xe9" "b", 13));
    free(bytes);
    MPI_Type_free(&raw);
    MPI_Type_free(&particle);
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

/* Internal is whatever this library likes; it reads what it wrote. */
static void internal(void)
{
    char *path = io_path("internal");
    double out[10], in[10];
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    CHECK(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "internal", MPI_INFO_NULL) == MPI_SUCCESS);
    for (int i = 0; i < 10; i++) out[i] = check_rank + 0.25 * i;
    io_do(file, &io_accesses[2], 1, 0, 10 * check_rank, out, 10, MPI_DOUBLE, 10);
    io_do(file, &io_accesses[0], 0, 0, 10 * check_rank, in, 10, MPI_DOUBLE, 10);
    CHECK(!memcmp(in, out, sizeof in));
    IO_OK(MPI_File_close(&file));
}

/* A representation of the program's: an int is three bytes, and each of them has its bits turned. */
static int extra, fails_at = -1, calls;

static int extent_in_file(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    CHECK(state == &extra);
    CHECK(type == MPI_INT);
    *extent = 3;
    return MPI_SUCCESS;
}

/* Where item i is in the user's memory: ints in a row, or every second one in groups of four. */
static int *item(void *userbuf, MPI_Datatype type, MPI_Offset i)
{
    int n, m, k, combiner;
    MPI_Aint lb, extent;
    if (type == MPI_INT) return (int *)userbuf + i;
    MPI_Type_get_envelope(type, &n, &m, &k, &combiner);
    CHECK_EQ(combiner, MPI_COMBINER_VECTOR);
    MPI_Type_get_extent(type, &lb, &extent);
    return (int *)((char *)userbuf + i / 4 * extent) + i % 4 * 2;
}

static int convert(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf, MPI_Offset position, void *state,
                   int writes)
{
    unsigned char *b = filebuf;
    CHECK(state == &extra);
    CHECK(count >= 0 && position >= 0);
    if (calls++ == fails_at) return MPI_ERR_OTHER;
    for (MPI_Count i = 0; i < count; i++, b += 3) {
        int *v = item(userbuf, type, position + i);
        if (writes) b[0] = (unsigned char)~*v, b[1] = (unsigned char)~(*v >> 8), b[2] = (unsigned char)~(*v >> 16);
        else *v = (~b[0] & 255) | (~b[1] & 255) << 8 | (~b[2] & 255) << 16;
    }
    return MPI_SUCCESS;
}

static int from_file(void *userbuf, MPI_Datatype type, int count, void *filebuf, MPI_Offset position, void *state)
{
    return convert(userbuf, type, count, filebuf, position, state, 0);
}

static int to_file(void *userbuf, MPI_Datatype type, int count, void *filebuf, MPI_Offset position, void *state)
{
    return convert(userbuf, type, count, filebuf, position, state, 1);
}

static int native_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    MPI_Aint lb;
    (void)state;
    return MPI_Type_get_extent(type, &lb, extent);
}

#if MPI_VERSION >= 4
static int from_file_c(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf, MPI_Offset position,
                       void *state)
{
    return convert(userbuf, type, count, filebuf, position, state, 0);
}

static int to_file_c(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf, MPI_Offset position,
                     void *state)
{
    return convert(userbuf, type, count, filebuf, position, state, 1);
}
#endif

static void check_three_bytes(const char *rep)
{
    char *path = io_path("three bytes");
    enum { EACH = 5000 };
    static int ints[EACH], spread[2 * EACH];
    MPI_Datatype every;
    long n;
    for (int k = 0; k < IO_ACCESSES; k++) {
        const io_access *a = &io_accesses[k];
        int common = a->pointer == IO_COMMON;
        MPI_Type_vector(4, 1, 2, MPI_INT, &every);
        MPI_Type_commit(&every);
        file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
        set(common ? 0 : (MPI_Offset)3 * 2 * EACH * check_rank, MPI_INT, MPI_INT, rep);
        CHECK_EQ(extent_of(MPI_INT), 3);
        for (int i = 0; i < EACH; i++) ints[i] = (check_rank + 1) * 100000 + i;
        for (int i = 0; i < EACH; i++) *item(spread, every, i) = ints[i];
        io_do(file, a, 1, 0, 0, ints, EACH, MPI_INT, EACH);
        io_do(file, a, 1, 1, EACH, spread, EACH / 4, every, EACH / 4);
        io_settle(file);
        unsigned char *bytes = io_contents(path, &n);
        CHECK_EQ(n, (long)6 * EACH * check_size);
        for (int i = 0; i < 2 * EACH * check_size; i++) {
            const unsigned char *b = bytes + 3 * i;
            int got = (~b[0] & 255) | (~b[1] & 255) << 8 | (~b[2] & 255) << 16, of = i / (2 * EACH);
            if (common) of = got / 100000 - 1;
            CHECK_EQ(got, (of + 1) * 100000 + i % EACH);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        free(bytes);
        memset(ints, 0, sizeof ints);
        memset(spread, 0, sizeof spread);
        if (a->pointer == IO_OWN) IO_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
        if (common) IO_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
        io_do(file, a, 0, 1, 0, spread, EACH / 4, every, EACH / 4);
        io_do(file, a, 0, 0, EACH, ints, EACH, MPI_INT, EACH);
        for (int i = 0; i < EACH; i++) {
            CHECK_EQ(ints[i] % 100000, i);
            CHECK_EQ(*item(spread, every, i), common ? *item(spread, every, 0) + i : ints[i]);
        }
        MPI_Type_free(&every);
        IO_OK(MPI_File_close(&file));
        io_delete(path);
    }
}

/* Registering; what is taken already; and functions that fail, or that there are none of. */
static void registered(void)
{
    char longest[MPI_MAX_DATAREP_STRING + 2];
    if (check_library("Open MPI")) return; /* it registers nothing */
    IO_OK(MPI_Register_datarep("three bytes", from_file, to_file, extent_in_file, &extra));
    IO_WRONG(MPI_Register_datarep("three bytes", from_file, to_file, extent_in_file, &extra), MPI_ERR_DUP_DATAREP);
    if (!check_library("libimpi")) return; /* others register, and then know nothing of it */
    IO_WRONG(MPI_Register_datarep("native", from_file, to_file, extent_in_file, &extra), MPI_ERR_DUP_DATAREP);
    IO_WRONG(MPI_Register_datarep("external32", from_file, to_file, extent_in_file, &extra), MPI_ERR_DUP_DATAREP);
    IO_WRONG(MPI_Register_datarep("internal", from_file, to_file, extent_in_file, &extra), MPI_ERR_DUP_DATAREP);
    IO_WRONG(MPI_Register_datarep("no extent", from_file, to_file, NULL, &extra), MPI_ERR_ARG);
    memset(longest, 'r', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    IO_WRONG(MPI_Register_datarep(longest, from_file, to_file, extent_in_file, &extra), MPI_ERR_ARG);
    longest[MPI_MAX_DATAREP_STRING - 1] = 0;
    IO_OK(MPI_Register_datarep(longest, from_file, to_file, extent_in_file, &extra));
    check_three_bytes("three bytes");
    check_three_bytes(longest);
#if MPI_VERSION >= 4
    IO_OK(MPI_Register_datarep_c("three, large", from_file_c, to_file_c, extent_in_file, &extra));
    IO_WRONG(MPI_Register_datarep("three, large", from_file, to_file, extent_in_file, &extra), MPI_ERR_DUP_DATAREP);
    IO_WRONG(MPI_Register_datarep_c("three bytes", from_file_c, to_file_c, extent_in_file, &extra),
             MPI_ERR_DUP_DATAREP);
    check_three_bytes("three, large");
    MPI_Datarep_conversion_function_c *none = MPI_CONVERSION_FN_NULL_C;
    IO_OK(MPI_Register_datarep_c("as is, large", none, none, native_extent, NULL));
#endif

    char *path = io_path("as is");
    int out = 0x01020304 + check_rank, in = 0;
    long n;
    IO_OK(MPI_Register_datarep("as is", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, native_extent, NULL));
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    set(0, MPI_INT, MPI_INT, "as is");
    io_do(file, &io_accesses[2], 1, 0, check_rank, &out, 1, MPI_INT, 1);
    io_do(file, &io_accesses[0], 0, 0, check_rank, &in, 1, MPI_INT, 1);
    CHECK_EQ(in, out);
    io_settle(file);
    unsigned char *bytes = io_contents(path, &n);
    CHECK(n == 4 * check_size && !memcmp(bytes + 4 * check_rank, &out, 4));
    free(bytes);
    MPI_Barrier(MPI_COMM_WORLD);

    set(0, MPI_INT, MPI_INT, "three bytes"); /* a conversion that answers with an error */
    MPI_Status s;
    MPI_Request r;
    calls = fails_at = 0;
    IO_WRONG(MPI_File_write_at(file, check_rank, &out, 1, MPI_INT, &s), MPI_ERR_CONVERSION);
    calls = 0;
    IO_WRONG(MPI_File_read_at(file, 0, &in, 1, MPI_INT, &s), MPI_ERR_CONVERSION);
    calls = 0;
    int code = MPI_File_iwrite_at(file, check_rank, &out, 1, MPI_INT, &r);
    if (code == MPI_SUCCESS) code = MPI_Wait(&r, &s);
    IO_WRONG(code, MPI_ERR_CONVERSION);
    calls = 0;
    IO_WRONG(MPI_File_read_at_all(file, 0, &in, 1, MPI_INT, &s), MPI_ERR_CONVERSION);
    fails_at = -1;
    IO_OK(MPI_File_write_at_all(file, check_rank, &out, 1, MPI_INT, &s));
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    int external = !check_library("Open MPI v4"); /* which knows native alone */
    if (external) {
        named_types();
        accesses();
        scaled();
        structs();
        if (!check_library("Open MPI")) internal();
    }
    registered();
    return io_end();
}
