/* Attributes of datatypes, with functions of the program's: copied by MPI_Type_dup alone, if the copy function wants
 * that, with the value it gives; deleted by MPI_Type_free, MPI_Type_delete_attr and by setting anew; a function that
 * fails makes the call fail with its code, and leaves type and value. */
/* ranks: 1 2 */
#include "../check.h"

enum { MOST = 64 };
static struct { int what, key; MPI_Datatype type; void *value, *extra; } calls[MOST];
static int n_calls, refusal;

static void note(int what, MPI_Datatype type, int key, void *value, void *extra)
{
    CHECK(n_calls < MOST);
    calls[n_calls].what = what, calls[n_calls].key = key, calls[n_calls].type = type;
    calls[n_calls].value = value, calls[n_calls++].extra = extra;
}

/* The copy of a value is the next one, but of odd ones there is none. */
static int copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    note('c', type, key, in, extra);
    if (refusal) return refusal;
    *flag = (intptr_t)in % 2 == 0;
    *(void **)out = (char *)in + 2;
    return MPI_SUCCESS;
}

static int gone(MPI_Datatype type, int key, void *value, void *extra)
{
    note('d', type, key, value, extra);
    return refusal ? refusal : MPI_SUCCESS;
}

static void called(int i, int what, MPI_Datatype type, int key, intptr_t value, void *extra)
{
    CHECK_SAY(i < n_calls, "call %d of %d", i, n_calls);
    CHECK_EQ(calls[i].what, what);
    CHECK_EQ(calls[i].key, key);
    CHECK(calls[i].type == type);
    CHECK_EQ((intptr_t)calls[i].value, value);
    CHECK(calls[i].extra == extra);
}

static void has(MPI_Datatype type, int key, intptr_t value)
{
    void *got = NULL;
    int flag = -1;
    CHECK_EQ(MPI_Type_get_attr(type, key, &got, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, value != 0);
    if (value) CHECK_EQ((intptr_t)got, value);
}

static void on(MPI_Datatype type, int bytes, int predefined)
{
    int key, other, plain, extra, size;
    MPI_Datatype twin, was;
    MPI_Type_create_keyval(copy, gone, &key, &extra);
    MPI_Type_create_keyval(copy, gone, &other, NULL);
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &plain, NULL);
    n_calls = 0;
    has(type, key, 0);
    MPI_Type_set_attr(type, key, (void *)10);
    MPI_Type_set_attr(type, other, (void *)21);
    MPI_Type_set_attr(type, plain, (void *)33);
    has(type, key, 10), has(type, other, 21), has(type, plain, 33);
    CHECK_EQ(n_calls, 0);

    MPI_Type_dup(type, &twin);
    CHECK_EQ(n_calls, 2);
    called(0, 'c', type, key, 10, &extra);
    called(1, 'c', type, other, 21, NULL);
    has(twin, key, 12), has(twin, other, 0), has(twin, plain, 33);
    has(type, key, 10), has(type, other, 21);

    n_calls = 0;
    MPI_Type_set_attr(twin, key, (void *)40);
    CHECK_EQ(n_calls, 1);
    called(0, 'd', twin, key, 12, &extra);
    has(twin, key, 40), has(type, key, 10);

    /* Built upon, packed, committed: no use of a type copies or deletes. */
    n_calls = 0;
    MPI_Datatype row;
    char in[64] = {0}, out[64];
    int at = 0;
    MPI_Type_contiguous(2, twin, &row);
    MPI_Type_commit(&row);
    MPI_Pack(in, 1, row, out, sizeof out, &at, MPI_COMM_SELF);
    has(row, key, 0);
    MPI_Type_free(&row);
    CHECK_EQ(n_calls, 0);

    if (check_library("libimpi")) { /* others free the type all the same */
        refusal = MPI_ERR_OTHER;
        CHECK_CLASS(MPI_Type_free(&twin), MPI_ERR_OTHER);
        CHECK_CLASS(MPI_Type_delete_attr(twin, key), MPI_ERR_OTHER);
        CHECK_CLASS(MPI_Type_set_attr(twin, key, (void *)50), MPI_ERR_OTHER);
        refusal = 0;
    }
    CHECK(twin != MPI_DATATYPE_NULL);
    has(twin, key, 40);
    MPI_Type_size(twin, &size);
    CHECK_EQ(size, bytes);
    n_calls = 0;
    was = twin;
    MPI_Type_free(&twin);
    CHECK_EQ(n_calls, 1);
    called(0, 'd', was, key, 40, &extra);
    CHECK(twin == MPI_DATATYPE_NULL);

    refusal = MPI_ERR_OTHER;
    twin = MPI_DATATYPE_NULL;
    CHECK_CLASS(MPI_Type_dup(type, &twin), MPI_ERR_OTHER);
    refusal = 0;
    has(type, key, 10);

    /* A key that was freed lives on with its values. */
    int freed = key;
    n_calls = 0;
    MPI_Type_free_keyval(&key);
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
    CHECK_EQ(n_calls, 0);
    MPI_Type_dup(type, &twin);
    CHECK_EQ(n_calls, 2);
    n_calls = 0;
    was = twin;
    MPI_Type_free(&twin);
    CHECK_EQ(n_calls, 1);
    called(0, 'd', was, freed, 12, &extra);
    n_calls = 0;
    MPI_Type_delete_attr(type, other);
    called(0, 'd', type, other, 21, NULL);
    has(type, other, 0);
    MPI_Type_free_keyval(&other);
    if (!predefined) {
        n_calls = 0;
        was = type;
        MPI_Type_free(&type);
        CHECK_EQ(n_calls, 1);
        called(0, 'd', was, freed, 10, &extra);
    } else {
        MPI_Type_delete_attr(type, plain);
        has(type, plain, 0);
    }
    MPI_Type_free_keyval(&plain);
}

