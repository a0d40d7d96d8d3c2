/* Types that are asked for by what they shall do: the part of a distributed array, types of so many digits, of so many
 * bytes, pairs of a value and an index. Each is sent around.
 *
 * ranks: 1 2 3
 */
#include "../check.h"

static int next, previous;

/* Columns dealt out two by two, and rows in blocks: what a process has of an array of ROWS x COLUMNS ints. */
enum { ROWS = 10, COLUMNS = 13 };

static int part(int rank, int by_rows, int *list)
{
    int n = 0, block = (ROWS + check_size - 1) / check_size;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            if (by_rows ? i / block == rank : j / 2 % check_size == rank) list[n++] = i * COLUMNS + j;
    return n;
}

static void darray(int by_rows)
{
    int sizes[2] = {ROWS, COLUMNS}, list[ROWS * COLUMNS], in[ROWS * COLUMNS + 1], array[ROWS * COLUMNS];
    int bytes = -1, got = -1;
    int dist[2] = {by_rows ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_NONE,
                   by_rows ? MPI_DISTRIBUTE_NONE : MPI_DISTRIBUTE_CYCLIC};
    int args[2] = {MPI_DISTRIBUTE_DFLT_DARG, by_rows ? MPI_DISTRIBUTE_DFLT_DARG : 2};
    int grid[2] = {by_rows ? check_size : 1, by_rows ? 1 : check_size};
    MPI_Datatype type;
    MPI_Status status;
    for (int i = 0; i < ROWS * COLUMNS; i++) array[i] = i;
    MPI_Type_create_darray(check_size, check_rank, 2, sizes, dist, args, grid, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    int n = part(check_rank, by_rows, list);
    MPI_Type_size(type, &bytes);
    CHECK_EQ(bytes, 4 * n);
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK_EQ(lb, 0);
    CHECK_EQ(extent, 4 * ROWS * COLUMNS);
    MPI_Sendrecv(array, 1, type, next, 1, in, ROWS * COLUMNS + 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &got);
    n = part(previous, by_rows, list);
    CHECK_EQ(got, n);
    CHECK(!memcmp(in, list, (size_t)n * sizeof(int)));
    MPI_Type_free(&type);
}

static void digits(void)
{
    MPI_Datatype real, complex, integer;
    double d[3] = {1.5 + check_rank, -2.25, 1e300}, in[4] = {0};
    long long i = 123456789012345678LL + check_rank, j = 0;
    MPI_Type_create_f90_real(15, 300, &real);
    MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &complex);
    MPI_Type_create_f90_integer(18, &integer);
    int size = -1;
    MPI_Type_size(real, &size);
    CHECK_EQ(size, 8);
    MPI_Type_size(complex, &size);
    CHECK_EQ(size, 8);
    MPI_Type_size(integer, &size);
    CHECK_EQ(size, 8);
    MPI_Sendrecv(d, 3, real, next, 2, in, 4, real, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == 1.5 + previous && in[1] == d[1] && in[2] == d[2] && in[3] == 0);
    MPI_Sendrecv(&i, 1, integer, next, 3, &j, 1, integer, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(j, 123456789012345678LL + previous);
    float c[2] = {0.5f, (float)check_rank}, z[2];
    MPI_Sendrecv(c, 1, complex, next, 4, z, 1, complex, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(z[0] == 0.5f && z[1] == (float)previous);
}

/* The same digits are the same handle, wherever it comes from, and nobody frees it. */
static void digits_stay(void)
{
    MPI_Datatype t, u, row, of;
    int ni, na, nd, combiner, i[4];
    MPI_Aint a;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &t);
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &u);
    CHECK(t == u);
    MPI_Type_create_f90_real(14, MPI_UNDEFINED, &u);
    CHECK(t != u);
    MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &u);
    CHECK(t != u);
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_F90_REAL && ni == 2 && na == 0 && nd == 0);
    MPI_Type_get_contents(t, 2, 0, 0, i, &a, &u);
    CHECK(i[0] == 15 && i[1] == MPI_UNDEFINED);
    MPI_Type_create_f90_integer(4, &u);
    MPI_Type_get_envelope(u, &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_F90_INTEGER && ni == 1 && na == 0 && nd == 0);
    MPI_Type_get_contents(u, 1, 0, 0, i, &a, &of);
    CHECK_EQ(i[0], 4);
    MPI_Type_vector(3, 1, 2, t, &row);
    MPI_Type_get_contents(row, 3, 0, 1, i, &a, &of);
    CHECK(of == t);
    MPI_Type_free(&row);
    CHECK_CLASS(MPI_Type_free(&of), MPI_ERR_TYPE);
    CHECK(of == t);
    MPI_Type_size(t, &ni);
    CHECK_EQ(ni, 8);
    CHECK_CLASS(MPI_Type_create_f90_real(60, 10, &u), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &u), MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void sizes(void)
{
    static const struct {
        int class, size;
    } wanted[] = {
        {MPI_TYPECLASS_REAL, 4}, {MPI_TYPECLASS_REAL, 8}, {MPI_TYPECLASS_INTEGER, 1}, {MPI_TYPECLASS_INTEGER, 2},
        {MPI_TYPECLASS_INTEGER, 4}, {MPI_TYPECLASS_INTEGER, 8}, {MPI_TYPECLASS_COMPLEX, 8},
        {MPI_TYPECLASS_COMPLEX, 16}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        MPI_Datatype type;
        int size = -1;
        CHECK_EQ(MPI_Type_match_size(wanted[i].class, wanted[i].size, &type), MPI_SUCCESS);
        MPI_Type_size(type, &size);
        CHECK_EQ(size, wanted[i].size);
    }
}

static void pairs(void)
{
    struct { double value; int index; } out = {0.5 + check_rank, 7}, in = {0, 0};
    MPI_Datatype pair;
    CHECK_EQ(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair), MPI_SUCCESS);
    CHECK(pair == MPI_DOUBLE_INT);
    MPI_Sendrecv(&out, 1, pair, next, 5, &in, 1, pair, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in.value == 0.5 + previous && in.index == 7);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    darray(0);
    darray(1);
    digits();
    digits_stay();
    sizes();
    pairs();
    return check_end();
}
