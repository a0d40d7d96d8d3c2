/* A datatype that is made, freed and made again with the same arguments is a new one each time: it is not committed,
 * has no name and no attributes, and no handle of an earlier one leads to it. One whose arguments differ anywhere is
 * another type. */
/* ranks: 1 2 */
#include "../check.h"
#include <pthread.h>

enum { KINDS = 12 };
static int ones[3] = {1, 2, 1}, at[3] = {0, 3, 7}, sizes[2] = {6, 8}, sub[2] = {2, 3}, start[2] = {1, 2};
static int distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
static int psizes[2] = {2, 1};
static MPI_Aint bytes[3] = {0, 24, 72};
static MPI_Datatype of[3];

/* One of each constructor. */
static MPI_Datatype made(int how)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    switch (how) {
    case 0: MPI_Type_contiguous(5, MPI_INT, &t); break;
    case 1: MPI_Type_vector(4, 2, 3, MPI_INT, &t); break;
    case 2: MPI_Type_create_hvector(4, 2, 20, MPI_INT, &t); break;
    case 3: MPI_Type_indexed(3, ones, at, MPI_INT, &t); break;
    case 4: MPI_Type_create_hindexed(3, ones, bytes, MPI_INT, &t); break;
    case 5: MPI_Type_create_indexed_block(3, 2, at, MPI_INT, &t); break;
    case 6: MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &t); break;
    case 7: MPI_Type_create_struct(3, ones, bytes, of, &t); break;
    case 8: MPI_Type_create_resized(MPI_INT, -4, 16, &t); break;
    case 9: MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_INT, &t); break;
    case 10: MPI_Type_create_darray(2, 1, 2, sizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &t); break;
    default: MPI_Type_dup(MPI_INT, &t); break;
    }
    return t;
}

/* What a program can ask of a type. */
struct answers {
    int size, combiner, n[3], integers[16];
    MPI_Aint lb, extent, true_lb, true_extent, addresses[8];
    MPI_Datatype types[3];
};

static struct answers asked(MPI_Datatype t)
{
    struct answers a;
    memset(&a, 0, sizeof a);
    MPI_Type_size(t, &a.size);
    MPI_Type_get_extent(t, &a.lb, &a.extent);
    MPI_Type_get_true_extent(t, &a.true_lb, &a.true_extent);
    MPI_Type_get_envelope(t, &a.n[0], &a.n[1], &a.n[2], &a.combiner);
    MPI_Type_get_contents(t, a.n[0], a.n[1], a.n[2], a.integers, a.addresses, a.types);
    return a;
}

/* The bytes of a packed element. */
static void packed(MPI_Datatype t, char *out, int *n)
{
    char in[1024];
    for (int i = 0; i < (int)sizeof in; i++) in[i] = (char)i;
    *n = 0;
    MPI_Pack(in + 64, 1, t, out, 1024, n, MPI_COMM_SELF);
}

