/* What is asked of a datatype has the same answer before and after it was used in any way: bounds, elements of a
 * status, and how it was made, of copies, of copies of copies, and of what MPI_Type_get_contents hands out; after
 * the original was freed. */
/* ranks: 1 */
/* clients: none */
#include "../check.h"
#include <stddef.h>

enum { MOST = 64, BIG = 100 };

typedef struct {
    MPI_Datatype type;
    int size;
    MPI_Aint lb, extent, low, reach; /* low, reach: of the data */
    int elements, combiner, integers, addresses, datatypes;
    int external; /* bytes in external32 */
} fact;

static fact kinds[32];
static int n_kinds;

static void is(MPI_Datatype type, fact f)
{
    f.type = type;
    kinds[n_kinds++] = f;
}

static void make(void)
{
    static int many[BIG], lens[] = {1, 0, 2}, at[] = {5, 9, 1}, ones[] = {1, 1, 1};
    static MPI_Aint bytes[] = {40, 0, 8}, fields[] = {0, 8, 16};
    int sizes[] = {4, 6}, parts[] = {2, 3}, starts[] = {1, 2}, grid[] = {1, 1},
        how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    int default_args[] = {2, MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Datatype t, mixed[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, nested[3];
    n_kinds = 0;
    MPI_Type_contiguous(3, MPI_INT, &t);
    is(t, (fact){0, 12, 0, 12, 0, 12, 3, MPI_COMBINER_CONTIGUOUS, 1, 0, 1, 12});
    MPI_Type_vector(2, 1, -3, MPI_DOUBLE, &t);
    is(t, (fact){0, 16, -24, 32, -24, 32, 2, MPI_COMBINER_VECTOR, 3, 0, 1, 16});
    MPI_Type_create_hvector(2, 2, 100, MPI_SHORT, &t);
    is(t, (fact){0, 8, 0, 104, 0, 104, 4, MPI_COMBINER_HVECTOR, 2, 1, 1, 8});
    MPI_Type_indexed(3, lens, at, MPI_LONG, &t);
    is(t, (fact){0, 24, 8, 40, 8, 40, 3, MPI_COMBINER_INDEXED, 7, 0, 1, 12});
    MPI_Type_create_hindexed(3, lens, bytes, MPI_INT, &t);
    is(t, (fact){0, 12, 8, 36, 8, 36, 3, MPI_COMBINER_HINDEXED, 4, 3, 1, 12});
    MPI_Type_create_indexed_block(3, 2, at, MPI_FLOAT, &t);
    is(t, (fact){0, 24, 4, 40, 4, 40, 6, MPI_COMBINER_INDEXED_BLOCK, 5, 0, 1, 24});
    MPI_Type_create_hindexed_block(3, 1, bytes, MPI_CHAR, &t);
    is(t, (fact){0, 3, 0, 41, 0, 41, 3, MPI_COMBINER_HINDEXED_BLOCK, 2, 3, 1, 3});
    MPI_Type_create_struct(3, ones, fields, mixed, &t);
    is(t, (fact){0, 13, 0, 24, 0, 17, 3, MPI_COMBINER_STRUCT, 4, 3, 3, 13});
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t);
    is(t, (fact){0, 24, 0, 96, 32, 36, 6, MPI_COMBINER_SUBARRAY, 8, 0, 1, 24});
    MPI_Type_create_darray(1, 0, 2, sizes, how, default_args, grid, MPI_ORDER_FORTRAN, MPI_INT, &t);
    is(t, (fact){0, 96, 0, 96, 0, 96, 24, MPI_COMBINER_DARRAY, 12, 0, 1, 96});
    MPI_Type_create_resized(MPI_DOUBLE, -8, 40, &t);
    is(t, (fact){0, 8, -8, 40, 0, 8, 1, MPI_COMBINER_RESIZED, 0, 2, 1, 8});
    MPI_Type_dup(MPI_DOUBLE_INT, &t);
    is(t, (fact){0, 12, 0, 16, 0, 12, 2, MPI_COMBINER_DUP, 0, 0, 1, 12});
    MPI_Type_contiguous(0, MPI_INT, &t);
    is(t, (fact){0, 0, 0, 0, 0, 0, 0, MPI_COMBINER_CONTIGUOUS, 1, 0, 1, 0});
    /* bounds that a part has set, as an array does, hide those of the data */
    nested[0] = kinds[1].type, nested[1] = kinds[7].type, nested[2] = kinds[9].type;
    MPI_Type_create_struct(3, ones, fields, nested, &t);
    is(t, (fact){0, 125, 16, 96, -24, 136, 29, MPI_COMBINER_STRUCT, 4, 3, 3, 125});
    MPI_Type_dup(kinds[13].type, &t);
    is(t, (fact){0, 125, 16, 96, -24, 136, 29, MPI_COMBINER_DUP, 0, 0, 1, 125});
    MPI_Type_create_resized(kinds[14].type, 0, 200, &t);
    is(t, (fact){0, 125, 0, 200, -24, 136, 29, MPI_COMBINER_RESIZED, 0, 2, 1, 125});
    for (int i = 0; i < BIG; i++) many[i] = 3 * i + i % 2;
    MPI_Type_create_indexed_block(BIG, 1, many, MPI_INT, &t);
    is(t, (fact){0, 4 * BIG, 0, 4 * (3 * BIG - 1), 0, 4 * (3 * BIG - 1), BIG, MPI_COMBINER_INDEXED_BLOCK, BIG + 2, 0, 1,
                 4 * BIG});
    MPI_Type_dup(kinds[16].type, &t);
    is(t, (fact){0, 4 * BIG, 0, 4 * (3 * BIG - 1), 0, 4 * (3 * BIG - 1), BIG, MPI_COMBINER_DUP, 0, 0, 1, 4 * BIG});
}

static void counts(const fact *f, MPI_Datatype t)
{
    MPI_Status s;
    int n = -1, half = f->elements / 2;
    MPI_Count large = -1;
    for (int k = 0; k < 3; k++) {
        MPI_Status_set_elements(&s, t, k * f->elements);
        MPI_Get_count(&s, t, &n);
        CHECK_EQ(n, f->size ? k : 0);
        MPI_Get_elements(&s, t, &n);
        CHECK_EQ(n, k * f->elements);
    }
    MPI_Status_set_elements(&s, t, f->elements + half);
    MPI_Get_count_c(&s, t, &large);
    CHECK_EQ(large, half ? MPI_UNDEFINED : f->size ? 1 : 0);
    MPI_Get_elements_c(&s, t, &large);
    CHECK_EQ(large, f->elements + half);
    MPI_Get_elements_x(&s, t, &large);
    CHECK_EQ(large, f->elements + half);
    if (f->size > 1 && f->size / f->elements > 1) { /* within an element */
        MPI_Status_set_elements(&s, MPI_BYTE, f->size + 1);
        MPI_Get_elements(&s, t, &n);
        CHECK_EQ(n, MPI_UNDEFINED);
    }
}

static void bounds(const fact *f, MPI_Datatype t)
{
    int n = -1;
    MPI_Aint lb = -1, extent = -1;
    MPI_Count large_lb = -1, large_extent = -1, size = -1;
    MPI_Type_size(t, &n);
    CHECK_EQ(n, f->size);
    MPI_Type_get_extent(t, &lb, &extent);
    CHECK_EQ(lb, f->lb);
    CHECK_EQ(extent, f->extent);
    MPI_Type_get_extent_c(t, &large_lb, &large_extent);
    CHECK_EQ(large_lb, f->lb);
    CHECK_EQ(large_extent, f->extent);
    MPI_Type_get_true_extent(t, &lb, &extent);
    CHECK_EQ(lb, f->low);
    CHECK_EQ(extent, f->reach);
    MPI_Type_get_true_extent_x(t, &large_lb, &large_extent);
    CHECK_EQ(large_lb, f->low);
    CHECK_EQ(large_extent, f->reach);
    MPI_Pack_size(3, t, MPI_COMM_WORLD, &n);
    CHECK_EQ(n, 3 * f->size);
    MPI_Pack_size_c(3, t, MPI_COMM_SELF, &size);
    CHECK_EQ(size, 3 * f->size);
    MPI_Pack_external_size("external32", 5, t, &extent);
    CHECK_EQ(extent, 5 * f->external);
    MPI_Pack_external_size_c("external32", 5, t, &size);
    CHECK_EQ(size, 5 * f->external);
}

/* Both types have the same arguments, down to the predefined ones. */
static void alike(MPI_Datatype a, MPI_Datatype b)
{
    int in[2][4 * BIG], n[2][4], wide = 0;
    MPI_Aint away[2][MOST];
    MPI_Datatype olds[2][MOST], two[2] = {a, b};
    for (int k = 0; k < 2; k++) MPI_Type_get_envelope(two[k], &n[k][0], &n[k][1], &n[k][2], &n[k][3]);
    CHECK(!memcmp(n[0], n[1], sizeof n[0]));
    if (n[0][3] == MPI_COMBINER_NAMED) {
        CHECK(a == b);
        return;
    }
    for (int k = 0; k < 2; k++) {
        MPI_Type_get_contents(two[k], n[k][0], n[k][1] + wide, n[k][2], in[k], away[k], olds[k]);
    }
    CHECK(!memcmp(in[0], in[1], sizeof in[0][0] * (size_t)n[0][0]) &&
          !memcmp(away[0], away[1], sizeof away[0][0] * (size_t)n[0][1]));
    for (int i = 0; i < n[0][2]; i++) {
        alike(olds[0][i], olds[1][i]);
        for (int k = 0; k < 2; k++) {
            int combiner, x;
            MPI_Type_get_envelope(olds[k][i], &x, &x, &x, &combiner);
            if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&olds[k][i]);
        }
    }
}

