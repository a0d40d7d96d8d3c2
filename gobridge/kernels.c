/* The same loops for several instruction sets: the compiler makes the copies, the loader chooses. Everything is
 * inlined into the few functions that are cloned, and depends on constants there. */
#include "kernels.h"
#include <stddef.h>
#include <string.h>

#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__
#define CLONED __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define CLONED __attribute__((optimize("O3")))
#endif
#define INLINE static inline __attribute__((always_inline))

typedef uint16_t u16 __attribute__((may_alias, aligned(1)));
typedef uint32_t u32 __attribute__((may_alias, aligned(1)));
typedef uint64_t u64 __attribute__((may_alias, aligned(1)));
typedef unsigned char u8x16 __attribute__((vector_size(16), may_alias, aligned(1)));
typedef unsigned char u8x32 __attribute__((vector_size(32), may_alias, aligned(1)));

enum { REACH = 16 << 10 }; /* bytes that stay in the first-level cache until they are looked at again */

/* Between blocks that lie a multiple of the page size apart. All those lines belong to one set of the first-level cache, and
 * a processor that runs ahead fetches more of them than the set holds. Measured with a 1024 x 1024 matrix of doubles (GB/s):
 * a column is read at 1.4 without a pause and 2.6 with a short one, and written at 1.4, 1.6 with the pause, and 1.9 if
 * each store is followed by one that hits; 16 columns are read at 17.3 and, with a pause, at 19.4, and written at 12.9 and,
 * with a longer one, at 15.8. */
#if defined __x86_64__
#define NOPS(N) __asm__ volatile(".rept " #N "\n\tnop\n\t.endr" ::: "memory")
#else
#define NOPS(N) (void)0
#endif
#define PAUSE NOPS(24)
enum { WAYS = 8 };   /* lines of a set */
enum { WIDE = 512 }; /* the largest block, in bytes, that the loops here copy better than the C library */
INLINE int crowded(int64_t d, int64_t n) { return (d & 4095) == 0 && n > WAYS; }

