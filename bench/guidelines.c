/* guidelines.c - self-consistent performance guidelines: what a user can build of other calls must not be faster.
 *
 *   guidelines [-s bytes,bytes...] [-r rounds] [pattern ...]     patterns are the shell's; none: all guidelines
 *
 * After Traeff, Gropp and Thakur, Self-consistent MPI Performance Guidelines (IEEE TPDS 21(5), 2010), and PGMPI (Hunold
 * et al., 2016). Plain MPI-3.0 C, with persistent collectives where there is MPI 4.0. Rank 0 prints a line for each
 * guideline and size: name, bytes, the least time of its left and of its right side, then the medians of both, in us.
 *
 * The sides take turns: a round is a batch of calls of each. Before every call there is a barrier that is not timed, so
 * that no call of a batch overlaps the next. The time of a call is that of its slowest rank, as in PGMPI: a root that
 * waits for all at each call is not slower than ranks that wait by turns.
 *
 * The bytes are those of the whole vector in broadcasts and reductions, also where the right side splits it; elsewhere
 * those of one rank's block, so that Scatter <= Bcast sends a vector of bytes * ranks. */
#include <fnmatch.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SIZES = 32, MAX_ROUNDS = 1000, MAX_BATCH = 200, LARGEST = 1 << 26 };
static const double batch_seconds = 1e-3; /* of one side, if one call is not longer */

static const MPI_Comm world = MPI_COMM_WORLD;
static int rank, size;
static char *in, *out, *middle, *target;

/* What the calls below move; set_bytes derives all from the first. Parts are of a vector that is split, rounded up. */
static int bytes, doubles, part, part_doubles, *counts, *displs;

static MPI_Comm ring; /* periodic, of one dimension */
static int left, right;
static MPI_Comm half;  /* the first half of the ranks, rounded up; MPI_COMM_NULL at others */
static MPI_Win win;    /* of target */
/* The bytes, rounded up to pairs of doubles, in every second place: the same layout, described in three ways; and a
 * vector of them without gaps. */
static MPI_Datatype spaced, spaced_hindexed, spaced_resized, dense;
static MPI_Request held = MPI_REQUEST_NULL; /* the persistent one */

static void set_bytes(int n)
{
    bytes = n;
    doubles = n / 8;
    part = (n + size - 1) / size;
    part_doubles = (doubles + size - 1) / size;
    for (int i = 0; i < size; i++) {
        counts[i] = n;
        displs[i] = i * n;
    }
}

static void wait_for(MPI_Request *r) { MPI_Wait(r, MPI_STATUS_IGNORE); }

/* Blocking. */
static void barrier(void) { MPI_Barrier(world); }
static void bcast(void) { MPI_Bcast(in, bytes, MPI_CHAR, 0, world); }
static void bcast_all(void) { MPI_Bcast(in, bytes * size, MPI_CHAR, 0, world); }
static void reduce(void) { MPI_Reduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, 0, world); }
static void allreduce(void) { MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, world); }
static void gather(void) { MPI_Gather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, 0, world); }
static void scatter(void) { MPI_Scatter(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, 0, world); }
static void allgather(void) { MPI_Allgather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, world); }
static void alltoall(void) { MPI_Alltoall(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, world); }
static void scan(void) { MPI_Scan(in, out, doubles, MPI_DOUBLE, MPI_SUM, world); }
static void exscan(void) { MPI_Exscan(in, out, doubles, MPI_DOUBLE, MPI_SUM, world); }
static void reduce_scatter(void)
{
    MPI_Reduce_scatter_block(in, out, part_doubles, MPI_DOUBLE, MPI_SUM, world);
}

/* Regular counts, given one by one. */
static void gatherv(void) { MPI_Gatherv(in, bytes, MPI_CHAR, out, counts, displs, MPI_CHAR, 0, world); }
static void scatterv(void) { MPI_Scatterv(in, counts, displs, MPI_CHAR, out, bytes, MPI_CHAR, 0, world); }
static void allgatherv(void) { MPI_Allgatherv(in, bytes, MPI_CHAR, out, counts, displs, MPI_CHAR, world); }
static void alltoallv(void) { MPI_Alltoallv(in, counts, displs, MPI_CHAR, out, counts, displs, MPI_CHAR, world); }

