/* Views: every kind of filetype, what a view answers about itself, and filetypes that are refused. */
/* needs: MPI_File_set_view MPI_File_get_view MPI_File_get_type_extent MPI_File_get_byte_offset MPI_File_write_at_all */
#include "io.h"

enum { LONG = 4096, TILES = 3, ROOM = 3 * 4096 }; /* bytes in the file of each rank; tiles moved; bytes in memory */

static MPI_File file;
static unsigned char out[ROOM], in[ROOM];

/* The type that the view has: the same if it is a named one, otherwise one that says the same and is freed. */
static void check_type(MPI_Datatype got, MPI_Datatype want)
{
    int n, m, k, combiner, of_want;
    MPI_Aint lb, extent, want_lb, want_extent;
    MPI_Type_get_envelope(want, &n, &m, &k, &of_want);
    MPI_Type_get_envelope(got, &n, &m, &k, &combiner);
    if (of_want == MPI_COMBINER_NAMED) CHECK(got == want);
    MPI_Type_get_extent(got, &lb, &extent);
    MPI_Type_get_extent(want, &want_lb, &want_extent);
    CHECK_EQ(lb, want_lb);
    CHECK_EQ(extent, want_extent);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&got);
}

static void check_view(MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype)
{
    char rep[MPI_MAX_DATAREP_STRING] = "";
    MPI_Offset got_at = -1;
    MPI_Datatype got_etype, got_filetype;
    IO_OK(MPI_File_get_view(file, &got_at, &got_etype, &got_filetype, rep));
    CHECK_EQ(got_at, at);
    CHECK(!strcmp(rep, "native"));
    check_type(got_etype, etype);
    check_type(got_filetype, filetype);
}

