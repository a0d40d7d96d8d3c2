/* Datatypes live as long as somebody needs them: old types may be freed before the new one is used, a handle that was
 * freed is an error for ever, a million types leave nothing behind, and threads may make, use and free types at once.
 * Nothing shows whether a type was ever used between its construction and its end. */
/* ranks: 1 2 */
#include "../check.h"
#include <pthread.h>
#include <unistd.h>

/* What eight doubles of a 4 x 4 corner are: rows of two, from row and column 1 on. */
static const int corner[4] = {5, 6, 9, 10};

static void packs_to(MPI_Datatype type, const int *at, int n)
{
    double in[64], out[64];
    int position = 0;
    for (int i = 0; i < 64; i++) in[i] = i;
    MPI_Pack(in, 1, type, out, sizeof out, &position, MPI_COMM_SELF);
    CHECK_EQ(position, n * (int)sizeof(double));
    for (int i = 0; i < n; i++) CHECK_EQ(out[i], at[i]);
}

/* The same corner by every constructor, from an old type that is freed at once, so that only the new one needs it. */
static MPI_Datatype cornered(int how)
{
    int ones[2] = {1, 1}, twos[2] = {2, 2}, rows[2] = {5, 9}, pairs[4] = {5, 6, 9, 10}, all[4] = {1, 1, 1, 1};
    int sizes[2] = {4, 4}, sub[2] = {2, 2}, start[2] = {1, 1};
    MPI_Aint bytes[2] = {40, 72};
    MPI_Datatype element, t, u, of[2];
    MPI_Type_contiguous(1, MPI_DOUBLE, &element);
    switch (how) {
    case 0: MPI_Type_indexed(2, twos, rows, element, &t); break;
    case 1: MPI_Type_create_hindexed(2, twos, bytes, element, &t); break;
    case 2: MPI_Type_create_indexed_block(2, 2, rows, element, &t); break;
    case 3: MPI_Type_create_hindexed_block(2, 2, bytes, element, &t); break;
    case 4: MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, element, &t); break;
    case 5: MPI_Type_indexed(4, all, pairs, element, &t); break;
    case 6:
        MPI_Type_vector(1, 2, 7, element, &u);
        of[0] = of[1] = u;
        MPI_Type_create_struct(2, ones, bytes, of, &t);
        MPI_Type_free(&u);
        break;
    default:
        MPI_Type_create_hvector(2, 2, 32, element, &u);
        MPI_Type_free(&element);
        MPI_Type_create_hindexed_block(1, 1, bytes, u, &element);
        MPI_Type_free(&u);
        MPI_Type_create_resized(element, -8, 240, &t);
    }
    MPI_Type_free(&element);
    CHECK_EQ(element, MPI_DATATYPE_NULL);
    return t;
}

static void old_types_go_first(void)
{
    for (int how = 0; how < 8; how++) {
        MPI_Datatype t = cornered(how), u, copy;
        int size = -1;
        MPI_Type_size(t, &size);
        CHECK_EQ(size, 32);
        MPI_Type_contiguous(1, t, &u); /* of one that nobody has used */
        MPI_Type_commit(&u);
        packs_to(u, corner, 4);
        MPI_Type_commit(&t);
        packs_to(t, corner, 4);
        MPI_Type_free(&u);
        MPI_Type_contiguous(1, t, &u); /* of one that was used */
        MPI_Type_dup(t, &copy);
        MPI_Type_free(&t);
        MPI_Type_commit(&u);
        packs_to(u, corner, 4);
        packs_to(copy, corner, 4);
        MPI_Type_free(&copy);
        MPI_Type_free(&u);
    }
}

