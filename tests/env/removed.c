/* Programs of 1995 call functions that MPI-3 removed; they still work here. The peers no longer declare them. */
#include "../check.h"

#ifdef MPI_ABI_VERSION

static int copies, deletes;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static int seen;
static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    MPI_Error_class(*code, &seen);
}

static void types(void)
{
    struct { int i; double d; } out = {check_rank + 1, 2.5}, in = {0, 0};
    MPI_Aint at[2], extent, lower, upper;
    MPI_Datatype of[2] = {MPI_INT, MPI_DOUBLE}, type, vector, indexed;
    int length[2] = {1, 1};
    CHECK_EQ(MPI_Address(&out.i, &at[0]), MPI_SUCCESS);
    CHECK_EQ(MPI_Address(&out.d, &at[1]), MPI_SUCCESS);
    CHECK_EQ(at[1] - at[0], (char *)&out.d - (char *)&out.i);
    at[1] -= at[0];
    at[0] = 0;
    CHECK_EQ(MPI_Type_struct(2, length, at, of, &type), MPI_SUCCESS);
    MPI_Type_commit(&type);
    MPI_Type_extent(type, &extent);
    CHECK_EQ(extent, sizeof out);
    MPI_Type_lb(type, &lower);
    MPI_Type_ub(type, &upper);
    CHECK_EQ(lower, 0);
    CHECK_EQ(upper, sizeof out);
    MPI_Sendrecv(&out, 1, type, check_rank, 1, &in, 1, type, check_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in.i == out.i && in.d == out.d);
    MPI_Type_hvector(3, 1, 32, type, &vector);
    MPI_Type_extent(vector, &extent);
    CHECK_EQ(extent, 64 + (MPI_Aint)sizeof out);
    at[1] = 48;
    MPI_Type_hindexed(2, length, at, type, &indexed);
    MPI_Type_extent(indexed, &extent);
    CHECK_EQ(extent, 48 + (MPI_Aint)sizeof out);
    MPI_Type_free(&vector);
    MPI_Type_free(&indexed);
    MPI_Type_free(&type);
}

static void attributes(void)
{
    int key = MPI_KEYVAL_INVALID, flag = -1, word = 7, *found = NULL;
    MPI_Comm other;
    CHECK_EQ(MPI_Keyval_create(copy, drop, &key, NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_Attr_put(MPI_COMM_WORLD, key, &word), MPI_SUCCESS);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    CHECK_EQ(copies, 1);
    MPI_Attr_get(other, key, &found, &flag);
    CHECK(flag && found == &word);
    MPI_Attr_delete(other, key);
    CHECK_EQ(deletes, 1);
    MPI_Attr_get(other, key, &found, &flag);
    CHECK_EQ(flag, 0);
    MPI_Comm_free(&other);
    CHECK_EQ(deletes, 1);
    MPI_Attr_delete(MPI_COMM_WORLD, key);
    CHECK_EQ(deletes, 2);
    MPI_Keyval_free(&key);
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
    MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    CHECK(flag && *found >= 32767);
}

static void handlers(void)
{
    MPI_Errhandler mine, old;
    CHECK_EQ(MPI_Errhandler_create(note, &mine), MPI_SUCCESS);
    MPI_Errhandler_get(MPI_COMM_WORLD, &old);
    CHECK_EQ(MPI_Errhandler_set(MPI_COMM_WORLD, mine), MPI_SUCCESS);
    MPI_Send(NULL, 0, MPI_INT, check_size + 5, 0, MPI_COMM_WORLD);
    CHECK_EQ(seen, MPI_ERR_RANK);
    MPI_Errhandler_set(MPI_COMM_WORLD, old);
    MPI_Errhandler_free(&mine);
    CHECK(mine == MPI_ERRHANDLER_NULL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    types();
    attributes();
    handlers();
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_end();
}

#endif
