/* Attributes: set, found, copied by dup as their callbacks say, deleted by delete, overwrite and free. */
#include "../check.h"

static int copies, deletes, refuse, fail, keep;
static void *last_deleted;
static char extra;

static int copy(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
    int rank = -1;
    (void)key;
    CHECK(state == &extra);
    MPI_Comm_rank(comm, &rank);
    CHECK_EQ(rank, check_rank);
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = !refuse;
    return fail ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key;
    CHECK(state == &extra);
    if (keep) return MPI_ERR_OTHER;
    deletes++;
    last_deleted = value;
    return MPI_SUCCESS;
}

static void *get(MPI_Comm comm, int key)
{
    void *value = NULL;
    int flag = -1;
    CHECK_EQ(MPI_Comm_get_attr(comm, key, &value, &flag), MPI_SUCCESS);
    return flag ? value : NULL;
}

/* Functions that change the attributes of the object that they are called for. */
static int first, second, third, act;
enum { LEAVE, DELETE_BOTH, DELETE_FIRST, ADD_FOURTH };
static int calls[4];

static int which(int key) { return key == first ? 0 : key == second ? 1 : key == third ? 2 : 3; }

static int change(MPI_Comm comm, int key, void *value, void *state)
{
    (void)value, (void)state;
    calls[which(key)]++;
    if (key == second && act == DELETE_BOTH) {
        CHECK_EQ(MPI_Comm_delete_attr(comm, first), MPI_SUCCESS);
        CHECK_EQ(MPI_Comm_delete_attr(comm, third), MPI_SUCCESS);
    } else if (key == second && act == DELETE_FIRST) {
        CHECK_EQ(MPI_Comm_delete_attr(comm, first), MPI_SUCCESS);
    } else if (key == second && act == ADD_FOURTH) {
        CHECK_EQ(MPI_Comm_set_attr(comm, third, value), MPI_SUCCESS);
    }
    return MPI_SUCCESS;
}

static int copy_and_change(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
    (void)state;
    if (key == first) CHECK_EQ(MPI_Comm_delete_attr(comm, second), MPI_SUCCESS);
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void with_values(MPI_Comm *c, void *values[3], int what)
{
    MPI_Comm_dup(MPI_COMM_WORLD, c);
    act = LEAVE;
    MPI_Comm_set_attr(*c, first, values[0]);
    MPI_Comm_set_attr(*c, second, values[1]);
    MPI_Comm_set_attr(*c, third, values[2]);
    memset(calls, 0, sizeof calls);
    act = what;
}

static void changed_meanwhile(void)
{
    static char v[4];
    void *values[] = {v, v + 1, v + 2};
    MPI_Comm c, d;
    MPI_Comm_create_keyval(copy_and_change, change, &first, NULL);
    MPI_Comm_create_keyval(copy_and_change, change, &second, NULL);
    MPI_Comm_create_keyval(copy_and_change, change, &third, NULL);

    with_values(&c, values, DELETE_BOTH);
    CHECK_EQ(MPI_Comm_delete_attr(c, second), MPI_SUCCESS);
    CHECK(!get(c, first) && !get(c, second) && !get(c, third));
    MPI_Comm_free(&c);
    CHECK(calls[0] == 1 && calls[1] == 1 && calls[2] == 1);

    with_values(&c, values, DELETE_BOTH); /* the third goes first, then the second takes the first along */
    CHECK_EQ(MPI_Comm_free(&c), MPI_SUCCESS);
    CHECK(calls[0] == 1 && calls[1] == 1 && calls[2] == 1);

    with_values(&c, values, DELETE_FIRST);
    CHECK_EQ(MPI_Comm_set_attr(c, second, v + 3), MPI_SUCCESS);
    CHECK(!get(c, first) && get(c, second) == v + 3 && get(c, third) == v + 2);
    act = LEAVE;
    MPI_Comm_free(&c);
    CHECK(calls[0] == 1 && calls[1] == 2 && calls[2] == 1);

    with_values(&c, values, LEAVE);
    MPI_Comm_delete_attr(c, third);
    act = ADD_FOURTH;
    CHECK_EQ(MPI_Comm_delete_attr(c, second), MPI_SUCCESS);
    CHECK(get(c, first) == v && !get(c, second) && get(c, third) == v + 1);
    act = LEAVE;
    MPI_Comm_free(&c);
    CHECK(calls[0] == 1 && calls[1] == 1 && calls[2] == 2);

    with_values(&c, values, LEAVE); /* copying the first takes the second away */
    CHECK_EQ(MPI_Comm_dup(c, &d), MPI_SUCCESS);
    CHECK(get(d, first) == v && !get(d, second) && get(d, third) == v + 2);
    MPI_Comm_free(&d);
    MPI_Comm_free(&c);
    MPI_Comm_free_keyval(&first);
    MPI_Comm_free_keyval(&second);
    MPI_Comm_free_keyval(&third);
}

/* Very many values are no slower to find than a few; taken away in any order, each is asked once. */
static void many(void)
{
    enum { MANY = 20000 };
    static int keys[MANY], values[MANY];
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    keep = 0;
    deletes = 0;
    for (int i = 0; i < MANY; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &keys[i], &extra);
        MPI_Comm_set_attr(c, keys[i], &values[i]);
    }
    for (int i = 0; i < MANY; i += 7) MPI_Comm_delete_attr(c, keys[i]);
    CHECK_EQ(deletes, (MANY + 6) / 7);
    for (int i = 0; i < MANY; i++) CHECK(get(c, keys[i]) == (i % 7 ? &values[i] : NULL));
    MPI_Comm_free(&c);
    CHECK_EQ(deletes, MANY);
    for (int i = 0; i < MANY; i++) MPI_Comm_free_keyval(&keys[i]);
}

