/* Examples 4.5 to 4.13, 4.23 and 4.27 of "MPI: The Complete Reference": blocks of all processes gathered and scattered
 * with strides, out of and into columns of an array, an operation of the user's that does not commute, and messages
 * around a broadcast.
 *
 * ranks: 4
 */
#include "../check.h"
#include <stddef.h>

enum { ROWS = 100, COLUMNS = 150, STRIDE = 110 };

static int (*array)[COLUMNS];

static int element(int rank, int row, int column) { return rank * 100000 + row * COLUMNS + column; }

/* The root's buffer, and where in it the blocks of all are. */
typedef struct {
    int *buf, *counts, *displs, len;
} blocks;

/* Blocks of n ints, or of n less their number if fewer is set, one stride apart, or strides that grow if varies is. */
static blocks describe(int n, int fewer, int stride, int varies)
{
    blocks b = {NULL, malloc(sizeof(int) * (size_t)check_size), malloc(sizeof(int) * (size_t)check_size), 0};
    for (int i = 0, offset = 0; i < check_size; i++) {
        b.displs[i] = offset;
        b.counts[i] = fewer ? n - i : n;
        offset += stride + (varies ? 3 * i : 0);
        b.len = offset;
    }
    b.buf = malloc(sizeof(int) * (size_t)b.len);
    for (int i = 0; i < b.len; i++) b.buf[i] = -1;
    return b;
}

static void release(blocks *b)
{
    free(b->buf);
    free(b->counts);
    free(b->displs);
}

/* At the root, the block of process i is the head of column 0, or of column i, of its array, and all else is -1. */
static void is_gathered(const blocks *b, int root, int own_column)
{
    for (int i = 0, at = 0; check_rank == root && i < check_size; i++) {
        for (; at < b->displs[i]; at++) CHECK_EQ(b->buf[at], -1);
        for (int k = 0; k < b->counts[i]; k++, at++) CHECK_EQ(b->buf[at], element(i, k, own_column ? i : 0));
    }
}