static void refused(MPI_Datatype t)
{
    char in[512] = {0}, out[512];
    int position = 0, size;
    CHECK_CLASS(MPI_Pack(in + 64, 1, t, out, sizeof out, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Send(in + 64, 1, t, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_EQ(position, 0);
    if (MPI_Type_size(t, &size) == MPI_SUCCESS) return;
    MPI_Datatype copy = t;
    CHECK_CLASS(MPI_Type_commit(&copy), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_free(&copy), MPI_ERR_TYPE);
    CHECK_EQ(copy, t);
}

static void equal_arguments(void)
{
    for (int how = 0; how < KINDS; how++) {
        MPI_Datatype t = made(how), was[4];
        char first[1024], later[1024];
        int n = 0, m = 0, life = 0;
        MPI_Type_commit(&t);
        struct answers a = asked(t);
        packed(t, first, &n);
        CHECK_EQ(n, a.size);
        was[0] = t;
        MPI_Type_free(&t);
        for (life = 1; life < 4; life++) {
            t = made(how);
            for (int i = 0; i < life; i++) {
                CHECK(was[i] != t);
                refused(was[i]);
                if (MPI_Type_toint(was[i]) == MPI_Type_toint(t)) CHECK_EQ(MPI_Type_fromint(MPI_Type_toint(was[i])), t);
            }
            if (how < KINDS - 1) refused(t); /* a copy of MPI_INT is committed */
            struct answers b = asked(t);
            CHECK(memcmp(&a, &b, sizeof a) == 0);
            if (life != 2) { /* one life without use */
                MPI_Type_commit(&t);
                packed(t, later, &m);
                CHECK(m == n && memcmp(first, later, n) == 0);
            }
            was[life] = t;
            MPI_Type_free(&t);
            CHECK_EQ(MPI_Type_fromint(MPI_Type_toint(was[life])), MPI_DATATYPE_NULL);
        }
    }
}

/* Two types that are alike live at once. */
static void twins(void)
{
    MPI_Datatype t = made(1), u = made(1), v;
    char out[1024];
    int n;
    CHECK(t != u);
    MPI_Type_commit(&t);
    refused(u);
    MPI_Type_free(&t);
    refused(u);
    v = made(1);
    CHECK(v != u);
    MPI_Type_commit(&u);
    refused(v);
    packed(u, out, &n);
    CHECK_EQ(n, 32);
    MPI_Type_free(&u);
    refused(v);
    MPI_Type_free(&v);
}

static MPI_Aint extent_of(MPI_Datatype t)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(t, &lb, &extent);
    return extent;
}

static void nearly_equal_arguments(void)
{
    MPI_Datatype t;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++) { /* one entry of an array */
            at[2] = 7 + i;
            t = made(3);
            CHECK_EQ(extent_of(t), 4 * (8 + i));
            MPI_Type_free(&t);
            t = made(5);
            CHECK_EQ(extent_of(t), 4 * (9 + i));
            MPI_Type_free(&t);
        }
        at[2] = 7;
        for (int i = 0; i < 2; i++) { /* the order of the old types, and these */
            MPI_Datatype mixed[2] = {i ? MPI_CHAR : MPI_DOUBLE, i ? MPI_DOUBLE : MPI_CHAR};
            MPI_Type_create_struct(2, ones, bytes, mixed, &t);
            CHECK_EQ(extent_of(t), i ? 40 : 32);
            MPI_Type_free(&t);
            MPI_Type_vector(4, 2, 3, i ? MPI_INT : MPI_FLOAT, &t);
            struct answers a = asked(t);
            CHECK_EQ(a.types[0], i ? MPI_INT : MPI_FLOAT);
            MPI_Type_free(&t);
        }
        for (int i = 0; i < 2; i++) { /* an order, a scalar, a combiner */
            MPI_Type_create_subarray(2, sizes, sub, start, i ? MPI_ORDER_C : MPI_ORDER_FORTRAN, MPI_INT, &t);
            MPI_Aint lb, extent;
            MPI_Type_get_true_extent(t, &lb, &extent);
            CHECK_EQ(lb, i ? 40 : 52);
            MPI_Type_free(&t);
            MPI_Type_vector(3, 2, 3 + i, MPI_INT, &t);
            CHECK_EQ(extent_of(t), 4 * (8 + 2 * i));
            MPI_Type_free(&t);
            t = made(3 + i);
            CHECK_EQ(asked(t).combiner, i ? MPI_COMBINER_HINDEXED : MPI_COMBINER_INDEXED);
            MPI_Type_free(&t);
        }
        for (int i = 0; i < 2; i++) { /* the form with large counts */
            MPI_Count n[3], addresses, large, types, lens[3] = {1, 2, 1}, where[3] = {0, 3, 7};
            int combiner;
            if (i) t = made(3);
            else MPI_Type_indexed_c(3, lens, where, MPI_INT, &t);
            MPI_Type_get_envelope_c(t, &n[0], &addresses, &large, &types, &combiner);
            CHECK_EQ(n[0], i ? 7 : 0);
            CHECK_EQ(large, i ? 0 : 7);
            MPI_Type_free(&t);
        }
    }
}

/* The old type may be one that is made again, too, or another in its place. */
static void of_derived_types(void)
{
    for (int i = 0; i < 6; i++) {
        MPI_Datatype old, t;
        char out[1024];
        int n;
        MPI_Type_vector(2, 1, 2 + i % 2, MPI_INT, &old);
        MPI_Type_create_resized(old, 0, 32, &t);
        MPI_Type_free(&old);
        MPI_Type_commit(&t);
        packed(t, out, &n);
        CHECK_EQ(n, 8);
        CHECK_EQ(out[4], 64 + 8 + 4 * (i % 2));
        MPI_Type_free(&t);
    }
}