static void arguments(const fact *f, MPI_Datatype t)
{
    int integers = -1, addresses = -1, datatypes = -1, combiner = -1;
    MPI_Count many[4] = {-1, -1, -1, -1};
    MPI_Type_get_envelope(t, &integers, &addresses, &datatypes, &combiner);
    CHECK_EQ(integers, f->integers);
    CHECK_EQ(addresses, f->addresses);
    CHECK_EQ(datatypes, f->datatypes);
    CHECK_EQ(combiner, f->combiner);
    MPI_Type_get_envelope_c(t, &many[0], &many[1], &many[2], &many[3], &combiner);
    CHECK(many[0] == f->integers && many[1] == f->addresses && many[2] == 0 && many[3] == f->datatypes &&
          combiner == f->combiner);
    alike(t, t);
}

static void all(const fact *f, MPI_Datatype t)
{
    bounds(f, t);
    counts(f, t);
    arguments(f, t);
}

/* A committed copy is committed; one of a type that is committed later is not. */
static void copies(const fact *f, int later)
{
    MPI_Datatype t, u;
    fact as = *f;
    char byte = 0;
    int position = 0, code;
    as.combiner = MPI_COMBINER_DUP, as.integers = as.addresses = 0, as.datatypes = 1;
    MPI_Type_dup(f->type, &t);
    MPI_Type_dup(t, &u);
    MPI_Type_free(&t);
    all(&as, u);
    if (later) {
        MPI_Datatype original = f->type;
        MPI_Type_commit(&original);
    }
    code = MPI_Pack(&byte, 0, u, &byte, 0, &position, MPI_COMM_WORLD);
    if (later) CHECK_CLASS(code, MPI_ERR_TYPE);
    else CHECK_EQ(code, MPI_SUCCESS);
    MPI_Type_free(&u);
}

