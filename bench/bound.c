/* What two cores reach without MPI: one gathers a layout into a ring that both see, the other scatters it from there
 * into the same layout of its own, in turns, each with a few lines of C and nothing to decide. No library that copies
 * twice can be faster, whatever else it does; for each layout the best of several loops and lengths of pieces is
 * reported, since which is best depends on the machine. The layouts are those of mpibench.c (send/...). Two threads,
 * one ring for each way.
 *
 *   bound       prints bound/<layout>, MB/s */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#if defined __x86_64__
#include <immintrin.h>
#define RELAX _mm_pause()
#define NOPS(N) __asm__ volatile(".rept " #N "\n\tnop\n\t.endr" ::: "memory")
#else
#define RELAX (void)0
#define NOPS(N) (void)0
#endif

enum { RING = 256 << 10, MATRIX = 8 << 20, SPACE = 16 << 20, TURNS = 12, REPS = 4, LINE = 64 };

/* Rows of so many bytes, pairs of them so far apart in each plane. */
struct layout {
    const char *label;
    int rows, bytes, each; /* each: rows of a plane */
    long row, plane;
};
static const struct layout layouts[] = {
    {"contiguous-4M", 4096, 1024, 4096, 1024, 0},
    {"column", 1024, 8, 1024, 8192, 0},
    {"panel-16", 1024, 128, 1024, 8192, 0},
    {"subarray-face", 124, 1008, 2, 1024, 131072},
};

static inline char *row_at(const struct layout *l, char *mem, int i)
{
    return mem + i / l->each * l->plane + i % l->each * l->row;
}

/* Moves rows i to i + n between a layout and a buffer. Inlined into loops in which bytes and the way are constants. */
#define MOVE(COPY, BEFORE, AFTER)                                       \
    for (int k = i; k < i + n; k++, buf += l->bytes) {                  \
        char *at = row_at(l, mem, k), *next = row_at(l, mem, k + 1);    \
        (void)next;                                                     \
        BEFORE;                                                         \
        COPY;                                                           \
        AFTER;                                                          \
    }
#define FETCH(RW) \
    for (int q = 0; q < l->bytes; q += LINE) __builtin_prefetch(next + q, RW); \
    __builtin_prefetch(next + l->bytes - 1, RW)

static inline void copy(char *restrict to, const char *restrict from, int bytes)
{
    if (bytes == 8) memcpy(to, from, 8);
    else if (bytes == 128) memcpy(to, from, 128);
    else memcpy(to, from, (size_t)bytes);
}

typedef void mover(const struct layout *l, char *mem, char *buf, int i, int n);

static void gather(const struct layout *l, char *mem, char *buf, int i, int n) { MOVE(copy(buf, at, l->bytes), , ) }
static void gather_ahead(const struct layout *l, char *mem, char *buf, int i, int n)
{
    MOVE(copy(buf, at, l->bytes), FETCH(0), )
}
static void gather_slowly(const struct layout *l, char *mem, char *buf, int i, int n)
{
    MOVE(copy(buf, at, l->bytes), , NOPS(12))
}
static void gather_slower(const struct layout *l, char *mem, char *buf, int i, int n)
{
    MOVE(copy(buf, at, l->bytes), , NOPS(24))
}
static void scatter(const struct layout *l, char *mem, char *buf, int i, int n) { MOVE(copy(at, buf, l->bytes), , ) }
static void scatter_ahead(const struct layout *l, char *mem, char *buf, int i, int n)
{
    MOVE(copy(at, buf, l->bytes), FETCH(1), )
}
static void scatter_slowly(const struct layout *l, char *mem, char *buf, int i, int n)
{
    volatile char hit;
    MOVE(copy(at, buf, l->bytes), , hit = 0; NOPS(8))
    (void)hit;
}
static void scatter_slower(const struct layout *l, char *mem, char *buf, int i, int n)
{
    MOVE(copy(at, buf, l->bytes), , NOPS(24))
}

/* Gathers aside and stores that past the caches: quicker between cores that share none. */
static void gather_past(const struct layout *l, char *mem, char *buf, int i, int n)
{
#if defined __x86_64__
    static __thread char aside[64 << 10] __attribute__((aligned(64)));
    gather_ahead(l, mem, aside, i, n);
    for (int k = 0; k < n * l->bytes; k += 16) {
        _mm_stream_si128((__m128i *)(buf + k), _mm_load_si128((const __m128i *)(aside + k)));
    }
    _mm_sfence();
#else
    gather(l, mem, buf, i, n);
#endif
}

static mover *const gathers[] = {gather, gather_ahead, gather_slowly, gather_slower, gather_past};
static mover *const scatters[] = {scatter, scatter_ahead, scatter_slowly, scatter_slower};
static const int pieces[] = {512, 1 << 10, 8 << 10, 32 << 10};
#define COUNT(LIST) ((int)(sizeof(LIST) / sizeof *(LIST)))