/* Write and read some tiles of the view, and look at each byte of the file. */
static void one_view(const char *name, const io_type *etype, const io_type *filetype)
{
    const MPI_Offset start = (MPI_Offset)check_rank * LONG + 5;
    int n = TILES * filetype->bytes, etypes = n / etype->bytes;
    char *path = io_path("view");
    long got;
    MPI_Offset byte;
    CHECK_SAY(n <= ROOM && TILES * filetype->extent < LONG - 5, "%s is too large", name);
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    IO_OK(MPI_File_set_size(file, (MPI_Offset)check_size * LONG));
    io_view(file, start, etype->type, filetype->type);
    check_view(start, etype->type, filetype->type);
    for (int i = 0; i < etypes; i++) {
        IO_OK(MPI_File_get_byte_offset(file, i, &byte));
        CHECK_SAY(byte == start + io_byte(filetype, (long)i * etype->bytes) - etype->at[0], "%s: etype %d is at %lld",
                  name, i, (long long)byte);
    }
    check_fill(out, (size_t)n, (uint64_t)check_rank);
    memset(in, 0, sizeof in);
    io_do(file, &io_accesses[0], 1, 0, 0, out, n, MPI_BYTE, n);
    io_do(file, &io_accesses[2], 0, 0, 0, in, n, MPI_BYTE, n);
    CHECK_SAY(!memcmp(out, in, (size_t)n), "%s, read by all, as it was written by one", name);
    io_settle(file);
    unsigned char *bytes = io_contents(path, &got);
    CHECK_EQ(got, (long)check_size * LONG);
    for (int i = 0; i < n; i++)
        CHECK_SAY(bytes[start + io_byte(filetype, i)] == out[i], "%s: byte %d", name, i);
    for (int i = 0; i < n; i++) bytes[start + io_byte(filetype, i)] = 0;
    for (long i = (long)check_rank * LONG; i < (long)(check_rank + 1) * LONG; i++)
        CHECK_SAY(bytes[i] == 0, "%s: byte %ld of the file is not the view's, and was written", name, i);
    free(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    check_fill(out, (size_t)n, (uint64_t)check_rank + 1000);
    io_do(file, &io_accesses[2], 1, 0, 0, out, n, MPI_BYTE, n);
    io_do(file, &io_accesses[0], 0, 0, 0, in, n, MPI_BYTE, n);
    CHECK_SAY(!memcmp(out, in, (size_t)n), "%s, read by one, as it was written by all", name);
    io_do(file, &io_accesses[0], 0, 0, 1, in, n - 2 * etype->bytes, MPI_BYTE, n - 2 * etype->bytes);
    CHECK_SAY(!memcmp(out + etype->bytes, in, (size_t)(n - 2 * etype->bytes)), "%s, from etype 1 on", name);
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

/* A block of a matrix that a grid of processes shares, 7 x 9 of the type. */
static io_type matrix(const io_type *of, int first, int second, int block)
{
    const int whole[] = {7, 9}, dist[] = {first, second}, grid[] = {2, 2};
    int arg[2], length[64], n = 0;
    MPI_Aint at[64];
    MPI_Datatype made;
    for (int d = 0; d < 2; d++) arg[d] = dist[d] == MPI_DISTRIBUTE_BLOCK ? MPI_DISTRIBUTE_DFLT_DARG : block;
    MPI_Type_create_darray(4, 3, 2, whole, dist, arg, grid, MPI_ORDER_C, of->type, &made);
    for (int y = 0; y < 7; y++)
        for (int x = 0; x < 9; x++) { /* of the process in the second row and column */
            int row = first == MPI_DISTRIBUTE_BLOCK ? y >= 4 : y / block % 2;
            int column = second == MPI_DISTRIBUTE_BLOCK ? x >= 5 : x / block % 2;
            if (row && column) length[n] = 1, at[n++] = (y * 9 + x) * of->extent;
        }
    return io_made(made, of, n, length, at);
}

static void filetypes(void)
{
    io_type byte = io_named(MPI_BYTE), integer = io_named(MPI_INT), real = io_named(MPI_DOUBLE);
    io_type five = io_contiguous(&byte, 5), holed = io_resized(&five, 0, 8), pair = io_contiguous(&integer, 2);
    const io_type *etypes[] = {&byte, &integer, &real, &five, &holed, &pair};
    const int kinds = check_library("Open MPI") ? 3 : 6; /* Open MPI has named etypes only */
    for (int k = 0; k < kinds; k++) {
        const io_type *e = etypes[k];
        MPI_Aint x = e->extent, at[8];
        const int length[] = {2, 1, 3}, index[] = {1, 4, 6};
        const int whole[] = {3, 4, 5}, part[] = {2, 2, 3}, from[] = {1, 0, 2};
        int one[16];
        MPI_Datatype made, types[2];
        for (int i = 0; i < 16; i++) one[i] = 1;

        io_type t = io_contiguous(e, 7);
        one_view("etype", e, e);
        one_view("contiguous", e, &t);
        io_release(&t);

        MPI_Type_vector(5, 2, 4, e->type, &made);
        for (int i = 0; i < 5; i++) at[i] = 4 * i * x;
        const int twos[] = {2, 2, 2, 2, 2};
        io_type vector = io_made(made, e, 5, twos, at);
        one_view("vector", e, &vector);
        t = io_resized(&vector, 0, 21 * x); /* a hole behind it */
        one_view("vector with a hole behind", e, &t);
        io_release(&t);

        for (int i = 0; i < 3; i++) at[i] = index[i] * x;
        MPI_Type_indexed(3, length, index, e->type, &made);
        io_type indexed = io_made(made, e, 3, length, at); /* its lower bound is x */
        if (!check_library("MPICH Version:\t4")) one_view("indexed", e, &indexed); /* whose offsets ignore the bound */
        t = io_resized(&indexed, 0, 10 * x); /* a hole in front of it */
        one_view("indexed with holes on both sides", e, &t);
        io_release(&t);
        t = io_resized(&indexed, -2 * x, 14 * x);
        if (!check_library("MPICH Version:\t4")) one_view("a negative bound", e, &t); /* there a displacement */
        io_release(&t);

        MPI_Type_create_hindexed_block(3, 2, (MPI_Aint[]){0, 3 * x, 7 * x}, e->type, &made);
        t = io_made(made, e, 3, twos, (MPI_Aint[]){0, 3 * x, 7 * x});
        one_view("hindexed_block", e, &t);
        io_release(&t);

        types[0] = e->type, types[1] = vector.type;
        at[0] = 2 * x, at[1] = 5 * x;
        MPI_Type_create_struct(2, one, at, types, &made);
        t = (io_type){.type = made};
        t.at = malloc(sizeof *t.at * (size_t)(e->bytes + vector.bytes));
        for (int i = 0; i < e->bytes; i++) t.at[t.bytes++] = at[0] + e->at[i];
        for (int i = 0; i < vector.bytes; i++) t.at[t.bytes++] = at[1] + vector.at[i];
        MPI_Type_commit(&t.type);
        MPI_Type_get_extent(t.type, &t.lb, &t.extent);
        one_view("struct", e, &t);
        io_release(&t);

        MPI_Type_create_hvector(3, 1, 20 * x, vector.type, &made);
        t = io_made(made, &vector, 3, one, (MPI_Aint[]){0, 20 * x, 40 * x});
        one_view("vector of vectors", e, &t);
        io_release(&t);

        for (int order = 0; order < 2; order++) {
            int n = 0;
            MPI_Type_create_subarray(3, whole, part, from, order ? MPI_ORDER_FORTRAN : MPI_ORDER_C, e->type, &made);
            int far = order ? 2 : 0, near = order ? 0 : 2; /* the slowest and the fastest dimension */
            for (int i = from[far]; i < from[far] + part[far]; i++)
                for (int j = from[1]; j < from[1] + part[1]; j++)
                    for (int l = from[near]; l < from[near] + part[near]; l += part[near], n++)
                        at[n % 8] = ((i * whole[1] + j) * whole[near] + l) * x;
            for (int i = 0; i < n; i++) one[i] = part[near];
            t = io_made(made, e, n, one, at);
            one_view(order ? "subarray in Fortran's order" : "subarray", e, &t);
            io_release(&t);
        }
        const int block = MPI_DISTRIBUTE_BLOCK, cyclic = MPI_DISTRIBUTE_CYCLIC;
        t = matrix(e, block, block, 0);
        one_view("darray, blocks", e, &t);
        io_release(&t);
        t = matrix(e, block, cyclic, 2);
        one_view("darray, blocks and cyclic(2)", e, &t);
        io_release(&t);
        t = matrix(e, cyclic, cyclic, 1);
        one_view("darray, cyclic(1)", e, &t);
        io_release(&t);
        io_release(&vector);
        io_release(&indexed);
    }
    io_release(&byte), io_release(&integer), io_release(&real);
    io_release(&five), io_release(&holed), io_release(&pair);
}

/* Before any set_view a file is a row of bytes. A view may be changed, and every rank has its own. */
static void changes(void)
{
    char *path = io_path("changes");
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    check_view(0, MPI_BYTE, MPI_BYTE);
    for (int turn = 0; turn < 5; turn++) {
        int at = turn * 100 + check_rank, out = turn + check_rank, in = -1;
        MPI_Datatype column;
        MPI_Type_create_resized(MPI_INT, 0, 4 + 4 * (check_rank + turn % 2), &column);
        MPI_Type_commit(&column);
        io_view(file, at, MPI_INT, column);
        check_view(at, MPI_INT, column);
        MPI_Type_free(&column);
        if (check_rank == turn % check_size) {
            IO_OK(MPI_File_write_at(file, 3, &out, 1, MPI_INT, MPI_STATUS_IGNORE));
            IO_OK(MPI_File_read_at(file, 3, &in, 1, MPI_INT, MPI_STATUS_IGNORE));
            CHECK_EQ(in, out);
        }
    }
    IO_OK(MPI_File_set_view(file, 8, MPI_SHORT, MPI_SHORT, "native", MPI_INFO_NULL));
    check_view(8, MPI_SHORT, MPI_SHORT);
    IO_OK(MPI_File_close(&file));
}

/* How far elements of a type are apart in the file: as in memory, in the native representation. */
static void extents(void)
{
    char *path = io_path("extents");
    MPI_Datatype vector;
    MPI_Aint extent = -1;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    IO_OK(MPI_File_get_type_extent(file, vector, &extent));
    CHECK_EQ(extent, 96);
    IO_OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
    CHECK_EQ(extent, sizeof(long));
#if MPI_VERSION >= 4
    MPI_Count large = -1;
    IO_OK(MPI_File_get_type_extent_c(file, vector, &large));
    CHECK_EQ(large, 96);
#endif
    IO_PROMISED(MPI_File_get_type_extent(file, MPI_DATATYPE_NULL, &extent), MPI_ERR_TYPE);
    MPI_Type_free(&vector);
    IO_OK(MPI_File_close(&file));
}

static int set(MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype, const char *rep)
{
    return MPI_File_set_view(file, at, etype, filetype, rep, MPI_INFO_NULL);
}

/* What is no view: it is refused by every rank, and the view that was stays. */
static void refusals(void)
{
    char *path = io_path("refusals");
    const int two[] = {1, 1}, descending[] = {3, 0}, twice[] = {0, 0}, negative[] = {-2, 3};
    MPI_Datatype down, over, before, odd, raw;
    MPI_Type_indexed(2, two, descending, MPI_INT, &down);
    MPI_Type_indexed(2, two, twice, MPI_INT, &over);
    MPI_Type_indexed(2, two, negative, MPI_INT, &before);
    MPI_Type_contiguous(7, MPI_BYTE, &odd);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    MPI_Type_commit(&down), MPI_Type_commit(&over), MPI_Type_commit(&before), MPI_Type_commit(&odd);
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    io_view(file, 24, MPI_SHORT, MPI_SHORT);
    IO_WRONG(set(0, MPI_INT, MPI_INT, "no such"), MPI_ERR_UNSUPPORTED_DATAREP);
    IO_WRONG(set(0, MPI_INT, MPI_INT, ""), MPI_ERR_UNSUPPORTED_DATAREP);
    if (!check_library("Open MPI")) {
        IO_WRONG(set(-2, MPI_INT, MPI_INT, "native"), MPI_ERR_ARG);
        IO_WRONG(set(MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native"), MPI_ERR_ARG);
        IO_WRONG(set(0, MPI_DATATYPE_NULL, MPI_INT, "native"), MPI_ERR_TYPE);
        IO_WRONG(set(0, MPI_INT, MPI_DATATYPE_NULL, "native"), MPI_ERR_TYPE);
        CHECK(set(0, MPI_INT, odd, "native") != MPI_SUCCESS);
        CHECK(set(0, MPI_INT, down, "native") != MPI_SUCCESS);
        CHECK(set(0, MPI_INT, before, "native") != MPI_SUCCESS);
        CHECK(set(0, MPI_INT, over, "native") != MPI_SUCCESS); /* open for writing */
    }
    IO_PROMISED(set(0, MPI_INT, raw, "native"), MPI_ERR_TYPE);
    IO_PROMISED(set(0, raw, MPI_INT, "native"), MPI_ERR_TYPE);
    if (check_library("libimpi")) {
        CHECK(set(0, down, down, "native") != MPI_SUCCESS);
        if (check_size > 1) { /* what must be the same everywhere */
            MPI_Datatype etype = check_rank ? MPI_INT : MPI_SHORT;
            IO_WRONG(set(0, etype, etype, "native"), MPI_ERR_NOT_SAME);
            IO_WRONG(set(0, MPI_INT, MPI_INT, check_rank ? "native" : "external32"), MPI_ERR_NOT_SAME);
            /* An error of one rank is one of all. */
            CHECK(set(0, MPI_INT, check_rank ? MPI_INT : odd, "native") != MPI_SUCCESS);
        }
        check_view(24, MPI_SHORT, MPI_SHORT);
    }
    IO_OK(MPI_File_close(&file));

    char *there = io_path("there");
    io_make(there, "0123456789abcdef", 16);
    file = io_open(there, MPI_MODE_RDONLY); /* what is only read may overlap */
    if (!check_library("MPICH Version:\t4") && !check_library("Open MPI")) {
        char twice_read[8];
        io_view(file, 2, MPI_INT, over);
        IO_OK(MPI_File_read_at(file, 0, twice_read, 2, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(!memcmp(twice_read, "23452345", 8));
    }
    IO_OK(MPI_File_close(&file));
    io_delete(there);
    MPI_Type_free(&down), MPI_Type_free(&over), MPI_Type_free(&before), MPI_Type_free(&odd);
    MPI_Type_free(&raw);
}

/* Only within a filetype must displacements ascend: one whose next copy would begin before its end is a view of the
 * first. HDF5 makes such types. */
static void interlocking(int ints_apart)
{
    char *path = io_path("interlocking");
    const int length[] = {1, 2}, at[] = {0, 5};
    MPI_Datatype spread, narrow;
    int out[3], in[3];
    long n;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Type_indexed(2, length, at, MPI_INT, &spread);
    MPI_Type_create_resized(spread, 0, ints_apart * (MPI_Aint)sizeof(int), &narrow);
    MPI_Type_commit(&narrow);
    io_view(file, 28 * check_rank, MPI_INT, narrow);
    for (int collective = 0; collective < 2; collective++) {
        for (int i = 0; i < 3; i++) out[i] = 100 * (check_rank + 1) + 10 * collective + i;
        io_do(file, &io_accesses[collective ? 2 : 0], 1, 0, 0, out, 3, MPI_INT, 3);
        io_settle(file);
        io_do(file, &io_accesses[collective ? 0 : 2], 0, 0, 0, in, 3, MPI_INT, 3);
        CHECK(!memcmp(in, out, sizeof in));
    }
    int *ints = (int *)io_contents(path, &n);
    CHECK_EQ(n, 28 * check_size);
    CHECK(ints[7 * check_rank] == out[0] && ints[7 * check_rank + 5] == out[1] && ints[7 * check_rank + 6] == out[2]);
    free(ints);
    MPI_Type_free(&spread);
    MPI_Type_free(&narrow);
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

/* A sequential file has no position that one could name: its view begins where the shared pointer is. */
static void sequential(void)
{
    char *path = io_path("sequential");
    MPI_Offset at = -1;
    MPI_Datatype etype, filetype;
    char rep[MPI_MAX_DATAREP_STRING];
    if (!check_library("libimpi")) return; /* others take any displacement, and start from 0 or nowhere */
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE);
    IO_OK(MPI_File_write_ordered(file, "123456", 6, MPI_CHAR, MPI_STATUS_IGNORE));
    IO_WRONG(set(0, MPI_INT, MPI_INT, "native"), MPI_ERR_ARG);
    IO_OK(set(MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native"));
    IO_OK(MPI_File_get_view(file, &at, &etype, &filetype, rep));
    CHECK_EQ(at, 6 * check_size);
    IO_OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    filetypes();
    interlocking(3); /* the next copy begins in a hole, */
    interlocking(6); /* or on top of the last int */
    changes();
    extents();
    refusals();
    sequential();
    return io_end();
}
