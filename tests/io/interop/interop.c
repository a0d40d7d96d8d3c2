/* interop.c - a file that any MPI library writes, and any other reads, whatever the ranks.
 *
 *   mpiexec -n N interop write|read native|external32 FILE
 *
 * What lies where depends on nothing but the place, so that files of all libraries and of all numbers of ranks are the
 * same, byte for byte. Ends with 1, and a line, if what is read is something else.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 24, ROWS = 500, SIDE_Y = 60, SIDE_X = 48, RECORDS = 36, RECORD = 10, PIECES = 300 };
enum { HEAD = 16, PLATE = 100000, LIST = 200000, PARTICLES = 300000, END = 400000 };

static int rank, size, writes, wrong;
static const char *rep;
static MPI_File file;

static void must(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &n);
    fprintf(stderr, "interop: rank %d: %s: %s\n", rank, what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect(double got, double want, const char *what, int i)
{
    if (got != want && wrong++ == 0)
        fprintf(stderr, "interop: rank %d of %d: %s %d is %g, not %g\n", rank, size, what, i, got, want);
}

static void view(MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype)
{
    must(MPI_File_set_view(file, at, etype, filetype, rep, MPI_INFO_NULL), "set_view");
}

static int first(int n, int part) { return (int)((long)n * part / size); }

/* A table of ints: each rank has some columns, and moves them row by row with all others. */
static void table(void)
{
    int from = first(COLUMNS, rank), n = first(COLUMNS, rank + 1) - from, *t = calloc(ROWS * COLUMNS, sizeof *t);
    MPI_Datatype columns;
    MPI_Type_vector(1, n, COLUMNS, MPI_INT, &columns);
    MPI_Type_create_resized(columns, 0, 4 * COLUMNS, &columns);
    MPI_Type_commit(&columns);
    view(HEAD + 4 * from, MPI_INT, n ? columns : MPI_INT);
    for (int i = 0; writes && i < ROWS * n; i++) t[i] = i / n * 1000 + from + i % n;
    if (writes) must(MPI_File_write_all(file, t, ROWS * n, MPI_INT, MPI_STATUS_IGNORE), "write_all");
    else must(MPI_File_read_all(file, t, ROWS * n, MPI_INT, MPI_STATUS_IGNORE), "read_all");
    for (int i = 0; i < ROWS * n; i++) expect(t[i], i / n * 1000 + from + i % n, "int", i);
    MPI_Type_free(&columns);
    free(t);
}

/* A plate of doubles: each rank has some columns of it, and in memory a border around them. */
static void plate(void)
{
    int from = first(SIDE_X, rank), n = first(SIDE_X, rank + 1) - from;
    int whole[] = {SIDE_Y, SIDE_X}, part[] = {SIDE_Y, n}, at[] = {0, from};
    int room[] = {SIDE_Y + 2, n + 2}, one[] = {1, 1};
    double *t = calloc((SIDE_Y + 2) * (SIDE_X + 2), sizeof *t);
    MPI_Datatype in_file = MPI_DOUBLE, in_memory = MPI_DOUBLE;
    if (n) {
        MPI_Type_create_subarray(2, whole, part, at, MPI_ORDER_C, MPI_DOUBLE, &in_file);
        MPI_Type_create_subarray(2, room, part, one, MPI_ORDER_C, MPI_DOUBLE, &in_memory);
        MPI_Type_commit(&in_file), MPI_Type_commit(&in_memory);
    }
    view(PLATE, MPI_DOUBLE, in_file);
    for (int y = 0; y < SIDE_Y; y++)
        for (int x = 0; writes && x < n; x++) t[(y + 1) * (n + 2) + x + 1] = y + (from + x) / 256.0;
    if (writes) must(MPI_File_write_at_all(file, 0, t, n > 0, in_memory, MPI_STATUS_IGNORE), "write_at_all");
    else must(MPI_File_read_at_all(file, 0, t, n > 0, in_memory, MPI_STATUS_IGNORE), "read_at_all");
    for (int y = 0; y < SIDE_Y; y++)
        for (int x = 0; x < n; x++) expect(t[(y + 1) * (n + 2) + x + 1], y + (from + x) / 256.0, "double", y * n + x);
    if (n) MPI_Type_free(&in_file), MPI_Type_free(&in_memory);
    free(t);
}

/* Shorts in pieces of different lengths with holes between, each rank some of them, by itself. */
static void list(void)
{
    int from = first(PIECES, rank), n = first(PIECES, rank + 1) - from, total = 0, *length, *at;
    short t[PIECES * 4];
    length = calloc((size_t)n + 1, sizeof *length), at = calloc((size_t)n + 1, sizeof *at);
    for (int i = 0; i < n; i++) length[i] = 1 + (from + i) % 4, at[i] = 7 * (from + i), total += length[i];
    MPI_Datatype pieces = MPI_SHORT;
    if (n) {
        MPI_Type_indexed(n, length, at, MPI_SHORT, &pieces);
        MPI_Type_create_resized(pieces, 0, 2 * 7 * PIECES, &pieces);
        MPI_Type_commit(&pieces);
    }
    view(LIST, MPI_SHORT, pieces);
    memset(t, 0, sizeof t);
    for (int i = 0, k = 0; i < n; i++)
        for (int j = 0; j < length[i]; j++) t[k++] = (short)(writes ? at[i] + j : -1);
    if (writes) must(MPI_File_write_at(file, 0, t, total, MPI_SHORT, MPI_STATUS_IGNORE), "write_at");
    else must(MPI_File_read_at(file, 0, t, total, MPI_SHORT, MPI_STATUS_IGNORE), "read_at");
    for (int i = 0, k = 0; i < n; i++)
        for (int j = 0; j < length[i]; j++) expect(t[k++], at[i] + j, "short", i);
    if (n) MPI_Type_free(&pieces);
    free(length), free(at);
}

/* Floats in the order of ranks, by the shared pointer. */
static void records(void)
{
    int from = first(RECORDS, rank), n = (first(RECORDS, rank + 1) - from) * RECORD;
    float t[RECORDS * RECORD];
    view(PARTICLES, MPI_FLOAT, MPI_FLOAT);
    for (int i = 0; i < n; i++) t[i] = writes ? (float)(from * RECORD + i) / 8 : -1;
    if (writes) must(MPI_File_write_ordered(file, t, n, MPI_FLOAT, MPI_STATUS_IGNORE), "write_ordered");
    else must(MPI_File_read_ordered(file, t, n, MPI_FLOAT, MPI_STATUS_IGNORE), "read_ordered");
    for (int i = 0; i < n; i++) expect(t[i], (float)(from * RECORD + i) / 8, "float", i);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
    writes = !strcmp(argv[1], "write");
    rep = argv[2];
    must(MPI_File_open(MPI_COMM_WORLD, argv[3], writes ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY,
                       MPI_INFO_NULL, &file), "open");
    if (writes) must(MPI_File_set_size(file, END), "set_size");
    MPI_Barrier(MPI_COMM_WORLD);
    table();
    plate();
    list();
    records();
    must(MPI_File_close(&file), "close");
    MPI_Finalize();
    return wrong != 0;
}