/* One way: how many rows have been written to its ring, since the start, and how many have been read. */
struct way {
    _Alignas(128) uint64_t written;
    _Alignas(128) uint64_t read;
    _Alignas(128) char *ring;
} ways[2];

static const struct layout *now_layout;
static mover *now_gather, *now_scatter;
static int now_piece; /* rows */
static char *memory[2];

/* Rows lie in a ring one after the other; a piece begins anew where it would not fit, and at a multiple of a line. */
static uint64_t place(uint64_t *pos, int bytes)
{
    if (*pos % RING + bytes > RING) *pos += RING - *pos % RING;
    uint64_t at = *pos % RING;
    *pos += (bytes + LINE - 1) & ~(LINE - 1);
    return at;
}

struct rank {
    int me;
    uint64_t sent, received, out, in; /* rows; positions */
};

static void send_all(struct rank *r)
{
    struct way *w = &ways[r->me];
    const struct layout *l = now_layout;
    const int room = RING / 2 / (now_piece * l->bytes + LINE) * now_piece; /* rows that may be under way */
    for (int i = 0; i < l->rows; i += now_piece) {
        int n = l->rows - i < now_piece ? l->rows - i : now_piece;
        while (r->sent + n > __atomic_load_n(&w->read, __ATOMIC_ACQUIRE) + room) RELAX;
        now_gather(l, memory[r->me], w->ring + place(&r->out, n * l->bytes), i, n);
        r->sent += n;
        __atomic_store_n(&w->written, r->sent, __ATOMIC_RELEASE);
    }
}

static void receive_all(struct rank *r)
{
    struct way *w = &ways[!r->me];
    const struct layout *l = now_layout;
    for (int i = 0; i < l->rows; i += now_piece) {
        int n = l->rows - i < now_piece ? l->rows - i : now_piece;
        while (__atomic_load_n(&w->written, __ATOMIC_ACQUIRE) < r->received + n) RELAX;
        now_scatter(l, memory[r->me], w->ring + place(&r->in, n * l->bytes), i, n);
        r->received += n;
        __atomic_store_n(&w->read, r->received, __ATOMIC_RELEASE);
    }
}

static void pin(int core)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int c = 0, seen = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, &all) && seen++ == core) CPU_SET(c, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* Rank 1 does the same turns as rank 0, each time the round is counted up, until it is below 0. */
static int round_now;

static void turns(struct rank *r)
{
    for (int i = 0; i < TURNS; i++) {
        if (r->me == 0) send_all(r);
        receive_all(r);
        if (r->me == 1) send_all(r);
    }
}

static void *other(void *arg)
{
    struct rank *r = arg;
    pin(1);
    for (int seen = 0, now;; seen = now) {
        while ((now = __atomic_load_n(&round_now, __ATOMIC_ACQUIRE)) == seen) RELAX;
        if (now < 0) return NULL;
        turns(r);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    static struct rank ranks[2] = {{.me = 0}, {.me = 1}};
    pthread_t thread;
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) < 2) {
        fprintf(stderr, "bound: needs two cores\n");
        return 1;
    }
    for (int i = 0; i < 2; i++) {
        memory[i] = malloc(SPACE);
        ways[i].ring = mmap(NULL, RING, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (!memory[i] || ways[i].ring == MAP_FAILED) {
            perror("bound");
            return 1;
        }
        memset(memory[i], 1, SPACE);
    }
    if (pthread_create(&thread, NULL, other, &ranks[1]) != 0) return 1;
    pin(0);
    for (int c = 0; c < COUNT(layouts); c++) {
        const struct layout *l = now_layout = &layouts[c];
        double best = 1e30;
        for (int g = 0; g < COUNT(gathers); g++)
            for (int s = 0; s < COUNT(scatters); s++)
                for (int p = 0; p < COUNT(pieces); p++) {
                    if (pieces[p] < l->bytes || pieces[p] > l->rows * l->bytes) continue;
                    now_gather = gathers[g], now_scatter = scatters[s], now_piece = pieces[p] / l->bytes;
                    for (int r = 0; r < REPS; r++) {
                        double t = seconds();
                        __atomic_add_fetch(&round_now, 1, __ATOMIC_RELEASE);
                        turns(&ranks[0]);
                        t = (seconds() - t) / TURNS / 2;
                        if (t < best) best = t;
                    }
                }
        printf("bound/%-22s %14.4f MB/s\n", l->label, (double)l->rows * l->bytes / best / 1e6);
    }
    __atomic_store_n(&round_now, -1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    return 0;
}