static int deleted(MPI_Datatype t, int key, void *value, void *count)
{
    (void)t, (void)key, (void)value;
    ++*(int *)count;
    return MPI_SUCCESS;
}

static void names_and_attributes(void)
{
    int key, count = 0, n, flag;
    char name[MPI_MAX_OBJECT_NAME];
    void *value;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, deleted, &key, &count);
    for (int i = 0; i < 6; i++) {
        MPI_Datatype t = made(4);
        MPI_Type_get_attr(t, key, &value, &flag);
        CHECK_EQ(flag, 0);
        MPI_Type_get_name(t, name, &n);
        CHECK_EQ(n, 0);
        if (i % 2) MPI_Type_set_attr(t, key, &count);
        if (i % 3) MPI_Type_set_name(t, "a type of mine");
        MPI_Type_free(&t);
        CHECK_EQ(count, (i + 1) / 2);
    }
    MPI_Type_free_keyval(&key);
}

/* A receive that has begun needs its type, and not the handle. A twin of it is another type. */
static void pending(int how)
{
    int in[128], out[128];
    MPI_Request r;
    for (int round = 0; round < 3; round++) {
        MPI_Datatype t = made(how), u;
        for (int i = 0; i < 128; i++) {
            in[i] = i;
            out[i] = -1;
        }
        MPI_Type_commit(&t);
        MPI_Irecv(out, 1, t, check_rank, 3, MPI_COMM_WORLD, &r);
        MPI_Type_free(&t);
        u = made(how);
        t = made(1 - how);
        MPI_Type_commit(&u);
        MPI_Send(in, 1, u, check_rank, 3, MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Type_free(&t);
        MPI_Aint size = asked(u).size / 4, reach = extent_of(u) / 4;
        int there = 0;
        for (int i = 0; i < 128; i++) {
            CHECK(out[i] == -1 || (out[i] == i && i < reach));
            there += out[i] == i;
        }
        CHECK_EQ(there, size);
        MPI_Type_free(&u);
    }
}

/* More types than are kept for another life, of short and of long lists, all alive at once. */
static void thousands(void)
{
    enum { MANY = 3000,
           LONG = 40 };
    static MPI_Datatype t[MANY];
    int where[LONG];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            for (int j = 0; j < LONG; j++) where[j] = 2 * j;
            where[LONG - 1] += i;
            MPI_Type_create_indexed_block(i % 2 ? LONG : 2, 1, i % 2 ? where : where + LONG - 2, MPI_INT, &t[i]);
            CHECK_EQ(extent_of(t[i]), 4 * (i % 2 ? 2 * LONG - 1 + i : 3 + i));
            MPI_Type_commit(&t[i]);
        }
        for (int i = 0; i < MANY; i++) MPI_Type_free(&t[round == 1 ? MANY - 1 - i : i]);
    }
}

static void *worker(void *arg)
{
    int id = *(int *)arg;
    char want[KINDS][1024], got[1024];
    int n[KINDS], m;
    for (int how = 0; how < KINDS; how++) {
        MPI_Datatype t = made(how);
        MPI_Type_commit(&t);
        packed(t, want[how], &n[how]);
        MPI_Type_free(&t);
    }
    for (int i = 0; i < 3000; i++) {
        int how = (i * (id + 1)) % KINDS;
        MPI_Datatype t = made(how), u = made((how + 1) % KINDS);
        MPI_Type_commit(&t);
        packed(t, got, &m);
        CHECK(m == n[how] && memcmp(got, want[how], m) == 0);
        MPI_Type_free(&t);
        CHECK_EQ(extent_of(u) > 0, 1);
        MPI_Type_free(&u);
    }
    return NULL;
}

static void threads(void)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    int id[THREADS];
    for (int i = 0; i < THREADS; i++) {
        id[i] = i;
        CHECK(pthread_create(&thread[i], NULL, worker, &id[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    of[0] = MPI_INT, of[1] = MPI_SHORT, of[2] = MPI_DOUBLE;
    equal_arguments();
    twins();
    nearly_equal_arguments();
    of_derived_types();
    names_and_attributes();
    pending(0);
    pending(1);
    thousands();
    if (provided >= MPI_THREAD_MULTIPLE) threads();
    return check_end();
}
