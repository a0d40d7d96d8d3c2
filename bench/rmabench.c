/* rmabench.c - one-sided communication on memory of MPI_Win_allocate.
 *
 * Plain MPI-3 C, like mpibench.c. Rank 0 prints one "name value unit" line per measurement, the best of REPS batches.
 * Names are of the call, then bytes; of calls that all ranks make, then the neighbors of a rank and the ranks.
 *
 *   rmabench [-i iterations] [group ...]     groups: passive atomic lock active; iterations of active ones, a batch
 *
 * In the first three rank 0 is the origin, and rank 1 the target, which waits in a barrier. In active ones every rank
 * puts to the next ones, as in a halo exchange (Traeff, Ritzdorf and Hempel, Supercomputing 2000). */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPS = 7, BYTES = 1 << 20 };
static const int sizes[] = {8, 1024, 65536, BYTES};
static int rank, size, iterations = 300;
static char *local;
static MPI_Win win;

static int wants(int argc, char **argv, const char *group)
{
    if (argc < 2) return 1;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], group)) return 1;
    return 0;
}

static void report(const char *name, double seconds)
{
    if (rank == 0) { printf("%-28s %14.4f us\n", name, seconds * 1e6); fflush(stdout); }
}

static void report_bytes(const char *name, int bytes, double seconds)
{
    char label[64];
    snprintf(label, sizeof label, "%s/%d", name, bytes);
    report(label, seconds);
}

/* The calls of rank 0, while the others wait in MPI. */
#define ORIGIN(best, calls, BODY) \
    do { \
        best = 1e30; \
        for (int r_ = 0; r_ < REPS; r_++) { \
            MPI_Barrier(MPI_COMM_WORLD); \
            double t_ = MPI_Wtime(); \
            for (int i_ = 0; rank == 0 && i_ < (calls); i_++) { BODY; } \
            t_ = (MPI_Wtime() - t_) / (calls); \
            if (t_ < best) best = t_; \
            MPI_Barrier(MPI_COMM_WORLD); \
        } \
    } while (0)

/* Calls of all ranks, the time of the slowest. */
#define ALL(best, BODY) \
    do { \
        best = 1e30; \
        for (int r_ = 0; r_ < REPS; r_++) { \
            MPI_Barrier(MPI_COMM_WORLD); \
            double t_ = MPI_Wtime(), slowest_; \
            for (int i_ = 0; i_ < iterations; i_++) { BODY; } \
            t_ = (MPI_Wtime() - t_) / iterations; \
            MPI_Allreduce(&t_, &slowest_, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); \
            if (slowest_ < best) best = slowest_; \
        } \
    } while (0)

static int calls_of(int bytes) { return bytes <= 1024 ? 5000 : bytes <= 65536 ? 1000 : 60; }

static void passive(void)
{
    double t;
    if (rank == 0) MPI_Win_lock_all(0, win);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s], calls = calls_of(n);
        ORIGIN(t, calls, MPI_Put(local, n, MPI_CHAR, 1, 0, n, MPI_CHAR, win); MPI_Win_flush(1, win));
        report_bytes("put-flush", n, t);
        ORIGIN(t, calls, MPI_Get(local, n, MPI_CHAR, 1, 0, n, MPI_CHAR, win); MPI_Win_flush(1, win));
        report_bytes("get-flush", n, t);
        ORIGIN(t, calls,
               MPI_Accumulate(local, n / 8, MPI_DOUBLE, 1, 0, n / 8, MPI_DOUBLE, MPI_SUM, win);
               MPI_Win_flush(1, win));
        report_bytes("accumulate-flush", n, t);
    }
    if (rank == 0) MPI_Win_unlock_all(win);
}

static void atomic(void)
{
    double t;
    int64_t one = 1, old, expected = 0;
    if (rank == 0) MPI_Win_lock_all(0, win);
    ORIGIN(t, 5000, MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, 0, MPI_SUM, win); MPI_Win_flush(1, win));
    report("fetch-and-add", t);
    ORIGIN(t, 5000, MPI_Compare_and_swap(&one, &expected, &old, MPI_INT64_T, 1, 0, win); MPI_Win_flush(1, win));
    report("compare-and-swap", t);
    if (rank == 0) MPI_Win_unlock_all(win);
}

static void locked(const char *name, int type, int assert)
{
    double t;
    ORIGIN(t, 2000,
           MPI_Win_lock(type, 1, assert, win);
           MPI_Put(local, 8, MPI_CHAR, 1, 0, 8, MPI_CHAR, win);
           MPI_Win_unlock(1, win));
    report_bytes(name, 8, t);
}

static void lock(void)
{
    locked("lock-put-unlock", MPI_LOCK_SHARED, 0);
    locked("exclusive-put-unlock", MPI_LOCK_EXCLUSIVE, 0);
}

static void put_to(int neighbors, int n)
{
    for (int k = 1; k <= neighbors; k++)
        MPI_Put(local, n, MPI_CHAR, (rank + k) % size, (MPI_Aint)(k - 1) * n, n, MPI_CHAR, win);
}

static void report_active(const char *name, int n, int neighbors, double seconds)
{
    char label[64];
    snprintf(label, sizeof label, "%s/%d/%d/%d", name, n, neighbors, size);
    report(label, seconds);
}

/* Neighbors: 1, 3, 7, as many as there are, and as the window has room for. */
static int more_neighbors(int neighbors, int n) { return neighbors < size && neighbors * n <= BYTES; }

static void active(void)
{
    double t;
    MPI_Group world, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Win_fence(0, win);
    ALL(t, MPI_Win_fence(0, win));
    report_active("fence", 0, 0, t);
    for (int neighbors = 1; more_neighbors(neighbors, 65536); neighbors = 2 * neighbors + 1)
        for (int n = 8; n <= 65536; n *= 8192) {
            ALL(t, put_to(neighbors, n); MPI_Win_fence(0, win));
            report_active("put-fence", n, neighbors, t);
        }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int neighbors = 1; more_neighbors(neighbors, 65536); neighbors = 2 * neighbors + 1) {
        int *next = malloc(sizeof *next * (size_t)size), *previous = malloc(sizeof *previous * (size_t)size);
        for (int k = 0; k < neighbors; k++) {
            next[k] = (rank + k + 1) % size;
            previous[k] = (rank - k - 1 + size) % size;
        }
        MPI_Group_incl(world, neighbors, next, &to);
        MPI_Group_incl(world, neighbors, previous, &from);
        for (int n = 8; n <= 65536; n *= 8192) {
            ALL(t, MPI_Win_post(from, 0, win); MPI_Win_start(to, 0, win); put_to(neighbors, n); MPI_Win_complete(win);
                MPI_Win_wait(win));
            report_active("put-pscw", n, neighbors, t);
        }
        MPI_Group_free(&to);
        MPI_Group_free(&from);
        free(next);
        free(previous);
    }
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    char *base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) MPI_Abort(MPI_COMM_WORLD, 2);
    if (argc > 2 && !strcmp(argv[1], "-i") && atoi(argv[2]) > 0) {
        iterations = atoi(argv[2]);
        argc -= 2;
        argv += 2;
    }
    local = calloc(1, BYTES);
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (wants(argc, argv, "passive")) passive();
    if (wants(argc, argv, "atomic")) atomic();
    if (wants(argc, argv, "lock")) lock();
    MPI_Barrier(MPI_COMM_WORLD);
    if (wants(argc, argv, "active")) active();
    MPI_Win_free(&win);
    free(local);
    MPI_Finalize();
    return 0;
}