/* Keys of communicators are none of types, and the other way round. */
static void kinds_of_keys(void)
{
    int of_type, of_comm, flag;
    void *value;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_type, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comm, NULL);
    CHECK(MPI_Type_set_attr(MPI_INT, of_comm, NULL) != MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(MPI_COMM_SELF, of_type, NULL) != MPI_SUCCESS);
    CHECK(MPI_Type_get_attr(MPI_INT, of_comm, &value, &flag) != MPI_SUCCESS);
    CHECK(MPI_Type_set_attr(MPI_INT, MPI_KEYVAL_INVALID, NULL) != MPI_SUCCESS);
    CHECK_CLASS(MPI_Type_set_attr(MPI_DATATYPE_NULL, of_type, NULL), MPI_ERR_TYPE);
    CHECK(MPI_Type_free_keyval(&of_comm) != MPI_SUCCESS);
    if (check_library("libimpi")) {
        CHECK_CLASS(MPI_Type_set_attr(MPI_INT, of_comm, NULL), MPI_ERR_KEYVAL);
        CHECK_CLASS(MPI_Type_get_attr(MPI_INT, of_comm, &value, &flag), MPI_ERR_KEYVAL);
        CHECK_CLASS(MPI_Type_delete_attr(MPI_INT, of_comm), MPI_ERR_KEYVAL);
        CHECK_CLASS(MPI_Type_get_attr(MPI_INT, of_type, NULL, &flag), MPI_ERR_ARG);
    }
    MPI_Type_free_keyval(&of_type);
    MPI_Comm_free_keyval(&of_comm);
}

int main(int argc, char **argv)
{
    MPI_Datatype t;
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_vector(3, 1, 2, MPI_INT, &t);
    on(t, 12, 0); /* which nobody has used */
    MPI_Type_vector(3, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    on(t, 12, 0);
    on(MPI_DOUBLE, 8, 1);
    kinds_of_keys();
    return check_end();
}
