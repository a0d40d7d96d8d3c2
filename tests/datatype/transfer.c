/* Types at work: columns, halves, structs, pieces of memory at absolute addresses; long ones too. */
#include "../check.h"

static int next, previous;

/* A column of one matrix into a row of another, from short to long. */
static void column_to_row(int n)
{
    double *m = malloc(sizeof(double) * (size_t)(n * 3)), *row = malloc(sizeof(double) * (size_t)n);
    MPI_Datatype column;
    for (int i = 0; i < n * 3; i++) m[i] = check_rank * 1e7 + i;
    MPI_Type_vector(n, 1, 3, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(m + 1, 1, column, next, 0, row, n, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) CHECK(row[i] == previous * 1e7 + 3 * i + 1);
    MPI_Sendrecv(row, n, MPI_DOUBLE, next, 0, m + 2, 1, column, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int before = (previous + check_size - 1) % check_size;
    for (int i = 0; i < n; i++) {
        CHECK(m[3 * i + 2] == before * 1e7 + 3 * i + 1);
        CHECK(m[3 * i] == check_rank * 1e7 + 3 * i);
        CHECK(m[3 * i + 1] == check_rank * 1e7 + 3 * i + 1);
    }
    MPI_Type_free(&column);
    free(m);
    free(row);
}

typedef struct { int id; double x[3]; char name[5]; short flag; } particle;

static void structs(int n)
{
    particle *out = calloc((size_t)n, sizeof *out), *in = calloc((size_t)n, sizeof *in);
    int length[4] = {1, 3, 5, 1}, got = -1;
    MPI_Aint at[4], base;
    MPI_Datatype of[4] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_SHORT}, packed, type;
    MPI_Request request;
    MPI_Status status;
    MPI_Get_address(out, &base);
    MPI_Get_address(&out->id, &at[0]);
    MPI_Get_address(out->x, &at[1]);
    MPI_Get_address(out->name, &at[2]);
    MPI_Get_address(&out->flag, &at[3]);
    for (int i = 0; i < 4; i++) at[i] = MPI_Aint_diff(at[i], base);
    CHECK_EQ(MPI_Aint_add(base, at[1]), (MPI_Aint)(intptr_t)out->x);
    MPI_Type_create_struct(4, length, at, of, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(particle), &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < n; i++) {
        out[i] = (particle){i + check_rank, {i * 0.5, check_rank, -i}, {'a', 'b', (char)(i % 100), 0, 'z'}, (short)i};
    }
    MPI_Irecv(in, n + 0, type, previous, 5, MPI_COMM_WORLD, &request);
    MPI_Send(out, n, type, next, 5, MPI_COMM_WORLD);
    MPI_Type_free(&type); /* the receive goes on */
    MPI_Type_free(&packed);
    MPI_Wait(&request, &status);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(in[i].id, i + previous);
        CHECK(in[i].x[0] == i * 0.5 && in[i].x[1] == previous && in[i].x[2] == -i);
        CHECK(!memcmp(in[i].name, (char[5]){'a', 'b', (char)(i % 100), 0, 'z'}, 5));
        CHECK_EQ(in[i].flag, (short)i);
    }
    MPI_Get_elements(&status, MPI_BYTE, &got);
    free(out);
    free(in);
}

/* Absolute addresses: one message from variables that have nothing to do with each other. */
static void bottom(void)
{
    int a = check_rank, length[3] = {1, 4, 1}, in_a = -1;
    double *b = malloc(4 * sizeof *b), in_b[4] = {0};
    static short c, in_c;
    MPI_Aint at[3], in_at[3];
    MPI_Datatype of[3] = {MPI_INT, MPI_DOUBLE, MPI_SHORT}, out, in;
    for (int i = 0; i < 4; i++) b[i] = check_rank + 0.25 * i;
    c = (short)(check_rank * 11);
    MPI_Get_address(&a, &at[0]);
    MPI_Get_address(b, &at[1]);
    MPI_Get_address(&c, &at[2]);
    MPI_Get_address(&in_a, &in_at[0]);
    MPI_Get_address(in_b, &in_at[1]);
    MPI_Get_address(&in_c, &in_at[2]);
    MPI_Type_create_struct(3, length, at, of, &out);
    MPI_Type_create_struct(3, length, in_at, of, &in);
    MPI_Type_commit(&out);
    MPI_Type_commit(&in);
    MPI_Sendrecv(MPI_BOTTOM, 1, out, next, 1, MPI_BOTTOM, 1, in, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(in_a, previous);
    for (int i = 0; i < 4; i++) CHECK(in_b[i] == previous + 0.25 * i);
    CHECK_EQ(in_c, previous * 11);
    in_a = -1;
    memset(in_b, 0, sizeof in_b);
    MPI_Bcast(MPI_BOTTOM, 1, check_rank == 0 ? out : in, 0, MPI_COMM_WORLD);
    if (check_rank > 0) CHECK(in_a == 0 && in_b[3] == 0.75);
    MPI_Type_free(&out);
    MPI_Type_free(&in);
    free(b);
}

/* A face of a block into the halo of another. */
static void faces(void)
{
    enum { N = 20 };
    static int block[N][N][N];
    int sizes[3] = {N, N, N};
    for (int axis = 0; axis < 3; axis++) {
        int part[3] = {N - 2, N - 2, N - 2}, from[3] = {1, 1, 1}, to[3] = {1, 1, 1};
        MPI_Datatype face, halo;
        part[axis] = 1;
        from[axis] = N - 2;
        to[axis] = 0;
        MPI_Type_create_subarray(3, sizes, part, from, MPI_ORDER_C, MPI_INT, &face);
        MPI_Type_create_subarray(3, sizes, part, to, MPI_ORDER_C, MPI_INT, &halo);
        MPI_Type_commit(&face);
        MPI_Type_commit(&halo);
        for (int i = 0; i < N * N * N; i++) (&block[0][0][0])[i] = check_rank * 10000 + i;
        MPI_Sendrecv(block, 1, face, next, axis, block, 1, halo, previous, axis, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int x = 0; x < N; x++)
            for (int y = 0; y < N; y++)
                for (int z = 0; z < N; z++) {
                    int p[3] = {x, y, z}, inner = 1, owner = check_rank;
                    for (int d = 0; d < 3; d++) inner &= d == axis ? p[d] == 0 : p[d] > 0 && p[d] < N - 1;
                    if (inner) p[axis] = N - 2, owner = previous;
                    CHECK_EQ(block[x][y][z], owner * 10000 + (p[0] * N + p[1]) * N + p[2]);
                }
        MPI_Type_free(&face);
        MPI_Type_free(&halo);
    }
}

/* A message shorter than the type's receive fills the front of the last, partial element. */
static void partial(void)
{
    int out[10], in[18], got = -1;
    MPI_Datatype three;
    MPI_Status status;
    MPI_Type_vector(3, 1, 2, MPI_INT, &three);
    MPI_Type_commit(&three);
    for (int i = 0; i < 10; i++) out[i] = i;
    for (int i = 0; i < 18; i++) in[i] = -1;
    MPI_Sendrecv(out, 5, MPI_INT, next, 0, in, 3, three, previous, 0, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, three, &got);
    CHECK_EQ(got, 5);
    static const int want[18] = {0, -1, 1, -1, 2, 3, -1, 4, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    for (int i = 0; i < 18; i++) CHECK_EQ(in[i], want[i]);
    MPI_Type_free(&three);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    for (int n = 1; n <= 100000; n *= 10) {
        column_to_row(n);
        if (n < 100000) structs(n);
    }
    bottom();
    faces();
    partial();
    return check_end();
}