int main(int argc, char **argv)
{
    static char a[4], b[4];
    int key = MPI_KEYVAL_INVALID, plain, shared, spare;
    MPI_Comm c, d;
    check_start(&argc, &argv);
    CHECK_EQ(MPI_Comm_create_keyval(copy, drop, &key, &extra), MPI_SUCCESS);
    CHECK(key != MPI_KEYVAL_INVALID);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &shared, NULL);
    CHECK(plain != shared && plain != key);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    CHECK(get(c, key) == NULL);
    MPI_Comm_set_attr(c, key, a);
    MPI_Comm_set_attr(c, plain, a);
    MPI_Comm_set_attr(c, shared, b);
    CHECK(get(c, key) == a && get(c, plain) == a && get(c, shared) == b);

    /* dup asks the callbacks, each communicator its own value. */
    MPI_Comm_dup(c, &d);
    CHECK_EQ(copies, 1);
    CHECK(get(d, key) == a + 1);
    CHECK(get(d, plain) == NULL);
    CHECK(get(d, shared) == b);
    CHECK(get(c, key) == a);
    /* Overwriting deletes the old value. */
    MPI_Comm_set_attr(d, key, b);
    CHECK_EQ(deletes, 1);
    CHECK(last_deleted == a + 1);
    CHECK(get(d, key) == b);
    MPI_Comm_delete_attr(d, key);
    CHECK_EQ(deletes, 2);
    CHECK(last_deleted == b && get(d, key) == NULL);
    MPI_Comm_free(&d);
    CHECK_EQ(deletes, 2);
    /* The callback may say no. */
    refuse = 1;
    MPI_Comm_dup(c, &d);
    CHECK(get(d, key) == NULL);
    MPI_Comm_free(&d);
    CHECK_EQ(deletes, 2);
    refuse = 0;
    /* split and create do not copy. */
    copies = 0;
    MPI_Comm_split(c, 0, 0, &d);
    CHECK_EQ(copies, 0);
    CHECK(get(d, key) == NULL);
    MPI_Comm_free(&d);
    /* A key that is freed lives on while attributes use it. */
    spare = key;
    MPI_Comm_free_keyval(&spare);
    CHECK_EQ(spare, MPI_KEYVAL_INVALID);
    CHECK(get(c, key) == a);
    MPI_Comm_free(&c);
    CHECK_EQ(deletes, 3);
    CHECK(last_deleted == a);
    MPI_Comm_free_keyval(&plain);
    MPI_Comm_free_keyval(&shared);

    /* A copy that fails makes dup fail. */
    MPI_Comm_create_keyval(copy, drop, &key, &extra);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(c, key, a);
    fail = 1;
    CHECK(MPI_Comm_dup(c, &d) != MPI_SUCCESS);
    fail = 0;
    /* A delete that fails keeps the value, and the communicator. */
    keep = 1;
    CHECK(MPI_Comm_delete_attr(c, key) != MPI_SUCCESS);
    CHECK(get(c, key) == a);
    CHECK(MPI_Comm_set_attr(c, key, b) != MPI_SUCCESS);
    CHECK(get(c, key) == a);
    d = c;
    CHECK(MPI_Comm_free(&d) != MPI_SUCCESS);
    CHECK(get(c, key) == a);
    keep = 0;
    MPI_Comm_free(&c);
    MPI_Comm_free_keyval(&key);

    /* Datatypes have attributes, too. */
    MPI_Datatype t;
    void *value = NULL;
    int flag = -1;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_set_attr(t, key, b);
    MPI_Type_get_attr(t, key, &value, &flag);
    CHECK(flag && value == b);
    MPI_Type_delete_attr(t, key);
    MPI_Type_get_attr(t, key, &value, &flag);
    CHECK_EQ(flag, 0);
    MPI_Type_free(&t);
    MPI_Type_free_keyval(&key);
    changed_meanwhile();
    many();
    return check_end();
}
