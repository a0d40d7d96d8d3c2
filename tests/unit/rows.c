/* Runs of bytes are copied. Plans of the bridge (gobridge/kernel/plan.c): an element moved in parts is the element, a
 * part touches no other rows, and takes as many steps wherever it begins. Linked with the bridge's C; no MPI. Steps are
 * counted by the kernel, instruction by instruction, where it lets a process trace its child. */
#include "../../gobridge/kernel/kernels.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(fact) \
    do { \
        if (!(fact)) { \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #fact); \
            exit(1); \
        } \
    } while (0)

enum { PAGE = 4096, PAGES = 64, ROOM = PAGE * PAGES };

static unsigned char *memory, packed[ROOM], want[ROOM];

/* A plan of loops: n and mem of each level, the outermost first, around a block. */
static struct impi_plan loops(int depth, const int64_t *n, const int64_t *mem, int64_t block)
{
    struct impi_plan p = {.nest = {.depth = depth, .block = block}};
    int64_t size = block;
    for (int i = depth; i-- > 0; size *= n[i]) p.nest.dims[i] = (struct impi_dim){n[i], mem[i], size};
    p.size = size;
    p.row = p.nest.dims[0].buf;
    return p;
}

static void fill(unsigned char *to, int64_t n, unsigned seed)
{
    for (int64_t i = 0; i < n; i++) to[i] = (unsigned char)((seed = seed * 1103515245u + 12345u) >> 16);
}

/* Wherever source and destination lie within their pages, also where string instructions are not taken. */
static void runs_are_copied(void)
{
    static const int64_t lengths[] = {1, 255, 257, 2049, 65535, 65536, 200000, 600000}, longest = 600000;
    unsigned char *from = malloc((size_t)longest), *to = malloc((size_t)longest + 2 * PAGE);
    fill(from, longest, 1);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int behind = 0; behind < PAGE; behind += behind < 40 ? 1 : behind < PAGE - 90 ? 1013 : 1) {
            unsigned char *at = to + (((uintptr_t)from - (uintptr_t)to + (uintptr_t)behind) & (PAGE - 1));
            memset(at, 0, (size_t)lengths[k] + 1);
            impi_move_run(at, from, lengths[k]);
            CHECK(memcmp(at, from, (size_t)lengths[k]) == 0 && at[lengths[k]] == 0);
        }
    free(from);
    free(to);
}

static void parts_are_the_whole(void)
{
    static const struct { int depth; int64_t n[3], mem[3], block;
    } cases[] = {{1, {100}, {64}, 8},
                 {1, {40}, {-72}, 24},
                 {2, {12, 9}, {700, 16}, 8},
                 {2, {9, 12}, {16, 700}, 4},
                 {3, {5, 4, 7}, {3000, -500, 40}, 13},
                 {2, {16, 16}, {8, 1024}, 8},
                 {1, {2}, {PAGE}, 3000}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct impi_plan p = loops(cases[k].depth, cases[k].n, cases[k].mem, cases[k].block);
        int64_t size = p.size, row = p.row, rows = cases[k].n[0];
        p.at = 5;
        unsigned char *base = memory + ROOM / 2, *to = malloc((size_t)size);
        CHECK(row * rows == size);
        fill(memory, ROOM, (unsigned)k);
        impi_move_loops((uintptr_t)base + 5, (uintptr_t)want, p.nest.dims, p.nest.depth, p.nest.block, 0);
        for (int64_t first = 0; first < rows; first++)
            for (int64_t n = 1; n <= rows - first; n += 1 + n / 3) {
                memset(packed, 0x77, (size_t)size + 8);
                impi_plan_move_rows(&p, base, packed, first * row, n * row, 0);
                for (int64_t i = 0; i < size + 8; i++) {
                    int moved = i >= first * row && i < (first + n) * row;
                    CHECK(packed[i] == (moved ? want[i] : 0x77));
                }
            }
        memset(memory, 0, ROOM);
        for (int64_t done = 0, n; done < size; done += n) {
            n = row * (1 + done / row % 3);
            if (n > size - done) n = size - done;
            impi_plan_move_rows(&p, base, want, done, n, 1);
        }
        impi_move_loops((uintptr_t)base + 5, (uintptr_t)to, p.nest.dims, p.nest.depth, p.nest.block, 0);
        CHECK(!memcmp(to, want, (size_t)size));
        free(to);
    }
}

/* Rows on pages of their own, of which only those that are asked for can be read. */
static void a_part_touches_no_other_rows(void)
{
    static const int64_t n[2] = {PAGES, 16}, mem[2] = {PAGE, 128};
    struct impi_plan p = loops(2, n, mem, 8);
    int64_t row = p.row;
    fill(memory, ROOM, 9);
    for (int64_t first = 0; first < PAGES; first += 7) {
        int64_t count = 1 + first % 5 < PAGES - first ? 1 + first % 5 : PAGES - first;
        memset(packed, 0, sizeof packed);
        for (int64_t r = first; r < first + count; r++)
            for (int i = 0; i < 16; i++) memcpy(want + r * row + 8 * i, memory + r * PAGE + 128 * i, 8);
        CHECK(mprotect(memory, ROOM, PROT_NONE) == 0);
        CHECK(mprotect(memory + first * PAGE, (size_t)count * PAGE, PROT_READ) == 0);
        impi_plan_move_rows(&p, memory, packed, first * row, count * row, 0);
        CHECK(!memcmp(packed + first * row, want + first * row, (size_t)(count * row)));
        CHECK(mprotect(memory, ROOM, PROT_READ | PROT_WRITE) == 0);
    }
}

/* Three rows of an element of 2^40, from row `first` on, as if it were that the element's memory ended here. */
enum { ROWS = 3, ROW = 16 * 8 };
static const int64_t many[2] = {1LL << 40, 16}, apart[2] = {512, 16};

static void move_from(int64_t first)
{
    struct impi_plan p = loops(2, many, apart, 8);
    uintptr_t typed = (uintptr_t)memory - (uintptr_t)(first * 512), to = (uintptr_t)packed - (uintptr_t)(first * ROW);
    impi_plan_move_rows(&p, (void *)typed, (void *)to, first * ROW, ROWS * ROW, 0);
}

/* The instructions that moving takes; 0 where they cannot be counted. */
static long steps(int64_t first)
{
    int status;
    long n = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(2);
        raise(SIGSTOP);
        move_from(first);
        _exit(0);
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        n++;
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return 0;
        }
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) return 0;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return n;
}

static void steps_do_not_depend_on_the_place(void)
{
    static const int64_t places[] = {1, 1000, 1 << 20, 1LL << 31, (1LL << 40) - ROWS};
    fill(memory, ROOM, 4);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        memset(packed, 0, ROWS * ROW);
        move_from(places[k]);
        for (int r = 0; r < ROWS; r++)
            for (int i = 0; i < 16; i++) CHECK(!memcmp(packed + r * ROW + 8 * i, memory + r * 512 + 16 * i, 8));
    }
    move_from(0);
    long least = steps(0);
    for (size_t k = 0; least > 0 && k < sizeof places / sizeof *places; k++) {
        long n = steps(places[k]);
        if (labs(n - least) <= 40) continue;
        fprintf(stderr, "%d rows from the first on take %ld instructions, from row %lld on %ld\n", ROWS, least,
                (long long)places[k], n);
        exit(1);
    }
}

int main(void)
{
    memory = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    runs_are_copied();
    parts_are_the_whole();
    a_part_touches_no_other_rows();
    steps_do_not_depend_on_the_place();
    return 0;
}
