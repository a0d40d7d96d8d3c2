/* commbench.c - what it costs to make communicators, and to ask for what is known.
 *
 * Plain MPI-2 C, like mpibench.c. Rank 0 prints one "name value unit" line per measurement, the best of REPS
 * batches. Names of collective ones end with the number of ranks.
 *
 *   commbench [iterations]     of the collective ones, a batch; queries are measured in a world of two only
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPS = 5, QUERIES = 200000 };
static int rank, size, iterations = 200;

static void report(const char *name, double value, const char *unit)
{
    if (rank == 0) { printf("%-28s %14.4f %s\n", name, value, unit); fflush(stdout); }
}

static MPI_Group world;

static void dup(MPI_Comm *c) { MPI_Comm_dup(MPI_COMM_WORLD, c); }
static void split(MPI_Comm *c) { MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, c); }
static void create(MPI_Comm *c) { MPI_Comm_create(MPI_COMM_WORLD, world, c); }

/* Made and freed, the time of the slowest. With a barrier on each, its users have met, and no library gains by
 * putting off what has to be done. */
static void constructor(const char *name, void (*make)(MPI_Comm *), int use)
{
    double best = 1e30;
    char label[64];
    for (int r = 0; r < REPS; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double t = MPI_Wtime(), slowest;
        for (int i = 0; i < iterations; i++) {
            MPI_Comm c;
            make(&c);
            if (use) MPI_Barrier(c);
            MPI_Comm_free(&c);
        }
        t = (MPI_Wtime() - t) / iterations * 1e6;
        MPI_Allreduce(&t, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (slowest < best) best = slowest;
    }
    snprintf(label, sizeof label, "%s%s/%d", name, use ? "+barrier" : "", size);
    report(label, best, "us");
}

#define QUERY(name, call) \
    do { \
        double best = 1e30; \
        for (int r = 0; r < REPS; r++) { \
            double t = MPI_Wtime(); \
            for (int i = 0; i < QUERIES; i++) { call; } \
            t = (MPI_Wtime() - t) / QUERIES * 1e9; \
            if (t < best) best = t; \
        } \
        report(name, best, "ns"); \
    } while (0)

static void queries(void)
{
    int key, flag, n, value = 1;
    void *v;
    volatile double now;
    MPI_Datatype pair;
    MPI_Status st;
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(c, key, &value);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Sendrecv(&value, 1, MPI_INT, rank, 0, &n, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &st);
    QUERY("rank", MPI_Comm_rank(c, &n));
    QUERY("size", MPI_Comm_size(c, &n));
    QUERY("attr-predefined", MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &v, &flag));
    QUERY("attr-user", MPI_Comm_get_attr(c, key, &v, &flag));
    QUERY("attr-unset", MPI_Comm_get_attr(MPI_COMM_WORLD, key, &v, &flag));
    QUERY("group-rank", MPI_Group_rank(world, &n));
    QUERY("group-size", MPI_Group_size(world, &n));
    QUERY("type-size", MPI_Type_size(MPI_DOUBLE, &n));
    QUERY("type-size-derived", MPI_Type_size(pair, &n));
    QUERY("get-count", MPI_Get_count(&st, MPI_INT, &n));
    QUERY("test-cancelled", MPI_Test_cancelled(&st, &flag));
    QUERY("wtime", now = MPI_Wtime());
    (void)now;
    MPI_Type_free(&pair);
    MPI_Comm_free(&c);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (argc > 1 && atoi(argv[1]) > 0) iterations = atoi(argv[1]);
    for (int use = 0; use < 2; use++) {
        constructor("dup", dup, use);
        constructor("split", split, use);
        constructor("create", create, use);
    }
    if (size == 2) queries();
    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}