/* In place. */
static void allreduce_in_place(void) { MPI_Allreduce(MPI_IN_PLACE, out, doubles, MPI_DOUBLE, MPI_SUM, world); }
static void allgather_in_place(void)
{
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, bytes, MPI_CHAR, world);
}
static void alltoall_in_place(void)
{
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, bytes, MPI_CHAR, world);
}

/* What stands for another call. */
static void reduce_and_bcast(void)
{
    reduce();
    MPI_Bcast(out, bytes, MPI_CHAR, 0, world);
}
static void scatter_and_allgather(void)
{
    MPI_Scatter(in, part, MPI_CHAR, middle, part, MPI_CHAR, 0, world);
    MPI_Allgather(middle, part, MPI_CHAR, out, part, MPI_CHAR, world);
}
static void gather_and_bcast(void)
{
    gather();
    MPI_Bcast(out, bytes * size, MPI_CHAR, 0, world);
}
static void reduce_and_scatter(void)
{
    MPI_Reduce(in, middle, part_doubles * size, MPI_DOUBLE, MPI_SUM, 0, world);
    MPI_Scatter(middle, part_doubles, MPI_DOUBLE, out, part_doubles, MPI_DOUBLE, 0, world);
}
static void reduce_scatter_and_allgather(void)
{
    MPI_Reduce_scatter_block(in, middle, part_doubles, MPI_DOUBLE, MPI_SUM, world);
    MPI_Allgather(middle, part_doubles, MPI_DOUBLE, out, part_doubles, MPI_DOUBLE, world);
}
static void exscan_and_reduce_local(void)
{
    exscan();
    if (rank == 0) memcpy(out, in, (size_t)bytes);
    else MPI_Reduce_local(in, out, doubles, MPI_DOUBLE, MPI_SUM);
}

/* Nonblocking. */
static void ibarrier(void)
{
    MPI_Request r;
    MPI_Ibarrier(world, &r);
    wait_for(&r);
}
static void ibcast(void)
{
    MPI_Request r;
    MPI_Ibcast(in, bytes, MPI_CHAR, 0, world, &r);
    wait_for(&r);
}
static void iallreduce(void)
{
    MPI_Request r;
    MPI_Iallreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, world, &r);
    wait_for(&r);
}
static void iallgather(void)
{
    MPI_Request r;
    MPI_Iallgather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, world, &r);
    wait_for(&r);
}
static void ialltoall(void)
{
    MPI_Request r;
    MPI_Ialltoall(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, world, &r);
    wait_for(&r);
}

/* Persistent: made before the first round. */
#if MPI_VERSION >= 4
static void start(void)
{
    MPI_Start(&held);
    wait_for(&held);
}
static void barrier_init(void) { MPI_Barrier_init(world, MPI_INFO_NULL, &held); }
static void bcast_init(void) { MPI_Bcast_init(in, bytes, MPI_CHAR, 0, world, MPI_INFO_NULL, &held); }
static void allreduce_init(void)
{
    MPI_Allreduce_init(in, out, doubles, MPI_DOUBLE, MPI_SUM, world, MPI_INFO_NULL, &held);
}
static void allgather_init(void)
{
    MPI_Allgather_init(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, world, MPI_INFO_NULL, &held);
}
static void alltoall_init(void)
{
    MPI_Alltoall_init(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, world, MPI_INFO_NULL, &held);
}
#endif

