/* Sizes and extents of every constructor on examples worked by hand; commit, free and dup. */
/* ranks: 1 2 */
#include "../check.h"

static void is(MPI_Datatype *type, int size, MPI_Aint lb, MPI_Aint extent, MPI_Aint true_lb, MPI_Aint true_extent,
               const char *what)
{
    int n = -1;
    MPI_Aint a, b;
    MPI_Count wide = -1;
    CHECK_EQ(MPI_Type_commit(type), MPI_SUCCESS);
    MPI_Type_size(*type, &n);
    CHECK_SAY(n == size, "%s: size is %d, not %d", what, n, size);
    MPI_Type_size_x(*type, &wide);
    CHECK_EQ(wide, size);
    MPI_Type_get_extent(*type, &a, &b);
    CHECK_SAY(a == lb && b == extent, "%s: extent is %ld from %ld, not %ld from %ld", what, (long)b, (long)a,
              (long)extent, (long)lb);
    MPI_Type_get_true_extent(*type, &a, &b);
    CHECK_SAY(a == true_lb && b == true_extent, "%s: true extent is %ld from %ld, not %ld from %ld", what, (long)b,
              (long)a, (long)true_extent, (long)true_lb);
    CHECK_EQ(MPI_Type_free(type), MPI_SUCCESS);
    CHECK(*type == MPI_DATATYPE_NULL);
}

/* A type that is a part of another one keeps its padding there, wherever it is placed. */
static void parts_keep_their_padding(void)
{
    int one[2] = {1, 1}, few[2] = {2, 3};
    MPI_Aint at[2] = {0, 8}, odd[2] = {1, 21}, lb, extent, part;
    MPI_Datatype of[2] = {MPI_DOUBLE, MPI_CHAR}, padded, apart, t;
    MPI_Type_create_struct(2, one, at, of, &padded); /* 9 bytes of 16 */
    of[0] = MPI_CHAR;
    of[1] = padded;
    MPI_Type_create_struct(2, one, odd, of, &t); /* ends at 37, from 1 on: 36 are 40 */
    is(&t, 10, 1, 40, 1, 29, "struct of a struct at an odd place");

    MPI_Type_create_hvector(3, 4, 25, MPI_INT, &apart);
    MPI_Type_get_extent(apart, &lb, &part);
    MPI_Type_create_hvector(2, 3, 4 * part + 1, apart, &t);
    MPI_Type_get_extent(t, &lb, &extent);
    CHECK_SAY(extent >= 4 * part + 1 + 3 * part, "blocks of 3 elements of %ld bytes, %ld apart, take %ld", (long)part,
              (long)(4 * part + 1), (long)extent);
    is(&t, 288, 0, extent, 0, 6 * part + 1 + 66, "hvector of hvectors");
    MPI_Type_create_hindexed(2, few, odd, apart, &t);
    MPI_Type_get_extent(t, &lb, &extent);
    CHECK_SAY(lb == 1 && lb + extent >= 21 + 3 * part, "3 elements of %ld bytes at 21 end at %ld", (long)part,
              (long)(lb + extent));
    MPI_Type_free(&t);
    MPI_Type_free(&apart);
    MPI_Type_free(&padded);
}

int main(int argc, char **argv)
{
    MPI_Datatype t, u;
    int lengths[3] = {2, 0, 1}, at[3] = {4, 9, 1}, sizes[3] = {4, 5, 6}, part[3] = {2, 3, 1}, start[3] = {1, 0, 5};
    MPI_Aint bytes[3] = {16, 96, -8};
    check_start(&argc, &argv);

    MPI_Type_contiguous(5, MPI_INT, &t);
    is(&t, 20, 0, 20, 0, 20, "contiguous");
    MPI_Type_contiguous(0, MPI_INT, &t);
    is(&t, 0, 0, 0, 0, 0, "contiguous of nothing");
    MPI_Type_vector(3, 2, 4, MPI_INT, &t);
    is(&t, 24, 0, 40, 0, 40, "vector");
    MPI_Type_vector(3, 2, -4, MPI_INT, &t);
    is(&t, 24, -32, 40, -32, 40, "vector backwards");
    MPI_Type_create_hvector(3, 1, 10, MPI_SHORT, &t);
    is(&t, 6, 0, 22, 0, 22, "hvector");
    MPI_Type_indexed(3, lengths, at, MPI_DOUBLE, &t);
    is(&t, 24, 8, 40, 8, 40, "indexed");
    MPI_Type_create_hindexed(3, lengths, bytes, MPI_DOUBLE, &t);
    is(&t, 24, -8, 40, -8, 40, "hindexed");
    MPI_Type_create_indexed_block(3, 2, at, MPI_INT, &t);
    is(&t, 24, 4, 40, 4, 40, "indexed_block");
    MPI_Type_create_hindexed_block(2, 2, bytes, MPI_INT, &t);
    is(&t, 16, 16, 88, 16, 88, "hindexed_block");
    MPI_Type_create_subarray(3, sizes, part, start, MPI_ORDER_C, MPI_INT, &t);
    is(&t, 24, 0, 480, 4 * (1 * 30 + 5), 4 * (30 + 12 + 1), "subarray, C");
    MPI_Type_create_subarray(3, sizes, part, start, MPI_ORDER_FORTRAN, MPI_INT, &t);
    is(&t, 24, 0, 480, 4 * (1 + 5 * 20), 4 * (2 * 4 + 2), "subarray, Fortran");
    MPI_Type_create_resized(MPI_INT, -4, 16, &t);
    is(&t, 4, -4, 16, 0, 4, "resized");
    MPI_Type_create_resized(MPI_INT, -4, 16, &u);
    MPI_Type_contiguous(3, u, &t);
    is(&t, 12, -4, 48, 0, 36, "contiguous of resized");
    MPI_Type_dup(u, &t);
    MPI_Type_free(&u);
    is(&t, 4, -4, 16, 0, 4, "dup");
    {
        struct { char c; double d[2]; int i; } s;
        int n[3] = {1, 2, 1};
        MPI_Aint place[3] = {0, (char *)s.d - (char *)&s, (char *)&s.i - (char *)&s};
        MPI_Datatype of[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
        MPI_Type_create_struct(3, n, place, of, &t);
        is(&t, 21, 0, sizeof s, 0, place[2] + 4, "struct, padded as the compiler does");
    }
    {
        int n[2] = {1, 1};
        MPI_Aint place[2] = {1, 9};
        MPI_Datatype of[2] = {MPI_CHAR, MPI_CHAR};
        MPI_Type_create_struct(2, n, place, of, &t);
        is(&t, 2, 1, 9, 1, 9, "struct of chars");
    }
    parts_keep_their_padding();
    MPI_Type_commit(&(MPI_Datatype){MPI_INT}); /* allowed, does nothing */
    return check_end();
}