/* Packs one element, and the same in external32, where the first word is reversed if there is one. */
static void uses(MPI_Datatype t, const fact *f)
{
    static char memory[4096], back[4096], packed[1024], again[1024];
    int position = 0;
    MPI_Aint at = 0, from = 0;
    /* small numbers, whatever the type: longs fit 4 bytes */
    for (int i = 0; i < 4096; i++) memory[i] = (char)(i * 7 % 100);
    if (f->external != f->size) memset(memory, 0, sizeof memory);
    memset(back, 0, sizeof back);
    MPI_Pack(memory + 1024, 1, t, packed, sizeof packed, &position, MPI_COMM_WORLD);
    CHECK_EQ(position, f->size);
    MPI_Pack_external("external32", memory + 1024, 1, t, again, sizeof again, &at);
    CHECK_EQ(at, f->external);
    MPI_Unpack_external("external32", again, at, &from, back + 1024, 1, t);
    CHECK_EQ(from, f->external);
    position = 0;
    MPI_Pack(back + 1024, 1, t, again, sizeof again, &position, MPI_COMM_WORLD);
    CHECK(!memcmp(packed, again, (size_t)position));
}

/* The words of a structure are reversed one by one. */
static void words(void)
{
    struct { char c; short s; int i; double d; long long l[2]; float f; } one = {'x', 0x0102, 0x01020304, 1.0,
        {0x0102030405060708, 2}, 2.0f};
    static const unsigned char expected[] = {'x', 1, 2, 1, 2, 3, 4, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7,
                                             8, 0, 0, 0, 0, 0, 0, 0, 2, 0x40, 0, 0, 0};
    int lens[] = {1, 1, 1, 1, 2, 1};
    MPI_Aint at[] = {0, offsetof(__typeof__(one), s), offsetof(__typeof__(one), i), offsetof(__typeof__(one), d),
                     offsetof(__typeof__(one), l), offsetof(__typeof__(one), f)};
    MPI_Datatype of[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_LONG_LONG, MPI_FLOAT}, t, u, v;
    unsigned char packed[3 * sizeof expected];
    MPI_Type_create_struct(6, lens, at, of, &t);
    MPI_Type_create_resized(t, 0, sizeof one, &u);
    MPI_Type_contiguous(2, u, &v);
    MPI_Type_commit(&u);
    MPI_Type_commit(&v);
    for (int turn = 0; turn < 2; turn++) {
        __typeof__(one) in[3] = {one, one, one}, out[3];
        MPI_Aint n = 0, m = 0;
        memset(out, 0, sizeof out);
        MPI_Pack_external("external32", in, 1, u, packed, sizeof packed, &n);
        MPI_Pack_external("external32", in + 1, 1, v, packed, sizeof packed, &n);
        CHECK_EQ(n, 3 * (int)sizeof expected);
        for (int k = 0; k < 3; k++) CHECK(!memcmp(packed + k * sizeof expected, expected, sizeof expected));
        MPI_Unpack_external("external32", packed, n, &m, out, 3, u);
        CHECK_EQ(m, n);
        for (int k = 0; k < 3; k++)
            CHECK(out[k].c == 'x' && out[k].s == one.s && out[k].i == one.i && out[k].d == 1.0 &&
                  out[k].l[0] == one.l[0] && out[k].l[1] == 2 && out[k].f == 2.0f);
    }
    MPI_Type_free(&t);
    MPI_Type_free(&u);
    MPI_Type_free(&v);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    words();
    for (int order = 0; order < 3; order++) { /* asked first, used first, copied first */
        make();
        for (int i = 0; i < n_kinds; i++) {
            fact *f = &kinds[i];
            if (order == 0) all(f, f->type);
            if (order == 2 && f->combiner != MPI_COMBINER_DUP) copies(f, 1);
            MPI_Type_commit(&f->type);
            uses(f->type, f);
            all(f, f->type);
            copies(f, 0);
        }
        for (int i = 0; i < n_kinds; i++) { /* the old types of a type go first */
            for (int k = i; k < n_kinds; k++) all(&kinds[k], kinds[k].type);
            MPI_Type_free(&kinds[i].type);
        }
        int keyval;
        if (order == 1) { /* from now on copies may have attributes */
            MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL);
            MPI_Type_free_keyval(&keyval);
        }
    }
    return check_end();
}