/* The ring. On two ranks both neighbors are the same process: tags tell the directions apart. */
static void neighbor_alltoall(void) { MPI_Neighbor_alltoall(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, ring); }
static void neighbors_by_hand(void)
{
    MPI_Request r[4];
    MPI_Irecv(out, bytes, MPI_CHAR, left, 1, ring, &r[0]);
    MPI_Irecv(out + bytes, bytes, MPI_CHAR, right, 0, ring, &r[1]);
    MPI_Isend(in, bytes, MPI_CHAR, left, 0, ring, &r[2]);
    MPI_Isend(in + bytes, bytes, MPI_CHAR, right, 1, ring, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

/* Around the ring: one message to the right and one from the left. */
static void around(const void *from, int n, MPI_Datatype type)
{
    MPI_Sendrecv(from, n, type, right, 0, out, n, type, left, 0, ring, MPI_STATUS_IGNORE);
}
static void send_basic(void) { around(in, bytes, MPI_CHAR); }
static void send_dense(void) { around(in, 1, dense); }
static void send_spaced(void) { around(in, 1, spaced); }
static void send_hindexed(void) { around(in, 1, spaced_hindexed); }
static void send_resized(void) { around(in, (bytes + 15) / 16, spaced_resized); }
static void send_packed(void)
{
    int at = 0, n = (bytes + 15) / 16 * 16, from = 0;
    MPI_Pack(in, 1, spaced, middle, n, &at, world);
    MPI_Sendrecv(middle, at, MPI_PACKED, right, 0, middle + n, n, MPI_PACKED, left, 0, ring, MPI_STATUS_IGNORE);
    MPI_Unpack(middle + n, at, &from, out, 1, spaced, world);
}

/* Epochs, and messages with what else they do: everybody has what is his. */
static void put_epoch(void)
{
    MPI_Put(in, bytes, MPI_CHAR, right, 0, bytes, MPI_CHAR, win);
    MPI_Win_fence(0, win);
}
static void get_epoch(void)
{
    MPI_Get(out, bytes, MPI_CHAR, left, 0, bytes, MPI_CHAR, win);
    MPI_Win_fence(0, win);
}
static void accumulate_epoch(void)
{
    MPI_Accumulate(in, doubles, MPI_DOUBLE, right, 0, doubles, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_fence(0, win);
}
static void send_and_barrier(void)
{
    send_basic();
    barrier();
}
static void send_and_add(void)
{
    send_basic();
    MPI_Reduce_local(out, middle, doubles, MPI_DOUBLE, MPI_SUM);
    barrier();
}

/* Fewer ranks. */
static void barrier_of_half(void)
{
    if (half != MPI_COMM_NULL) MPI_Barrier(half);
}
static void bcast_of_half(void)
{
    if (half != MPI_COMM_NULL) MPI_Bcast(in, bytes, MPI_CHAR, 0, half);
}
static void allreduce_of_half(void)
{
    if (half != MPI_COMM_NULL) MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, half);
}
static void allgather_of_half(void)
{
    if (half != MPI_COMM_NULL) MPI_Allgather(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, half);
}
static void alltoall_of_half(void)
{
    if (half != MPI_COMM_NULL) MPI_Alltoall(in, bytes, MPI_CHAR, out, bytes, MPI_CHAR, half);
}

/* Types of as many bytes as a measurement has. */
static void make_types(int n)
{
    int blocks = (n + 15) / 16;
    MPI_Aint *at = malloc(sizeof *at * (size_t)blocks);
    MPI_Datatype block;
    for (int i = 0; i < blocks; i++) at[i] = 32 * (MPI_Aint)i;
    MPI_Type_vector(blocks, 2, 4, MPI_DOUBLE, &spaced);
    MPI_Type_create_hindexed_block(blocks, 2, at, MPI_DOUBLE, &spaced_hindexed);
    MPI_Type_contiguous(2, MPI_DOUBLE, &block);
    MPI_Type_create_resized(block, 0, 32, &spaced_resized);
    MPI_Type_vector(n / 8, 1, 1, MPI_DOUBLE, &dense);
    MPI_Type_commit(&spaced);
    MPI_Type_commit(&spaced_hindexed);
    MPI_Type_commit(&spaced_resized);
    MPI_Type_commit(&dense);
    MPI_Type_free(&block);
    free(at);
}
static void free_types(void)
{
    MPI_Type_free(&spaced);
    MPI_Type_free(&spaced_hindexed);
    MPI_Type_free(&spaced_resized);
    MPI_Type_free(&dense);
}

/* MONOTONY: the right side is of twice the bytes, and sizes are all powers of two times the first, up to the last. */
enum kind { SIZED, UNSIZED, MONOTONY };

static const struct guideline {
    const char *name;
    void (*left)(void), (*right)(void);
    enum kind kind;
    void (*make)(void); /* makes the persistent request */
} guidelines[] = {
    {"allreduce<=reduce+bcast", allreduce, reduce_and_bcast, SIZED, NULL},
    {"allreduce<=reduce_scatter_block+allgather", allreduce, reduce_scatter_and_allgather, SIZED, NULL},
    {"reduce<=allreduce", reduce, allreduce, SIZED, NULL},
    {"bcast<=scatter+allgather", bcast, scatter_and_allgather, SIZED, NULL},
    {"gather<=allgather", gather, allgather, SIZED, NULL},
    {"scatter<=bcast", scatter, bcast_all, SIZED, NULL},
    {"allgather<=alltoall", allgather, alltoall, SIZED, NULL},
    {"allgather<=gather+bcast", allgather, gather_and_bcast, SIZED, NULL},
    {"reduce_scatter_block<=reduce+scatter", reduce_scatter, reduce_and_scatter, SIZED, NULL},
    {"scan<=exscan+reduce_local", scan, exscan_and_reduce_local, SIZED, NULL},
    {"exscan<=scan", exscan, scan, SIZED, NULL},
    {"gatherv<=gather", gatherv, gather, SIZED, NULL},
    {"scatterv<=scatter", scatterv, scatter, SIZED, NULL},
    {"allgatherv<=allgather", allgatherv, allgather, SIZED, NULL},
    {"alltoallv<=alltoall", alltoallv, alltoall, SIZED, NULL},
    {"allreduce-in-place<=allreduce", allreduce_in_place, allreduce, SIZED, NULL},
    {"allgather-in-place<=allgather", allgather_in_place, allgather, SIZED, NULL},
    {"alltoall-in-place<=alltoall", alltoall_in_place, alltoall, SIZED, NULL},
    {"ibarrier<=barrier+epsilon", ibarrier, barrier, UNSIZED, NULL},
    {"ibcast<=bcast+epsilon", ibcast, bcast, SIZED, NULL},
    {"iallreduce<=allreduce+epsilon", iallreduce, allreduce, SIZED, NULL},
    {"iallgather<=allgather+epsilon", iallgather, allgather, SIZED, NULL},
    {"ialltoall<=alltoall+epsilon", ialltoall, alltoall, SIZED, NULL},
#if MPI_VERSION >= 4
    {"persistent-barrier<=ibarrier", start, ibarrier, UNSIZED, barrier_init},
    {"persistent-bcast<=ibcast", start, ibcast, SIZED, bcast_init},
    {"persistent-allreduce<=iallreduce", start, iallreduce, SIZED, allreduce_init},
    {"persistent-allgather<=iallgather", start, iallgather, SIZED, allgather_init},
    {"persistent-alltoall<=ialltoall", start, ialltoall, SIZED, alltoall_init},
#endif
    {"neighbor_alltoall<=isend+irecv", neighbor_alltoall, neighbors_by_hand, SIZED, NULL},
    {"send-vector<=pack+send+unpack", send_spaced, send_packed, SIZED, NULL},
    {"send-hindexed_block<=send-vector", send_hindexed, send_spaced, SIZED, NULL},
    {"send-resized<=send-vector", send_resized, send_spaced, SIZED, NULL},
    {"send-dense-vector<=send", send_dense, send_basic, SIZED, NULL},
    {"put+fence<=sendrecv+barrier", put_epoch, send_and_barrier, SIZED, NULL},
    {"get+fence<=sendrecv+barrier", get_epoch, send_and_barrier, SIZED, NULL},
    {"accumulate+fence<=sendrecv+add+barrier", accumulate_epoch, send_and_add, SIZED, NULL},
    {"barrier-of-half<=barrier", barrier_of_half, barrier, UNSIZED, NULL},
    {"bcast-of-half<=bcast", bcast_of_half, bcast, SIZED, NULL},
    {"allreduce-of-half<=allreduce", allreduce_of_half, allreduce, SIZED, NULL},
    {"allgather-of-half<=allgather", allgather_of_half, allgather, SIZED, NULL},
    {"alltoall-of-half<=alltoall", alltoall_of_half, alltoall, SIZED, NULL},
    {"bcast<=bcast-of-twice", bcast, bcast, MONOTONY, NULL},
    {"allreduce<=allreduce-of-twice", allreduce, allreduce, MONOTONY, NULL},
    {"allgather<=allgather-of-twice", allgather, allgather, MONOTONY, NULL},
    {"alltoall<=alltoall-of-twice", alltoall, alltoall, MONOTONY, NULL},
};

/* Seconds of one call, the mean of a batch. */
static double batch(void (*call)(void), int n, int calls)
{
    static double took[MAX_BATCH], slowest[MAX_BATCH];
    double seconds = 0;
    set_bytes(n);
    for (int i = 0; i < calls; i++) {
        MPI_Barrier(world);
        took[i] = MPI_Wtime();
        call();
        took[i] = MPI_Wtime() - took[i];
    }
    MPI_Allreduce(took, slowest, calls, MPI_DOUBLE, MPI_MAX, world);
    for (int i = 0; i < calls; i++) seconds += slowest[i];
    return seconds / calls;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct guideline *g, int n, int rounds)
{
    static double took[2][MAX_ROUNDS];
    void (*const call[2])(void) = {g->left, g->right};
    int of[2] = {n, g->kind == MONOTONY ? 2 * n : n}, calls = 1;
    set_bytes(n);
    make_types(n);
    if (g->make) g->make();
    double once = 0;
    for (int side = 0; side < 2; side++) {
        batch(call[side], of[side], 2);
        double t = batch(call[side], of[side], 3);
        if (t > once) once = t;
    }
    if (once * MAX_BATCH < batch_seconds) calls = MAX_BATCH;
    else if (once < batch_seconds) calls = (int)(batch_seconds / once);
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < 2; k++) {
            int side = (r + k) % 2; /* forth and back by turns */
            took[side][r] = batch(call[side], of[side], calls);
        }
    if (g->make) MPI_Request_free(&held);
    free_types();
    for (int side = 0; side < 2; side++) qsort(took[side], (size_t)rounds, sizeof(double), by_value);
    if (rank != 0) return;
    printf("%s %d %.4f %.4f %.4f %.4f\n", g->name, g->kind == UNSIZED ? 0 : n, took[0][0] * 1e6, took[1][0] * 1e6,
           took[0][rounds / 2] * 1e6, took[1][rounds / 2] * 1e6);
    fflush(stdout);
}

static int chosen(const char *name, char **patterns, int count)
{
    for (int i = 0; i < count; i++)
        if (fnmatch(patterns[i], name, 0) == 0) return 1;
    return count == 0;
}

static void usage(void)
{
    if (rank == 0) {
        fprintf(stderr, "usage: guidelines [-s bytes,...] [-r rounds] [pattern ...]\n"
                        "bytes: at most %d multiples of 8 up to %d, rising; rounds: 1 to %d\n",
                MAX_SIZES, LARGEST, MAX_ROUNDS);
    }
    MPI_Finalize();
    exit(2);
}

/* Sizes from a list; how many. */
static int read_sizes(char *list, int *sizes)
{
    int count = 0;
    for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
        char *end;
        long n = strtol(word, &end, 10);
        if (count == MAX_SIZES || *end || n < 8 || n % 8 || n > LARGEST || (count && n <= sizes[count - 1])) usage();
        sizes[count++] = (int)n;
    }
    if (count == 0) usage();
    return count;
}