static void stale(MPI_Datatype t)
{
    int size, position = 0;
    char in[64] = {0}, out[64];
    MPI_Aint lb, extent;
    MPI_Datatype u = MPI_DATATYPE_NULL, copy = t;
    CHECK_CLASS(MPI_Type_size(t, &size), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_get_extent(t, &lb, &extent), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_contiguous(2, t, &u), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Pack(in, 1, t, out, sizeof out, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_commit(&copy), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_free(&copy), MPI_ERR_TYPE);
    CHECK_EQ(copy, t);
    CHECK_EQ(u, MPI_DATATYPE_NULL);
}

static void freed_handles_are_errors(void)
{
    MPI_Datatype t, u, was;
    int size, position = 0;
    char in[64] = {0}, out[64];
    MPI_Aint lb, extent;
    MPI_Type_vector(2, 1, 2, MPI_INT, &t);
    was = t;
    MPI_Type_free(&t);
    stale(was);
    MPI_Type_vector(2, 1, 2, MPI_INT, &t); /* likely in the place of the first */
    CHECK(t != was);
    stale(was);
    MPI_Type_get_extent(t, &lb, &extent);
    CHECK_EQ(extent, 12);
    CHECK_CLASS(MPI_Pack(in, 1, t, out, sizeof out, &position, MPI_COMM_SELF), MPI_ERR_TYPE); /* not committed */
    MPI_Type_contiguous(2, t, &u);
    was = t;
    MPI_Type_free(&t);
    stale(was); /* though u needs it */
    CHECK_CLASS(MPI_Pack(in, 1, u, out, sizeof out, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
    MPI_Type_commit(&u);
    MPI_Pack(in, 1, u, out, sizeof out, &position, MPI_COMM_SELF);
    CHECK_EQ(position, 16);
    MPI_Type_size(u, &size);
    CHECK_EQ(size, 16);
    MPI_Type_free(&u);
    stale(was);
}

static void numbers_are_handles(void)
{
    MPI_Datatype t, u;
    MPI_Type_contiguous(3, MPI_INT, &t);
    MPI_Type_contiguous(3, MPI_INT, &u);
    int n = MPI_Type_toint(t);
    CHECK(n != MPI_Type_toint(u));
    CHECK_EQ(MPI_Type_fromint(n), t);
    MPI_Type_free(&t);
    CHECK_EQ(MPI_Type_fromint(n), MPI_DATATYPE_NULL);
    CHECK_EQ(MPI_Type_fromint(MPI_Type_toint(u)), u);
    MPI_Type_free(&u);
}

/* Sizes that 64 bits cannot hold are refused, however many types they are spread over. */
static void what_is_too_large(void)
{
    MPI_Datatype t = MPI_DOUBLE, u = MPI_DATATYPE_NULL;
    int err = MPI_SUCCESS, steps = 0;
    while (err == MPI_SUCCESS && steps < 100) {
        err = MPI_Type_contiguous(1 << 10, t, &u);
        if (t != MPI_DOUBLE && err == MPI_SUCCESS) MPI_Type_free(&t);
        if (err == MPI_SUCCESS) {
            t = u;
            steps++;
        }
    }
    CHECK_CLASS(err, MPI_ERR_VALUE_TOO_LARGE);
    CHECK_EQ(steps, 5); /* 2^53 bytes */
    MPI_Type_free(&t);
}

/* A chain of types each made of the last, far longer than records are nested. */
static void long_chains(void)
{
    MPI_Datatype t, u;
    int at[2] = {0, 1}, size = 0;
    MPI_Type_create_indexed_block(2, 1, at, MPI_DOUBLE, &t);
    for (int i = 0; i < 1000; i++) {
        MPI_Type_contiguous(1, t, &u);
        MPI_Type_free(&t);
        t = u;
    }
    MPI_Type_size(t, &size);
    CHECK_EQ(size, 16);
    MPI_Type_commit(&t);
    packs_to(t, at, 2);
    MPI_Type_free(&t);
}

static long resident_pages(void)
{
    long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &all, &resident) == 2);
    fclose(f);
    return resident;
}

/* Each is a type with arrays that do not fit a record; every thousandth is used. */
static void many(int n)
{
    enum { LONG = 64 };
    int at[LONG];
    for (int i = 0; i < LONG; i++) at[i] = 2 * i * i;
    for (int i = 0; i < n; i++) {
        MPI_Datatype t, u;
        MPI_Aint lb, extent;
        MPI_Type_create_indexed_block(LONG, 1, at, MPI_CHAR, &t);
        MPI_Type_create_resized(t, 0, 100000, &u);
        if (i % 2000 == 0) MPI_Type_get_extent(t, &lb, &extent);
        MPI_Type_free(&t);
        MPI_Type_commit(&u);
        if (i % 1000 == 0) {
            MPI_Type_get_extent(u, &lb, &extent);
            CHECK_EQ(extent, 100000);
        }
        MPI_Type_free(&u);
    }
}

static void nothing_is_left_behind(void)
{
    many(20000);
    long before = resident_pages();
    many(1000000);
    long grown = (resident_pages() - before) * sysconf(_SC_PAGESIZE);
    CHECK_SAY(grown < 32 << 20, "a million types left %ld bytes behind", grown); /* they had 256 MiB of arguments */
}

static MPI_Datatype shared;

static void *worker(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        MPI_Datatype t, u;
        int where[5] = {5, 6, 9, 10, 0};
        MPI_Type_contiguous(1, shared, &t);
        MPI_Type_create_resized(t, 0, 8 * (i % 7), &u);
        MPI_Type_free(&t);
        MPI_Type_commit(&u);
        if ((i + *(int *)arg) % 3 == 0) packs_to(u, where, 4);
        if (i % 5 == 0) {
            MPI_Type_dup(u, &t);
            packs_to(t, where, 4);
            MPI_Type_free(&t);
        }
        MPI_Type_free(&u);
    }
    return NULL;
}

static void threads(int provided)
{
    enum { THREADS = 4 };
    pthread_t of[THREADS];
    int number[THREADS];
    if (provided < MPI_THREAD_MULTIPLE) return;
    for (int round = 0; round < 4; round++) {
        shared = cornered(round);
        for (int i = 0; i < THREADS; i++) {
            number[i] = i;
            CHECK(pthread_create(&of[i], NULL, worker, &number[i]) == 0);
        }
        for (int i = 0; i < THREADS; i++) pthread_join(of[i], NULL);
        MPI_Type_free(&shared);
    }
}

int main(int argc, char **argv)
{
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    old_types_go_first();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    freed_handles_are_errors();
    numbers_are_handles();
    what_is_too_large();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    long_chains();
    nothing_is_left_behind();
    threads(provided);
    return check_end();
}
