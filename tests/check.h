/* check.h - what every test program shares.
 *
 * A test is a plain MPI program. It calls check_start first and returns check_end() from main; between
 * the two it states facts with CHECK. A fact that does not hold is printed with its place and rank, and ends the
 * job with a non-zero status. On success a test prints nothing.
 *
 * The first lines of a test may say how to run it; tests/run reads them:
 *     ranks:   the rank counts to run with (1 2 3 4 8 unless stated)
 *     clients: none, where the program cannot run on a world that spans IMPI clients
 *     serial:  yes, where other programs that run at the same time would disturb what it measures
 *
 * The values that tests send fit the external representation as well as the native one, so that a
 * test may run across machines: long in 32 bits, wchar_t in 16.
 */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_rank = -1, check_size = -1;

static inline void check_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn, unused));

static inline void check_fail(const char *file, int line, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "%s:%d: rank %d of %d: %s\n", file, line, check_rank, check_size, text);
    fflush(stderr);
    int up = 0, down = 0;
    MPI_Initialized(&up);
    MPI_Finalized(&down);
    if (up && !down) MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* The fact must hold. */
#define CHECK(fact) \
    do { if (!(fact)) check_fail(__FILE__, __LINE__, "%s does not hold", #fact); } while (0)

/* Two integers must be equal; both are printed if not. */
#define CHECK_EQ(got, want) \
    do { \
        long long got_ = (long long)(got), want_ = (long long)(want); \
        if (got_ != want_) check_fail(__FILE__, __LINE__, "%s is %lld, not %s = %lld", #got, got_, #want, want_); \
    } while (0)

/* The fact must hold; what follows is printed if not. */
#define CHECK_SAY(fact, ...) \
    do { if (!(fact)) check_fail(__FILE__, __LINE__, __VA_ARGS__); } while (0)

/* The call must return an error of this class. */
#define CHECK_CLASS(call, want) \
    do { \
        int code_ = (call), class_ = -1; \
        MPI_Error_class(code_, &class_); \
        if (class_ != (want)) { \
            check_fail(__FILE__, __LINE__, "%s gives class %s, not %s", #call, check_class_name(class_), #want); \
        } \
    } while (0)

static inline const char *check_class_name(int class_) __attribute__((unused));
static inline const char *check_class_name(int class_)
{
    static char name[MPI_MAX_ERROR_STRING + 16];
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;
    if (class_ == MPI_SUCCESS) return "MPI_SUCCESS";
    MPI_Error_string(class_, text, &n);
    snprintf(name, sizeof name, "%d (%.200s)", class_, text);
    return name;
}

static inline void check_start(int *argc, char ***argv) __attribute__((unused));
static inline void check_start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
}

static inline int check_end(void) __attribute__((unused));
static inline int check_end(void)
{
    MPI_Finalize();
    return 0;
}

/* Is the library under test the one whose version string starts with this name? */
static inline int check_library(const char *name) __attribute__((unused));
static inline int check_library(const char *name)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int n;
    MPI_Get_library_version(version, &n);
    return strncmp(version, name, strlen(name)) == 0;
}

/* Does the world span IMPI clients? A program that was compiled with another MPI is told (front/run): it cannot ask. */
static inline int check_spans(void) __attribute__((unused));
static inline int check_spans(void)
{
    int flag = 0;
#ifdef IMPI_CLIENT_SIZE
    int *clients = NULL;
    if (check_library("libimpi")) MPI_Comm_get_attr(MPI_COMM_WORLD, IMPI_CLIENT_SIZE, &clients, &flag);
    return flag && *clients > 1;
#endif
    return flag || getenv("CHECK_SPANS") != NULL;
}

/* Whether the ranks of a client talk by another MPI library (docs/vendor.md), and share no memory. */
static inline int check_vendor(void) __attribute__((unused));
static inline int check_vendor(void)
{
    const char *local = getenv("IMPI_LOCAL");
    return check_library("libimpi") && local && strncmp(local, "vendor-only:", 12) == 0;
}

/* A stream of numbers that every rank can reproduce (xorshift64*). The seed may be any number. */
typedef struct { uint64_t state; } check_stream;

static inline uint64_t check_next(check_stream *s) __attribute__((unused));
static inline uint64_t check_next(check_stream *s)
{
    s->state ^= s->state >> 12;
    s->state ^= s->state << 25;
    s->state ^= s->state >> 27;
    return s->state * 2685821657736338717ull;
}

static inline check_stream check_seed(uint64_t seed) __attribute__((unused));
static inline check_stream check_seed(uint64_t seed)
{
    check_stream s = {(seed + 1) * 0x9e3779b97f4a7c15ull | 1};
    check_next(&s);
    return s;
}

/* A number in [0, bound). */
static inline int check_below(check_stream *s, int bound) __attribute__((unused));
static inline int check_below(check_stream *s, int bound)
{
    return (int)((check_next(s) >> 33) % (uint64_t)bound);
}

/* Fill n bytes with the pattern that belongs to key, or compare with it: -1, or the first byte that differs. */
static inline void check_fill(void *buf, size_t n, uint64_t key) __attribute__((unused));
static inline void check_fill(void *buf, size_t n, uint64_t key)
{
    unsigned char *b = buf;
    check_stream s = check_seed(key);
    while (n >= 8) {
        uint64_t word = check_next(&s);
        memcpy(b, &word, 8);
        b += 8;
        n -= 8;
    }
    uint64_t word = check_next(&s);
    memcpy(b, &word, n);
}

static inline long check_differs(const void *buf, size_t n, uint64_t key) __attribute__((unused));
static inline long check_differs(const void *buf, size_t n, uint64_t key)
{
    const unsigned char *b = buf;
    check_stream s = check_seed(key);
    for (size_t at = 0; at < n; at += 8) {
        uint64_t word = check_next(&s);
        size_t len = n - at < 8 ? n - at : 8;
        if (memcmp(b + at, &word, len))
            for (size_t i = 0; i < len; i++)
                if (b[at + i] != ((unsigned char *)&word)[i]) return (long)(at + i);
    }
    return -1;
}

#endif