INLINE u16 swap_u16(u16 x) { return __builtin_bswap16(x); }
INLINE u32 swap_u32(u32 x) { return __builtin_bswap32(x); }
INLINE u64 swap_u64(u64 x) { return __builtin_bswap64(x); }
INLINE unsigned char same_u8(unsigned char x) { return x; }
INLINE u16 same_u16(u16 x) { return x; }
INLINE u32 same_u32(u32 x) { return x; }
INLINE u64 same_u64(u64 x) { return x; }
INLINE u8x16 same_u8x16(u8x16 x) { return x; }
INLINE u8x16 swap_u8x16(u8x16 x)
{
    return __builtin_shuffle(x, (u8x16){15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
}

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

/* n words, d and s bytes apart: without gaps on one side or on both, and otherwise. */
#define STRIDED(NAME, T, F)                                                                                             \
    INLINE void NAME(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t n)                     \
    {                                                                                                                   \
        const int64_t b = sizeof(T);                                                                                    \
        int64_t i = 0;                                                                                                  \
        if (d == b && s == b) {                                                                                         \
            for (; i < n; i++) ((T *)dst)[i] = F(((const T *)src)[i]);                                                  \
        } else if (d == b && s == 2 * b) {                                                                              \
            for (; i < n - 1; i++) ((T *)dst)[i] = F(((const T *)src)[2 * i]); /* the last has nothing behind it */     \
            if (n > 0) ((T *)dst)[i] = F(((const T *)src)[2 * i]);                                                      \
        } else if (crowded(d, n)) {                                                                                     \
            volatile char hit;                                                                                          \
            for (; i < n; i++) {                                                                                        \
                *(T *)dst = F(*(const T *)src);                                                                         \
                hit = 0;                                                                                                \
                NOPS(16);                                                                                               \
                dst += d, src += s;                                                                                     \
            }                                                                                                           \
            (void)hit;                                                                                                  \
        } else if (crowded(s, n)) {                                                                                     \
            for (; i < n; i++) {                                                                                        \
                *(T *)dst = F(*(const T *)src);                                                                         \
                NOPS(12);                                                                                               \
                dst += d, src += s;                                                                                     \
            }                                                                                                           \
        } else {                                                                                                        \
            for (; i < n - 3; i += 4) {                                                                                 \
                T a = F(*(const T *)src), e = F(*(const T *)(src + s));                                                 \
                T f = F(*(const T *)(src + 2 * s)), g = F(*(const T *)(src + 3 * s));                                   \
                *(T *)dst = a, *(T *)(dst + d) = e, *(T *)(dst + 2 * d) = f, *(T *)(dst + 3 * d) = g;                   \
                dst += 4 * d, src += 4 * s;                                                                             \
            }                                                                                                           \
            for (; i < n; i++) *(T *)dst = F(*(const T *)src), dst += d, src += s;                                      \
        }                                                                                                               \
    }

STRIDED(strided_1, unsigned char, same_u8)
STRIDED(strided_2, u16, same_u16)
STRIDED(strided_4, u32, same_u32)
STRIDED(strided_8, u64, same_u64)
STRIDED(strided_16, u8x16, same_u8x16)
STRIDED(swapped_2, u16, swap_u16)
STRIDED(swapped_4, u32, swap_u32)
STRIDED(swapped_8, u64, swap_u64)
STRIDED(swapped_16, u8x16, swap_u8x16)

/* A block as two words that may overlap. */
#define ENDS(NAME, T)                                                                                                   \
    INLINE void NAME(char *restrict dst, const char *restrict src, int64_t b)                                           \
    {                                                                                                                   \
        T first = *(const T *)src, last = *(const T *)(src + b - sizeof(T));                                            \
        *(T *)dst = first;                                                                                              \
        *(T *)(dst + b - sizeof(T)) = last;                                                                             \
    }
ENDS(ends_2, u16)
ENDS(ends_4, u32)
ENDS(ends_8, u64)
ENDS(ends_16, u8x16)
ENDS(ends_32, u8x32)

/* A block of 64 to 128 bytes. */
INLINE void four_32(char *restrict dst, const char *restrict src, int64_t b)
{
    u8x32 v0 = *(const u8x32 *)src, v1 = *(const u8x32 *)(src + 32);
    u8x32 v2 = *(const u8x32 *)(src + b - 64), v3 = *(const u8x32 *)(src + b - 32);
    *(u8x32 *)dst = v0, *(u8x32 *)(dst + 32) = v1, *(u8x32 *)(dst + b - 64) = v2, *(u8x32 *)(dst + b - 32) = v3;
}

/* A block of more than 128 bytes: words of 32, the last of which may overlap the one before. */
INLINE void words_32(char *restrict dst, const char *restrict src, int64_t b)
{
    int64_t k = 0;
    u8x32 last = *(const u8x32 *)(src + b - 32);
    for (; k < b - 63; k += 64) {
        u8x32 v0 = *(const u8x32 *)(src + k), v1 = *(const u8x32 *)(src + k + 32);
        *(u8x32 *)(dst + k) = v0, *(u8x32 *)(dst + k + 32) = v1;
    }
    if (k < b - 32) *(u8x32 *)(dst + k) = *(const u8x32 *)(src + k);
    *(u8x32 *)(dst + b - 32) = last;
}

#define EACH(COPY)                                             \
    {                                                          \
        int written = crowded(d, n), read = crowded(s, n);     \
        if (written | read) {                                  \
            for (int64_t i = 0; i < n; i++) {                  \
                COPY(dst, src, b);                             \
                PAUSE;                                         \
                if (written) PAUSE;                            \
                dst += d, src += s;                            \
            }                                                  \
        } else {                                               \
            for (int64_t i = 0; i < n; i++, dst += d, src += s) COPY(dst, src, b); \
        }                                                      \
    }

enum { LONG = 64 << 10, FAR = 8 << 20, AHEAD_LONG = 1 << 10 };

/* A long run that fits into the caches, from the front or from the back. Fetching both sides in advance is what the
 * compiler's and the C library's copies do not do: 39.9 GB/s against 37.7 for 1 MiB. */
INLINE void span(char *restrict dst, const char *restrict src, int64_t i)
{
    u8x32 v0 = *(const u8x32 *)(src + i), v1 = *(const u8x32 *)(src + i + 32);
    u8x32 v2 = *(const u8x32 *)(src + i + 64), v3 = *(const u8x32 *)(src + i + 96);
    *(u8x32 *)(dst + i) = v0, *(u8x32 *)(dst + i + 32) = v1, *(u8x32 *)(dst + i + 64) = v2, *(u8x32 *)(dst + i + 96) = v3;
}

CLONED static void forward(char *restrict dst, const char *restrict src, int64_t n)
{
    int64_t i = 0;
    for (; i < n - 127; i += 128) {
        __builtin_prefetch(dst + i + AHEAD_LONG, 1), __builtin_prefetch(dst + i + AHEAD_LONG + 64, 1);
        __builtin_prefetch(src + i + AHEAD_LONG), __builtin_prefetch(src + i + AHEAD_LONG + 64);
        span(dst, src, i);
    }
    memcpy(dst + i, src + i, n - i);
}

CLONED static void backward(char *restrict dst, const char *restrict src, int64_t n)
{
    int64_t i = n - 128;
    for (; i >= 0; i -= 128) span(dst, src, i);
    memcpy(dst, src, i + 128);
}

/* A packed run is looked at from its front as a rule, by what unpacks or sends it: it is packed from the back, so that the
 * front is in the cache (4 MiB packed and unpacked: 38.5 GB/s against 34.4). */
static void move_run(char *dst, const char *src, int64_t n, int unpack)
{
    if (n < LONG || n > FAR) memcpy(dst, src, n);
    else if (unpack) forward(dst, src, n);
    else backward(dst, src, n);
}

INLINE void blocks(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t b, int64_t n)
{
    if (b == 8) strided_8(dst, d, src, s, n);
    else if (b == 4) strided_4(dst, d, src, s, n);
    else if (b == 16) strided_16(dst, d, src, s, n);
    else if (b == 1) strided_1(dst, d, src, s, n);
    else if (b == 2) strided_2(dst, d, src, s, n);
    else if (b == 3) EACH(ends_2)
    else if (b < 8) EACH(ends_4)
    else if (b < 16) EACH(ends_8)
    else if (b <= 32) EACH(ends_16)
    else if (b <= 64) EACH(ends_32)
    else if (b <= 128) EACH(four_32)
    else if (b <= WIDE) EACH(words_32)
    else EACH(memcpy)
}

INLINE void swapped_words(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int word, int64_t n)
{
    if (word == 8) swapped_8(dst, d, src, s, n);
    else if (word == 4) swapped_4(dst, d, src, s, n);
    else if (word == 2) swapped_2(dst, d, src, s, n);
    else swapped_16(dst, d, src, s, n);
}

INLINE void swapped_blocks(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t b, int word, int64_t n)
{
    int64_t k = b / word;
    if (k >= 4) {
        for (int64_t i = 0; i < n; i++) swapped_words(dst + i * d, word, src + i * s, word, word, k);
        return;
    }
    for (int64_t i = 0; i < k; i++) swapped_words(dst + i * word, d, src + i * word, s, word, n);
}

/* Two to seven words in each of many rounds. */
enum { SHORT = 8 };

#define ROUNDS(T, K)                                                                                                    \
    case K:                                                                                                             \
        for (int64_t i = 0; i < n; i++, dst += od, src += os) {                                                         \
            T v[K];                                                                                                     \
            for (int k = 0; k < K; k++) v[k] = *(const T *)(src + k * s);                                               \
            for (int k = 0; k < K; k++) *(T *)(dst + k * d) = v[k];                                                     \
        }                                                                                                               \
        break;
#define FEW(NAME, T)                                                                                                    \
    INLINE void NAME(char *restrict dst, int64_t od, const char *restrict src, int64_t os, int64_t n, int64_t d,        \
                     int64_t s, int64_t few)                                                                            \
    {                                                                                                                   \
        switch (few) { ROUNDS(T, 2) ROUNDS(T, 3) ROUNDS(T, 4) ROUNDS(T, 5) ROUNDS(T, 6) ROUNDS(T, 7) }                  \
    }
FEW(few_4, u32)
FEW(few_8, u64)

/* A square of words, for a transposition. */
enum { SIDE = 8 };

#define SQUARE(NAME, T)                                                                                                 \
    INLINE void NAME(char *restrict dst, const char *restrict src, int64_t od, int64_t os, int64_t d, int64_t s)        \
    {                                                                                                                   \
        for (int i = 0; i < SIDE; i++, dst += od, src += os) {                                                          \
            T v0 = *(const T *)src, v1 = *(const T *)(src + s), v2 = *(const T *)(src + 2 * s), v3 = *(const T *)(src + 3 * s); \
            T v4 = *(const T *)(src + 4 * s), v5 = *(const T *)(src + 5 * s), v6 = *(const T *)(src + 6 * s), v7 = *(const T *)(src + 7 * s); \
            *(T *)dst = v0, *(T *)(dst + d) = v1, *(T *)(dst + 2 * d) = v2, *(T *)(dst + 3 * d) = v3;                   \
            *(T *)(dst + 4 * d) = v4, *(T *)(dst + 5 * d) = v5, *(T *)(dst + 6 * d) = v6, *(T *)(dst + 7 * d) = v7;     \
        }                                                                                                               \
    }
SQUARE(square_4, u32)
SQUARE(square_8, u64)
SQUARE(square_16, u8x16)

typedef uint64_t u64x4 __attribute__((vector_size(32), may_alias, aligned(1)));

/* Four words of each of four rows become four words of each of four rows: dst[a][b] = src[b][a]. */
INLINE void turn_4x4(char *restrict dst, int64_t d, const char *restrict src, int64_t s)
{
    u64x4 r0 = *(const u64x4 *)src, r1 = *(const u64x4 *)(src + s), r2 = *(const u64x4 *)(src + 2 * s), r3 = *(const u64x4 *)(src + 3 * s);
    u64x4 even01 = __builtin_shuffle(r0, r1, (u64x4){0, 4, 2, 6}), odd01 = __builtin_shuffle(r0, r1, (u64x4){1, 5, 3, 7});
    u64x4 even23 = __builtin_shuffle(r2, r3, (u64x4){0, 4, 2, 6}), odd23 = __builtin_shuffle(r2, r3, (u64x4){1, 5, 3, 7});
    *(u64x4 *)dst = __builtin_shuffle(even01, even23, (u64x4){0, 1, 4, 5});
    *(u64x4 *)(dst + d) = __builtin_shuffle(odd01, odd23, (u64x4){0, 1, 4, 5});
    *(u64x4 *)(dst + 2 * d) = __builtin_shuffle(even01, even23, (u64x4){2, 3, 6, 7});
    *(u64x4 *)(dst + 3 * d) = __builtin_shuffle(odd01, odd23, (u64x4){2, 3, 6, 7});
}

INLINE void turn_8x8(char *restrict dst, int64_t d, const char *restrict src, int64_t s)
{
    turn_4x4(dst, d, src, s);
    turn_4x4(dst + 32, d, src + 4 * s, s);
    turn_4x4(dst + 4 * d, d, src + 32, s);
    turn_4x4(dst + 4 * d + 32, d, src + 4 * s + 32, s);
}

/* A loop with its steps as destination and source have them. */
struct loop {
    int64_t n, d, s;
};

INLINE void row(char *restrict dst, const char *restrict src, struct loop l, int64_t b, int word)
{
    if (word > 1) swapped_blocks(dst, l.d, src, l.s, b, word, l.n);
    else blocks(dst, l.d, src, l.s, b, l.n);
}

INLINE int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t pitch_of(struct loop l) { return magnitude(l.s) > magnitude(l.d) ? magnitude(l.s) : magnitude(l.d); }

/* Two loops, by tiles: a transposition (neighbours in one are distant in the other) by a cache line's worth on
 * either side; a short inner loop by as many rounds of the outer one as stay near, and those inside. */
CLONED static void last_two(char *restrict dst, const char *restrict src, struct loop outer, struct loop inner, int64_t b, int word)
{
    int64_t high = outer.n, wide = inner.n;
    if (word == 1 && b > WIDE && inner.n <= WAYS) { /* few blocks a round, each worth a call and nothing more */
        for (int64_t i = 0; i < outer.n; i++)
            for (int64_t j = 0; j < inner.n; j++) memcpy(dst + i * outer.d + j * inner.d, src + i * outer.s + j * inner.s, b);
        return;
    }
    int crossed = (magnitude(outer.s) < magnitude(inner.s)) != (magnitude(outer.d) < magnitude(inner.d));
    if (crossed && outer.n > 1 && outer.n < SHORT && word == 1 && b == 8) { /* a few columns: row by row */
        few_8(dst, inner.d, src, inner.s, inner.n, outer.d, outer.s, outer.n);
        return;
    } else if (crossed && inner.n >= SIDE && b <= 64) {
        high = wide = SIDE;
    } else if (inner.n > 1 && inner.n < SHORT && word == 1 && b == 8) {
        few_8(dst, outer.d, src, outer.s, outer.n, inner.d, inner.s, inner.n);
        return;
    } else if (inner.n > 1 && inner.n < SHORT && word == 1 && b == 4) {
        few_4(dst, outer.d, src, outer.s, outer.n, inner.d, inner.s, inner.n);
        return;
    } else if (inner.n < SHORT && outer.n > inner.n && pitch_of(outer) <= REACH / 16) {
        struct loop swap = outer;
        outer = inner, inner = swap;
        high = outer.n, wide = pitch_of(inner) ? REACH / pitch_of(inner) : inner.n;
    }
    for (int64_t j = 0; j < inner.n; j += wide)
        for (int64_t i = 0; i < outer.n; i += high) {
            struct loop part = {least_of(wide, inner.n - j), inner.d, inner.s};
            int64_t end = least_of(i + high, outer.n);
            if (high == SIDE && part.n == SIDE && end - i == SIDE && word == 1 && (b == 8 || b == 4 || b == 16)) {
                char *to = dst + i * outer.d + j * inner.d;
                const char *from = src + i * outer.s + j * inner.s;
                if (b == 8 && outer.s == 8 && inner.d == 8) turn_8x8(to, outer.d, from, inner.s);
                else if (b == 8 && outer.d == 8 && inner.s == 8) turn_8x8(to, inner.d, from, outer.s);
                else if (b == 8) square_8(to, from, outer.d, outer.s, inner.d, inner.s);
                else if (b == 4) square_4(to, from, outer.d, outer.s, inner.d, inner.s);
                else square_16(to, from, outer.d, outer.s, inner.d, inner.s);
                continue;
            }
            for (int64_t k = i; k < end; k++)
                row(dst + k * outer.d + j * inner.d, src + k * outer.s + j * inner.s, part, b, word);
        }
}

static void loops(char *dst, const char *src, const struct loop *l, int depth, int64_t b, int word)
{
    if (depth == 2) {
        last_two(dst, src, l[0], l[1], b, word);
        return;
    }
    for (int64_t i = 0; i < l->n; i++) loops(dst + i * l->d, src + i * l->s, l + 1, depth - 1, b, word);
}

void impi_move_nest(uintptr_t mem, uintptr_t buf, const struct impi_nest *nest)
{
    struct loop l[IMPI_MAX_DIMS + 2] = {{1, 0, 0}, {1, 0, 0}};
    int depth = nest->depth < 2 ? 2 : nest->depth, missing = depth - nest->depth;
    for (int i = 0; i < nest->depth; i++) {
        const struct impi_dim *m = &nest->dims[i];
        l[missing + i] = nest->unpack ? (struct loop){m->n, m->mem, m->buf} : (struct loop){m->n, m->buf, m->mem};
    }
    char *dst = (char *)(nest->unpack ? mem : buf);
    const char *src = (const char *)(nest->unpack ? buf : mem);
    if (nest->depth == 0 && nest->word == 1) move_run(dst, src, nest->block, nest->unpack);
    else loops(dst, src, l, depth, nest->block, nest->word);
}

/* Offsets and lengths are of 8 bytes in the lists of Go, of 4 or 8 in those of the program (type_plan.c). */
INLINE int64_t entry(const void *list, int wide, int64_t i)
{
    return wide ? ((const int64_t *)list)[i] : ((const int32_t *)list)[i];
}

/* A loop over listed blocks, with a constant direction, that fetches some of them in advance. */
enum { AHEAD = 16 };
#define LISTED(MOVE)                                                                                                    \
    if (unpack) {                                                                                                       \
        LISTED_WAY(char *dst = mem + entry(offs, wide, i) * scale; const char *src = buf; MOVE)                         \
    } else {                                                                                                            \
        LISTED_WAY(char *dst = buf; const char *src = mem + entry(offs, wide, i) * scale; MOVE)                         \
    }
#define LISTED_WAY(MOVE)                                                                                                \
    int64_t i = 0;                                                                                                      \
    for (; i < n - AHEAD; i++, buf += b) {                                                                              \
        __builtin_prefetch(mem + entry(offs, wide, i + AHEAD) * scale);                                                 \
        MOVE;                                                                                                           \
    }                                                                                                                   \
    for (; i < n; i++, buf += b) { MOVE; }

INLINE void listed_words(char *mem, char *buf, const void *offs, int wide, int64_t n, int64_t scale, int64_t b, int word, int unpack)
{
    if (b == word && b == 8) { LISTED(*(u64 *)dst = swap_u64(*(const u64 *)src)) }
    else if (b == word && b == 4) { LISTED(*(u32 *)dst = swap_u32(*(const u32 *)src)) }
    else { LISTED(swapped_words(dst, word, src, word, word, b / word)) }
}

INLINE void listed_blocks(char *mem, char *buf, const void *offs, int wide, int64_t n, int64_t scale, int64_t b, int unpack)
{
    if (b == 8) { LISTED(*(u64 *)dst = *(const u64 *)src) }
    else if (b == 4) { LISTED(*(u32 *)dst = *(const u32 *)src) }
    else if (b == 16) { LISTED(*(u8x16 *)dst = *(const u8x16 *)src) }
    else if (b == 2) { LISTED(*(u16 *)dst = *(const u16 *)src) }
    else if (b == 1) { LISTED(*dst = *src) }
    else if (b == 3) { LISTED(ends_2(dst, src, b)) }
    else if (b < 8) { LISTED(ends_4(dst, src, b)) }
    else if (b < 16) { LISTED(ends_8(dst, src, b)) }
    else if (b <= 32) { LISTED(ends_16(dst, src, b)) }
    else if (b <= 64) { LISTED(ends_32(dst, src, b)) }
    else if (b <= 128) { LISTED(four_32(dst, src, b)) }
    else if (b <= WIDE) { LISTED(words_32(dst, src, b)) }
    else { LISTED(memcpy(dst, src, b)) }
}

CLONED static void listed_8(char *mem, char *buf, const void *offs, int64_t n, int64_t scale, int64_t b, int word, int unpack)
{
    if (word > 1) listed_words(mem, buf, offs, 1, n, scale, b, word, unpack);
    else listed_blocks(mem, buf, offs, 1, n, scale, b, unpack);
}

CLONED static void listed_4(char *mem, char *buf, const void *offs, int64_t n, int64_t scale, int64_t b, int unpack)
{
    listed_blocks(mem, buf, offs, 0, n, scale, b, unpack);
}

void impi_move_listed(uintptr_t mem, uintptr_t buf, const int64_t *offs, int64_t n, int64_t scale, int64_t block, int word, int unpack)
{
    listed_8((char *)mem, (char *)buf, offs, n, scale, block, word, unpack);
}

/* A block of one to four words, without a branch: words at the beginning, at the end, and two in between that
 * may overlap them. */
#define FOUR(T)                                                                                            \
    {                                                                                                      \
        const int64_t w = sizeof(T), last = b - w;                                                         \
        int64_t second = w < last ? w : last, third = 2 * w < last ? 2 * w : last;                         \
        T v0 = *(const T *)src, v1 = *(const T *)(src + second), v2 = *(const T *)(src + third), v3 = *(const T *)(src + last); \
        *(T *)dst = v0, *(T *)(dst + second) = v1, *(T *)(dst + third) = v2, *(T *)(dst + last) = v3;      \
    }

#define VARIED(MOVE)                                                                                       \
    if (unpack) {                                                                                          \
        VARIED_WAY(char *dst = mem + entry(offs, wide, i) * scale; const char *src = buf; MOVE)            \
    } else {                                                                                               \
        VARIED_WAY(char *dst = buf; const char *src = mem + entry(offs, wide, i) * scale; MOVE)            \
    }
#define VARIED_WAY(...)                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                                      \
        int64_t b = entry(lens, wide_lens, i) * unit;                                                      \
        __VA_ARGS__;                                                                                       \
        buf += b;                                                                                          \
    }

INLINE void varied(char *mem, char *buf, const void *offs, int wide, const void *lens, int wide_lens, int64_t n, int64_t scale,
                   int64_t unit, int64_t least, int64_t most, int unpack)
{
    if (least >= 4 && most <= 16) { VARIED(FOUR(u32)) }
    else if (least >= 8 && most <= 32) { VARIED(FOUR(u64)) }
    else if (least >= 16 && most <= 64) { VARIED(FOUR(u8x16)) }
    else if (least >= 32 && most <= 128) { VARIED(FOUR(u8x32)) }
    else if (least >= 65 && most <= 1024) { VARIED(words_32(dst, src, b)) }
    else { VARIED(memcpy(dst, src, b)) }
}

/* What lies between two ends of runs is copied at a time; what comes next is fetched in advance. */
enum { PIECES_AHEAD = 6 };

INLINE void piece(char *restrict dst, const char *restrict src, int64_t b)
{
    if (b == 8) *(u64 *)dst = *(const u64 *)src;
    else if (b < 8) {
        if (b >= 4) ends_4(dst, src, b);
        else if (b >= 2) ends_2(dst, src, b);
        else *dst = *src;
    } else if (b <= 32) FOUR(u64)
    else if (b <= 128) FOUR(u8x32)
    else if (b <= WIDE) words_32(dst, src, b);
    else memcpy(dst, src, (size_t)b);
}

CLONED static void pieces(char *dst, const char *src, struct impi_runs *to, struct impi_runs *from)
{
    int64_t i = to->used, j = from->used, d = to->off[i], s = from->off[j], room = to->len[i], left = from->len[j];
    for (;;) {
        int64_t n = room < left ? room : left;
        piece(dst + d, src + s, n);
        d += n, s += n, room -= n, left -= n;
        if (room == 0) {
            if (++i == to->n) break;
            d = to->off[i], room = to->len[i];
            if (i < to->n - PIECES_AHEAD) __builtin_prefetch(dst + to->off[i + PIECES_AHEAD], 1);
        }
        if (left == 0) {
            if (++j == from->n) break;
            s = from->off[j], left = from->len[j];
            if (j < from->n - PIECES_AHEAD) __builtin_prefetch(src + from->off[j + PIECES_AHEAD]);
        }
    }
    if (left == 0 && j < from->n) j++;
    if (i < to->n) to->off[i] = d, to->len[i] = room;
    if (j < from->n && left) from->off[j] = s, from->len[j] = left;
    to->used = i, from->used = j;
}

void impi_copy_pieces(uintptr_t dst, uintptr_t src, struct impi_runs *to, struct impi_runs *from)
{
    pieces((char *)dst, (const char *)src, to, from);
}

CLONED static void varied_8(char *mem, char *buf, const void *offs, const void *lens, int64_t n, int64_t scale, int64_t unit,
                            int64_t least, int64_t most, int word, int unpack)
{
    const int wide = 1, wide_lens = 1;
    if (word > 1) { VARIED(swapped_words(dst, word, src, word, word, b / word)) }
    else varied(mem, buf, offs, wide, lens, wide_lens, n, scale, unit, least, most, unpack);
}

CLONED static void varied_4(char *mem, char *buf, const struct impi_list *l, int unpack)
{
    if (l->wide) varied(mem, buf, l->offs, 1, l->lens, 0, l->n, l->scale, l->block, l->least, l->most, unpack);
    else varied(mem, buf, l->offs, 0, l->lens, 0, l->n, l->scale, l->block, l->least, l->most, unpack);
}

void impi_move_varied(uintptr_t mem, uintptr_t buf, const int64_t *offs, const int64_t *lens, int64_t n, int64_t scale, int64_t unit,
                      int64_t least, int64_t most, int word, int unpack)
{
    varied_8((char *)mem, (char *)buf, offs, lens, n, scale, unit, least, most, word, unpack);
}

void impi_move_list(uintptr_t mem, uintptr_t buf, const struct impi_list *l, int unpack)
{
    if (l->lens) varied_4((char *)mem, (char *)buf, l, unpack);
    else if (l->wide) listed_8((char *)mem, (char *)buf, l->offs, l->n, l->scale, l->block, 1, unpack);
    else listed_4((char *)mem, (char *)buf, l->offs, l->n, l->scale, l->block, unpack);
}