/* A column from its top on, of so many ints. */
static MPI_Datatype column_of(int n)
{
    MPI_Datatype t;
    MPI_Type_vector(n, 1, COLUMNS, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

/* One int with the extent of a row. */
static MPI_Datatype int_of_row(void)
{
    MPI_Datatype t;
    MPI_Type_create_resized(MPI_INT, 0, COLUMNS * sizeof(int), &t);
    MPI_Type_commit(&t);
    return t;
}

static void gather(const void *from, int count, MPI_Datatype type, const blocks *b, int root)
{
    MPI_Gatherv(from, count, type, b->buf, b->counts, b->displs, MPI_INT, root, MPI_COMM_WORLD);
}

static void example_4_5(int root)
{
    int mine[ROWS];
    blocks b = describe(ROWS, 0, STRIDE, 0);
    for (int i = 0; i < ROWS; i++) mine[i] = element(check_rank, i, 0);
    gather(mine, ROWS, MPI_INT, &b, root);
    is_gathered(&b, root, 0);
    release(&b);
}

static void example_4_6(int root)
{
    blocks b = describe(ROWS, 0, STRIDE, 0);
    MPI_Datatype column = column_of(ROWS);
    gather(array, 1, column, &b, root);
    is_gathered(&b, root, 0);
    MPI_Type_free(&column);
    release(&b);
}

/* Process i gives 100 - i ints of its column i, which the root places evenly (4.7), or with strides that vary (4.9). */
static void own_columns(int root, int varies)
{
    blocks b = describe(ROWS, 1, STRIDE, varies);
    MPI_Datatype column = column_of(ROWS - check_rank);
    gather(&array[0][check_rank], 1, column, &b, root);
    is_gathered(&b, root, 1);
    MPI_Type_free(&column);
    release(&b);
}

static void example_4_7(int root) { own_columns(root, 0); }
static void example_4_9(int root) { own_columns(root, 1); }

static void example_4_8(int root)
{
    blocks b = describe(ROWS, 1, STRIDE, 0);
    MPI_Datatype one = int_of_row();
    gather(&array[0][check_rank], ROWS - check_rank, one, &b, root);
    is_gathered(&b, root, 1);
    MPI_Type_free(&one);
    release(&b);
}

/* The root learns first how many ints each gives. */
static void example_4_10(int root)
{
    int num = 5 + 17 * check_rank % 40;
    blocks b = describe(ROWS, 0, ROWS, 0);
    MPI_Datatype one = int_of_row();
    MPI_Gather(&num, 1, MPI_INT, b.counts, 1, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 1; check_rank == root && i < check_size; i++) b.displs[i] = b.displs[i - 1] + b.counts[i - 1];
    gather(&array[0][check_rank], num, one, &b, root);
    for (int i = 0; check_rank == root && i < check_size; i++) CHECK_EQ(b.counts[i], 5 + 17 * i % 40);
    is_gathered(&b, root, 1);
    MPI_Type_free(&one);
    release(&b);
}

/* What the root scatters: at each place of each block its number. */
static blocks numbered(int fewer, int stride, int varies)
{
    blocks b = describe(ROWS, fewer, stride, varies);
    for (int i = 0; i < check_size; i++)
        for (int k = 0; k < b.counts[i]; k++) b.buf[b.displs[i] + k] = element(i, k, 7);
    return b;
}

static void example_4_11(int root)
{
    int in[ROWS] = {0};
    blocks b = numbered(0, ROWS, 0);
    MPI_Scatter(b.buf, ROWS, MPI_INT, in, ROWS, MPI_INT, root, MPI_COMM_WORLD);
    for (int k = 0; k < ROWS; k++) CHECK_EQ(in[k], element(check_rank, k, 7));
    release(&b);
}

static void example_4_12(int root)
{
    int in[ROWS] = {0};
    blocks b = numbered(0, STRIDE, 0);
    MPI_Scatterv(b.buf, b.counts, b.displs, MPI_INT, in, ROWS, MPI_INT, root, MPI_COMM_WORLD);
    for (int k = 0; k < ROWS; k++) CHECK_EQ(in[k], element(check_rank, k, 7));
    release(&b);
}

/* Column i of process i gets 100 - i ints, and nothing else changes. */
static void example_4_13(int root)
{
    int(*in)[COLUMNS] = calloc(ROWS, sizeof *in);
    blocks b = numbered(1, STRIDE, 1);
    MPI_Datatype column = column_of(ROWS - check_rank);
    MPI_Scatterv(b.buf, b.counts, b.displs, MPI_INT, &in[0][check_rank], 1, column, root, MPI_COMM_WORLD);
    for (int k = 0; k < ROWS; k++)
        for (int c = 0; c < COLUMNS; c++)
            CHECK_EQ(in[k][c], c == check_rank && k < ROWS - check_rank ? element(check_rank, k, 7) : 0);
    MPI_Type_free(&column);
    free(in);
    release(&b);
}

typedef struct {
    double val;
    int log;
} scan_pair;

/* The right operand is inout: this does not commute. */
static void segment_scan(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const scan_pair *a = in;
    scan_pair *b = inout;
    (void)type;
    for (int i = 0; i < *len; i++)
        if (a[i].log == b[i].log) b[i].val += a[i].val;
}

/* The number of the segment that a rank is in, where bit r of cuts is set if one begins at rank r. */
static int segment(int cuts, int rank)
{
    int n = 0;
    for (int r = 0; r <= rank; r++) n += cuts >> r & 1;
    return n;
}

/* Sums within segments, along the ranks; one element of the buffer for each way to cut four ranks. The book tells
 * segments apart by logicals that alternate: with these the operation is not associative. */
static void example_4_23(void)
{
    enum { N = 16 };
    scan_pair a[N], got[N];
    int len[2] = {1, 1};
    MPI_Aint disp[2] = {offsetof(scan_pair, val), offsetof(scan_pair, log)};
    MPI_Datatype type[2] = {MPI_DOUBLE, MPI_INT}, plain, pair;
    MPI_Op op;
    MPI_Type_create_struct(2, len, disp, type, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(scan_pair), &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(segment_scan, 0, &op);
    for (int i = 0; i < N; i++) a[i] = (scan_pair){check_rank + 1 + 10 * i, segment(i, check_rank)};
    MPI_Scan(a, got, N, pair, op, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        double want = 0;
        for (int r = 0; r <= check_rank; r++)
            if (segment(i, r) == segment(i, check_rank)) want += r + 1 + 10 * i;
        CHECK_SAY(got[i].val == want, "cut as %d the sum is %g, not %g", i, got[i].val, want);
        CHECK_EQ(got[i].log, segment(i, check_rank));
    }
    MPI_Op_free(&op);
    MPI_Type_free(&plain);
    MPI_Type_free(&pair);
}

/* A message of rank 2 before the broadcast and one of rank 0 after it: rank 1 receives one before and one after its own
 * broadcast, in either order. */
static void example_4_27(void)
{
    int buf1 = check_rank == 0 ? 427 : -1, buf2 = 4270 + check_rank, seen[3] = {0};
    MPI_Comm comm;
    MPI_Status status;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank < 3 ? 0 : MPI_UNDEFINED, 0, &comm);
    if (comm == MPI_COMM_NULL) return;
    if (check_rank == 2) MPI_Send(&buf2, 1, MPI_INT, 1, 5, comm);
    for (int k = 0; k < 2; k++) {
        if (k == 1) MPI_Bcast(&buf1, 1, MPI_INT, 0, comm);
        if (check_rank != 1) continue;
        MPI_Recv(&buf2, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &status);
        CHECK_EQ(buf2, 4270 + status.MPI_SOURCE);
        seen[status.MPI_SOURCE]++;
    }
    if (check_rank == 0) MPI_Send(&buf2, 1, MPI_INT, 1, 5, comm);
    CHECK_EQ(buf1, 427);
    if (check_rank == 1) CHECK(seen[0] == 1 && seen[1] == 0 && seen[2] == 1);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    array = malloc(sizeof *array * ROWS);
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < COLUMNS; c++) array[i][c] = element(check_rank, i, c);
    const int step = check_size > 1 ? check_size - 1 : 1;
    for (int root = 0; root < check_size; root += step) {
        example_4_5(root);
        example_4_6(root);
        example_4_7(root);
        example_4_8(root);
        example_4_9(root);
        example_4_10(root);
        example_4_11(root);
        example_4_12(root);
        example_4_13(root);
    }
    example_4_23();
    example_4_27();
    free(array);
    return check_end();
}