static char *buffer(size_t n)
{
    char *b = malloc(n);
    if (!b) MPI_Abort(world, 1);
    memset(b, 1, n);
    return b;
}

int main(int argc, char **argv)
{
    int sizes[MAX_SIZES] = {8, 64, 1024, 16384, 262144, 1048576}, count = 6, rounds = 31, option, periodic = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    while ((option = getopt(argc, argv, "s:r:")) != -1) {
        if (option == 's') count = read_sizes(optarg, sizes);
        else if (option == 'r') rounds = atoi(optarg);
        else usage();
    }
    if (rounds < 1 || rounds > MAX_ROUNDS) usage();
    MPI_Cart_create(world, 1, &size, &periodic, 0, &ring);
    MPI_Cart_shift(ring, 0, 1, &left, &right);
    int last = sizes[count - 1];
    size_t room = (size_t)last * 2 * (size_t)(size > 1 ? size : 2);
    in = buffer(room);
    out = buffer(room);
    middle = buffer(room);
    MPI_Comm_split(world, rank < (size + 1) / 2 ? 0 : MPI_UNDEFINED, rank, &half);
    MPI_Win_allocate((MPI_Aint)room, 1, MPI_INFO_NULL, world, &target, &win);
    memset(target, 0, room);
    MPI_Win_fence(0, win);
    counts = malloc(sizeof *counts * (size_t)size);
    displs = malloc(sizeof *displs * (size_t)size);
    for (const struct guideline *g = guidelines; g < guidelines + sizeof guidelines / sizeof *guidelines; g++) {
        if (!chosen(g->name, argv + optind, argc - optind)) continue;
        if (g->kind == UNSIZED) measure(g, 0, rounds);
        else if (g->kind == MONOTONY) for (int n = sizes[0]; n <= last; n *= 2) measure(g, n, rounds);
        else for (int s = 0; s < count; s++) measure(g, sizes[s], rounds);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    free(in);
    free(out);
    free(middle);
    free(counts);
    free(displs);
    MPI_Comm_free(&ring);
    if (half != MPI_COMM_NULL) MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
