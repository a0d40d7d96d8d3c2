/* Alltoall, Alltoallv and Alltoallw: every pair has its own words; unequal, empty and typed parts; in place. */
#include "../check.h"

static int word(int from, int to, int i) { return (from * 64 + to) * 40000 + i; }

static void equal(int n)
{
    size_t room = sizeof(int) * (size_t)(n * check_size + 1);
    int *out = malloc(room), *in = malloc(room);
    for (int i = 0; i < n * check_size; i++) out[i] = word(check_rank, i / n, i % n), in[i] = -1;
    in[n * check_size] = -1;
    MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n * check_size; i++) CHECK_EQ(in[i], word(i / n, check_rank, i % n));
    CHECK_EQ(in[n * check_size], -1);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n * check_size; i++) CHECK_EQ(out[i], word(i / n, check_rank, i % n));
    free(out);
    free(in);
}

/* From rank a to rank b go (a + 2 b) % 5 * scale words: not symmetric, sometimes none. */
static int part(int a, int b, int scale) { return (a + 2 * b) % 5 * scale; }

static void unequal(int scale, int by_type)
{
    int out_n[64], out_at[64], in_n[64], in_at[64], outs = 0, ins = 0, unit = by_type ? (int)sizeof(int) : 1;
    MPI_Datatype type[64];
    for (int k = check_size - 1; k >= 0; k--) { /* gaps of one word, ranks in reverse */
        type[k] = MPI_INT;
        out_n[k] = part(check_rank, k, scale);
        in_n[k] = part(k, check_rank, scale);
        out_at[k] = outs * unit;
        in_at[k] = ins * unit;
        outs += out_n[k] + 1;
        ins += in_n[k] + 1;
    }
    int *out = malloc(sizeof(int) * (size_t)outs), *in = malloc(sizeof(int) * (size_t)ins);
    for (int k = 0; k < check_size; k++)
        for (int i = 0; i < out_n[k]; i++) out[out_at[k] / unit + i] = word(check_rank, k, i);
    for (int i = 0; i < ins; i++) in[i] = -1;
    if (by_type) MPI_Alltoallw(out, out_n, out_at, type, in, in_n, in_at, type, MPI_COMM_WORLD);
    else MPI_Alltoallv(out, out_n, out_at, MPI_INT, in, in_n, in_at, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0; k < check_size; k++) {
        for (int i = 0; i < in_n[k]; i++) CHECK_EQ(in[in_at[k] / unit + i], word(k, check_rank, i));
        CHECK_EQ(in[in_at[k] / unit + in_n[k]], -1);
    }
    free(out);
    free(in);
}

/* In place the parts must be symmetric. */
static void in_place(int scale, int by_type)
{
    int n[64], at[64], total = 0, unit = by_type ? (int)sizeof(int) : 1;
    MPI_Datatype type[64];
    for (int k = 0; k < check_size; k++) {
        type[k] = MPI_INT;
        n[k] = (k + check_rank) % 4 * scale;
        at[k] = total * unit;
        total += n[k];
    }
    int *buf = malloc(sizeof(int) * (size_t)(total + 1));
    for (int k = 0; k < check_size; k++)
        for (int i = 0; i < n[k]; i++) buf[at[k] / unit + i] = word(check_rank, k, i);
    if (by_type) MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, buf, n, at, type, MPI_COMM_WORLD);
    else MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, buf, n, at, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0; k < check_size; k++)
        for (int i = 0; i < n[k]; i++) CHECK_EQ(buf[at[k] / unit + i], word(k, check_rank, i));
    free(buf);
}

/* A distributed transpose: rank k gets column k of every rank's rows, by a type for each peer. */
static void transpose(void)
{
    int rows = 5, n = check_size, *out = malloc(sizeof(int) * (size_t)(rows * n)),
        *in = calloc((size_t)(rows * n), sizeof(int));
    int ones[64], rows_n[64], out_at[64], in_at[64];
    MPI_Datatype column, send[64], receive[64];
    MPI_Type_vector(rows, 1, n, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int k = 0; k < n; k++) {
        send[k] = column;
        receive[k] = MPI_INT;
        ones[k] = 1;
        rows_n[k] = rows;
        out_at[k] = k * (int)sizeof(int);
        in_at[k] = k * rows * (int)sizeof(int);
    }
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < n; k++) out[i * n + k] = word(check_rank, k, i);
    MPI_Alltoallw(out, ones, out_at, send, in, rows_n, in_at, receive, MPI_COMM_WORLD);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < rows; i++) CHECK_EQ(in[k * rows + i], word(k, check_rank, i));
    MPI_Type_free(&column);
    free(out);
    free(in);
}

/* Nothing, as no elements on one side and as an element without data on the other. */
static void nothing(void)
{
    int none[64] = {0}, ones[64], at[64] = {0}, out = 7, in = 7;
    MPI_Datatype empty, of_empty[64], of_int[64];
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    for (int k = 0; k < check_size; k++) ones[k] = 1, of_empty[k] = empty, of_int[k] = MPI_INT;
    MPI_Alltoallw(&out, ones, at, of_empty, &in, none, at, of_int, MPI_COMM_WORLD);
    MPI_Alltoallw(&out, none, at, of_int, &in, ones, at, of_empty, MPI_COMM_WORLD);
    MPI_Alltoallv(&out, ones, at, empty, &in, none, at, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(&out, none, at, MPI_INT, &in, ones, at, empty, MPI_COMM_WORLD);
    if (check_rank % 2) MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, &in, none, at, of_int, MPI_COMM_WORLD);
    else MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, &in, ones, at, of_empty, MPI_COMM_WORLD);
    CHECK_EQ(in, 7);
    MPI_Type_free(&empty);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 2, 31, 1024, 10000, 40000};
    check_start(&argc, &argv);
    CHECK(check_size <= 64);
    for (int l = 0; l < 7; l++) {
        equal(lengths[l]);
        unequal(lengths[l] / 4, 0);
        unequal(lengths[l] / 4, 1);
        in_place(lengths[l] / 3, 0);
        in_place(lengths[l] / 3, 1);
    }
    transpose();
    nothing();
    return check_end();
}
