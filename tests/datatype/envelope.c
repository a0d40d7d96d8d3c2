/* A type says how it was made: Get_envelope and Get_contents give back the arguments of its constructor. */
/* ranks: 1 2 */
#include "../check.h"

static void made_by(MPI_Datatype type, int combiner, int integers, int addresses, int types)
{
    int ni = -1, na = -1, nd = -1, c = -1;
    CHECK_EQ(MPI_Type_get_envelope(type, &ni, &na, &nd, &c), MPI_SUCCESS);
    CHECK_EQ(c, combiner);
    CHECK_EQ(ni, integers);
    CHECK_EQ(na, addresses);
    CHECK_EQ(nd, types);
}

int main(int argc, char **argv)
{
    int i[16], lengths[2] = {3, 1}, at[2] = {0, 7}, n = -1;
    MPI_Aint a[4], bytes[2] = {-8, 80};
    MPI_Datatype d[4], t, pair, of[2] = {MPI_INT, MPI_DOUBLE};
    check_start(&argc, &argv);
    made_by(MPI_INT, MPI_COMBINER_NAMED, 0, 0, 0);
    MPI_Type_contiguous(4, MPI_INT, &t);
    made_by(t, MPI_COMBINER_CONTIGUOUS, 1, 0, 1);
    MPI_Type_get_contents(t, 1, 0, 1, i, a, d);
    CHECK(i[0] == 4 && d[0] == MPI_INT);
    MPI_Type_free(&t);
    MPI_Type_vector(2, 3, 5, MPI_CHAR, &t);
    made_by(t, MPI_COMBINER_VECTOR, 3, 0, 1);
    MPI_Type_get_contents(t, 3, 0, 1, i, a, d);
    CHECK(i[0] == 2 && i[1] == 3 && i[2] == 5 && d[0] == MPI_CHAR);
    MPI_Type_free(&t);
    MPI_Type_create_hvector(2, 3, -40, MPI_CHAR, &t);
    made_by(t, MPI_COMBINER_HVECTOR, 2, 1, 1);
    MPI_Type_get_contents(t, 2, 1, 1, i, a, d);
    CHECK(i[0] == 2 && i[1] == 3 && a[0] == -40);
    MPI_Type_free(&t);
    MPI_Type_indexed(2, lengths, at, MPI_INT, &t);
    made_by(t, MPI_COMBINER_INDEXED, 5, 0, 1);
    MPI_Type_get_contents(t, 5, 0, 1, i, a, d);
    CHECK(i[0] == 2 && i[1] == 3 && i[2] == 1 && i[3] == 0 && i[4] == 7);
    MPI_Type_free(&t);
    MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &t);
    made_by(t, MPI_COMBINER_HINDEXED, 3, 2, 1);
    MPI_Type_get_contents(t, 3, 2, 1, i, a, d);
    CHECK(i[1] == 3 && a[0] == -8 && a[1] == 80);
    MPI_Type_free(&t);
    MPI_Type_create_indexed_block(2, 3, at, MPI_INT, &t);
    made_by(t, MPI_COMBINER_INDEXED_BLOCK, 4, 0, 1);
    MPI_Type_free(&t);
    MPI_Type_create_hindexed_block(2, 3, bytes, MPI_INT, &t);
    made_by(t, MPI_COMBINER_HINDEXED_BLOCK, 2, 2, 1);
    MPI_Type_free(&t);
    MPI_Type_create_resized(MPI_INT, -4, 12, &t);
    made_by(t, MPI_COMBINER_RESIZED, 0, 2, 1);
    MPI_Type_get_contents(t, 0, 2, 1, i, a, d);
    CHECK(a[0] == -4 && a[1] == 12 && d[0] == MPI_INT);
    MPI_Type_free(&t);
    {
        int sizes[2] = {4, 5}, part[2] = {1, 2}, start[2] = {3, 0};
        MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_FORTRAN, MPI_INT, &t);
        made_by(t, MPI_COMBINER_SUBARRAY, 8, 0, 1);
        MPI_Type_get_contents(t, 8, 0, 1, i, a, d);
        static const int want[7] = {2, 4, 5, 1, 2, 3, 0};
        for (int k = 0; k < 7; k++) CHECK_EQ(i[k], want[k]);
        CHECK_EQ(i[7], MPI_ORDER_FORTRAN);
        MPI_Type_free(&t);
    }
    /* Derived types come back as handles of their own, to be freed. */
    MPI_Type_contiguous(2, MPI_INT, &pair);
    of[0] = pair;
    MPI_Type_create_struct(2, lengths, bytes, of, &t);
    MPI_Type_free(&pair);
    made_by(t, MPI_COMBINER_STRUCT, 3, 2, 2);
    MPI_Type_get_contents(t, 3, 2, 2, i, a, d);
    CHECK(i[0] == 2 && i[1] == 3 && i[2] == 1 && a[0] == -8 && a[1] == 80 && d[1] == MPI_DOUBLE);
    MPI_Type_size(d[0], &n);
    CHECK_EQ(n, 8);
    made_by(d[0], MPI_COMBINER_CONTIGUOUS, 1, 0, 1);
    MPI_Type_free(&d[0]);
    MPI_Type_dup(t, &pair);
    made_by(pair, MPI_COMBINER_DUP, 0, 0, 1);
    MPI_Type_get_contents(pair, 0, 0, 1, i, a, d);
    MPI_Type_free(&d[0]);
    MPI_Type_free(&pair);
    MPI_Type_free(&t);

    char name[MPI_MAX_OBJECT_NAME];
    MPI_Type_get_name(MPI_DOUBLE, name, &n);
    CHECK(!strcmp(name, "MPI_DOUBLE"));
    CHECK_EQ(n, 10);
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_get_name(t, name, &n);
    CHECK(n == 0 && name[0] == 0);
    MPI_Type_set_name(t, "two ints");
    MPI_Type_get_name(t, name, &n);
    CHECK(!strcmp(name, "two ints"));
    MPI_Type_free(&t);
    return check_end();
}
