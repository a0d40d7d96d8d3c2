/* Blocks in loops. */
#include "kernel_block.h"
#include "kernels.h"

enum { REACH = 16 << 10 }; /* bytes that stay in the first-level cache until they are looked at again */

/* Blocks that follow each other faster than memory brings them: the lines of those that come some kilobytes later are
 * fetched in advance, on both sides (27000 blocks of 240 bytes, 6 MiB: 28.5 GB/s against 25.0). The processor's own
 * prefetchers stop at each page, and see no pattern in blocks that are far apart. But no more than the sets of the
 * first-level cache take: where blocks are read a multiple of the page size apart, the next alone (1024 blocks of 128
 * bytes: 18.3 GB/s against 15.6). */
enum { PAGE = 4096, BOTH = 4 };

INLINE int64_t blocks_ahead(int64_t d, int64_t s, int64_t most)
{
    int64_t pitch = magnitude(s) > magnitude(d) ? s : d;
    return least_of(most, PAGE >> __builtin_ctzll((uint64_t)pitch | PAGE));
}

INLINE void fetch(const char *p, int64_t away) { __builtin_prefetch((const char *)((uintptr_t)p + (uintptr_t)away)); }

/* All lines of a block of up to 64, 128 and 256 bytes. */
INLINE void fetch_64(const char *p, int64_t at, int64_t b) { fetch(p, at), fetch(p, at + b - 1); }
INLINE void fetch_128(const char *p, int64_t at, int64_t b) { fetch_64(p, at, b), fetch(p, at + 64); }
INLINE void fetch_256(const char *p, int64_t at, int64_t b)
{
    fetch_128(p, at, b), fetch(p, at + 128), fetch(p, at + b - 65);
}

#define EACH_AHEAD(NAME, COPY, FETCH, MOST)                                                                           \
    CLONED static void NAME(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t b, int64_t n) \
    {                                                                                                                 \
        const int64_t ahead = blocks_ahead(d, s, MOST);                                                               \
        if (ahead >= BOTH) {                                                                                          \
            for (int64_t i = 0; i < n; i++, dst += d, src += s) {                                                     \
                FETCH(dst, ahead * d, b);                                                                             \
                FETCH(src, ahead * s, b);                                                                             \
                COPY(dst, src, b);                                                                                    \
            }                                                                                                         \
        } else if (magnitude(s) > magnitude(d)) {                                                                     \
            for (int64_t i = 0; i < n; i++, dst += d, src += s) {                                                     \
                FETCH(src, ahead * s, b);                                                                             \
                COPY(dst, src, b);                                                                                    \
            }                                                                                                         \
        } else {                                                                                                      \
            for (int64_t i = 0; i < n; i++, dst += d, src += s) COPY(dst, src, b);                                    \
        }                                                                                                             \
    }
EACH_AHEAD(upto_64_ahead, ends_32, fetch_64, 16)
EACH_AHEAD(upto_128, four_32, fetch_128, 16)
EACH_AHEAD(upto_256, eight_32, fetch_256, 8)

/* Words. */
#define WORDS(NAME, MOVE)                                                                                             \
    CLONED static void NAME(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t b, int64_t n) \
    {                                                                                                                 \
        (void)b, (void)d, (void)s;                                                                                    \
        MOVE;                                                                                                         \
    }
WORDS(words_1, strided_1(dst, d, src, s, n))
WORDS(words_2, strided_2(dst, d, src, s, n))
WORDS(words_4, strided_4(dst, d, src, s, n))
WORDS(words_8, strided_8(dst, d, src, s, n))
WORDS(words_16, strided_16(dst, d, src, s, n))
WORDS(halves_4, every_other_4(dst, src, n))
WORDS(halves_8, every_other_8(dst, src, n))

/* Short blocks, of which the processor itself runs ahead far enough, or too far. */
#define EACH(NAME, COPY)                                                                                              \
    CLONED static void NAME(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t b, int64_t n) \
    {                                                                                                                 \
        for (int64_t i = 0; i < n; i++, dst += d, src += s) COPY(dst, src, b);                                        \
    }
EACH(upto_3, ends_2)
EACH(upto_7, ends_4)
EACH(upto_15, ends_8)
EACH(upto_32, ends_16)
EACH(upto_64, ends_32)

/* Where runs lie a multiple of the page size apart, the last lines of each would come too late. */
CLONED static void runs(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t b, int64_t n)
{
    if (b >= LONG_RUN) {
        for (int64_t i = 0; i < n; i++, dst += d, src += s) impi_move_run(dst, src, b, 1);
    } else if (crowded(d, n) || crowded(s, n)) {
        for (int64_t i = 0; i < n; i++, dst += d, src += s) {
            fetch(src, b - 1), fetch(src, b - 65), fetch(src, b - 129);
            run_32(dst, src, b);
        }
    } else {
        for (int64_t i = 0; i < n; i++, dst += d, src += s) run_32(dst, src, b);
    }
}

/* Blocks one after the other. */
typedef void kernel(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t b, int64_t n);

static kernel *kernel_of(int64_t n, int64_t d, int64_t s, int64_t b)
{
    switch (b) {
    case 1: return words_1;
    case 2: return words_2;
    case 3: return upto_3;
    case 4: return d == 4 && s == 8 ? halves_4 : words_4;
    case 8: return d == 8 && s == 16 ? halves_8 : words_8;
    case 16: return words_16;
    }
    if (b < 8) return upto_7;
    if (b < 16) return upto_15;
    if (b <= 32) return upto_32;
    if (b <= 64) return crowded(d, n) || crowded(s, n) ? upto_64 : upto_64_ahead;
    return b <= 128 ? upto_128 : b <= WIDE ? upto_256 : runs;
}

/* Two to seven words in each of many rounds. */
enum { SHORT = 8 };

#define ROUNDS(T, K)                                                      \
    case K:                                                               \
        for (int64_t i = 0; i < n; i++, dst += od, src += os) {           \
            T v[K];                                                       \
            for (int k = 0; k < K; k++) v[k] = *(const T *)(src + k * s); \
            for (int k = 0; k < K; k++) *(T *)(dst + k * d) = v[k];       \
        }                                                                 \
        break;
#define FEW(NAME, T)                                                                                             \
    INLINE void NAME(char *restrict dst, int64_t od, const char *restrict src, int64_t os, int64_t n, int64_t d, \
                     int64_t s, int64_t few)                                                                     \
    {                                                                                                            \
        switch (few) { ROUNDS(T, 2) ROUNDS(T, 3) ROUNDS(T, 4) ROUNDS(T, 5) ROUNDS(T, 6) ROUNDS(T, 7) }           \
    }
FEW(few_4, u32)
FEW(few_8, u64)

/* A square of words, for a transposition. */
enum { SIDE = 8 };

#define SQUARE(NAME, T)                                                                                             \
    INLINE void NAME(char *restrict dst, const char *restrict src, int64_t od, int64_t os, int64_t d, int64_t s)    \
    {                                                                                                               \
        for (int i = 0; i < SIDE; i++, dst += od, src += os) {                                                      \
            T v0 = *(const T *)src, v1 = *(const T *)(src + s);                                                     \
            T v2 = *(const T *)(src + 2 * s), v3 = *(const T *)(src + 3 * s);                                       \
            T v4 = *(const T *)(src + 4 * s), v5 = *(const T *)(src + 5 * s);                                       \
            T v6 = *(const T *)(src + 6 * s), v7 = *(const T *)(src + 7 * s);                                       \
            *(T *)dst = v0, *(T *)(dst + d) = v1, *(T *)(dst + 2 * d) = v2, *(T *)(dst + 3 * d) = v3;               \
            *(T *)(dst + 4 * d) = v4, *(T *)(dst + 5 * d) = v5, *(T *)(dst + 6 * d) = v6, *(T *)(dst + 7 * d) = v7; \
        }                                                                                                           \
    }
SQUARE(square_4, u32)
SQUARE(square_8, u64)
SQUARE(square_16, u8x16)

/* Four words of each of four rows become four words of each of four rows: dst[a][b] = src[b][a]. */
INLINE void turn_4x4(char *restrict dst, int64_t d, const char *restrict src, int64_t s)
{
    u64x4 r0 = *(const u64x4 *)src, r1 = *(const u64x4 *)(src + s), r2 = *(const u64x4 *)(src + 2 * s),
          r3 = *(const u64x4 *)(src + 3 * s);
    u64x4 even01 = SHUFFLED(r0, r1, 0, 4, 2, 6), odd01 = SHUFFLED(r0, r1, 1, 5, 3, 7);
    u64x4 even23 = SHUFFLED(r2, r3, 0, 4, 2, 6), odd23 = SHUFFLED(r2, r3, 1, 5, 3, 7);
    *(u64x4 *)dst = SHUFFLED(even01, even23, 0, 1, 4, 5);
    *(u64x4 *)(dst + d) = SHUFFLED(odd01, odd23, 0, 1, 4, 5);
    *(u64x4 *)(dst + 2 * d) = SHUFFLED(even01, even23, 2, 3, 6, 7);
    *(u64x4 *)(dst + 3 * d) = SHUFFLED(odd01, odd23, 2, 3, 6, 7);
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

INLINE int64_t pitch_of(struct loop l) { return magnitude(l.s) > magnitude(l.d) ? magnitude(l.s) : magnitude(l.d); }

/* Three loops, of which the first goes round all else: a choice for every few blocks would take as long as they do. */

/* The blocks of the two others one after the other. */
static void in_order(char *dst, const char *src, struct loop first, struct loop outer, struct loop inner, int64_t b)
{
    kernel *move = kernel_of(inner.n, inner.d, inner.s, b);
    for (int64_t h = 0; h < first.n; h++, dst += first.d, src += first.s)
        for (int64_t i = 0; i < outer.n; i++) move(dst + i * outer.d, inner.d, src + i * outer.s, inner.s, b, inner.n);
}

/* The inner one in one go. */
CLONED static void few(char *restrict dst, const char *restrict src, struct loop first, struct loop outer,
                       struct loop inner, int64_t b)
{
    for (int64_t h = 0; h < first.n; h++, dst += first.d, src += first.s)
        if (b == 8) few_8(dst, outer.d, src, outer.s, outer.n, inner.d, inner.s, inner.n);
        else few_4(dst, outer.d, src, outer.s, outer.n, inner.d, inner.s, inner.n);
}

/* One tile: of the outer loop the instances i to i + high, of the inner one j to j + wide. */
INLINE void tile(char *restrict dst, const char *restrict src, struct loop outer, struct loop inner, int64_t i,
                 int64_t j, int64_t high, int64_t wide, int64_t b, kernel *move)
{
    int64_t n = least_of(wide, inner.n - j), end = least_of(i + high, outer.n);
    char *to = dst + i * outer.d + j * inner.d;
    const char *from = src + i * outer.s + j * inner.s;
    if (high == SIDE && n == SIDE && end - i == SIDE && (b == 8 || b == 4 || b == 16)) {
        if (b == 8 && outer.s == 8 && inner.d == 8) turn_8x8(to, outer.d, from, inner.s);
        else if (b == 8 && outer.d == 8 && inner.s == 8) turn_8x8(to, inner.d, from, outer.s);
        else if (b == 8) square_8(to, from, outer.d, outer.s, inner.d, inner.s);
        else if (b == 4) square_4(to, from, outer.d, outer.s, inner.d, inner.s);
        else square_16(to, from, outer.d, outer.s, inner.d, inner.s);
        return;
    }
    for (; i < end; i++, to += outer.d, from += outer.s) move(to, inner.d, from, inner.s, b, n);
}

/* By tiles of so many rounds. */
CLONED static void tiles(char *restrict dst, const char *restrict src, struct loop outer, struct loop inner,
                         int64_t high, int64_t wide, int64_t b)
{
    kernel *move = kernel_of(inner.n, inner.d, inner.s, b);
    for (int64_t j = 0; j < inner.n; j += wide)
        for (int64_t i = 0; i < outer.n; i += high) tile(dst, src, outer, inner, i, j, high, wide, b, move);
}

/* Two loops around a short one are best one after the other, or all of that at once; a transposition (neighbours in one
 * are distant in the other) by tiles of a cache line's worth on either side; a short inner loop by as many rounds of
 * the outer one as stay near, and those inside. */
static void three(char *dst, const char *src, struct loop first, struct loop outer, struct loop inner, int64_t b)
{
    int crossed = (magnitude(outer.s) < magnitude(inner.s)) != (magnitude(outer.d) < magnitude(inner.d));
    int64_t high = outer.n, wide = inner.n;
    if (outer.n == 1 || b > WIDE) {
        in_order(dst, src, first, outer, inner, b);
        return;
    }
    if (crossed && outer.n < SHORT && b == 8) { /* a few columns: row by row */
        few(dst, src, first, inner, outer, b);
        return;
    } else if (crossed && inner.n >= SIDE && b <= 64) {
        high = wide = SIDE;
    } else if (inner.n > 1 && inner.n < SHORT && (b == 8 || b == 4)) {
        few(dst, src, first, outer, inner, b);
        return;
    } else if (inner.n < SHORT && outer.n > inner.n && pitch_of(outer) <= REACH / 16) {
        struct loop swap = outer;
        outer = inner, inner = swap;
        high = outer.n, wide = pitch_of(inner) ? REACH / pitch_of(inner) : inner.n;
    } else {
        in_order(dst, src, first, outer, inner, b);
        return;
    }
    for (int64_t h = 0; h < first.n; h++) tiles(dst + h * first.d, src + h * first.s, outer, inner, high, wide, b);
}

static void loops(char *dst, const char *src, const struct loop *l, int depth, int64_t b)
{
    if (depth == 3) three(dst, src, l[0], l[1], l[2], b);
    else for (int64_t i = 0; i < l->n; i++) loops(dst + i * l->d, src + i * l->s, l + 1, depth - 1, b);
}

void impi_move_loops(uintptr_t mem, uintptr_t buf, const struct impi_dim *dims, int depth, int64_t block, int unpack)
{
    char *dst = (char *)(unpack ? mem : buf);
    const char *src = (const char *)(unpack ? buf : mem);
    if (depth == 0) {
        impi_move_run(dst, src, block, unpack);
        return;
    }
    if (depth == 1) {
        int64_t n = dims->n, d = unpack ? dims->mem : dims->buf, s = unpack ? dims->buf : dims->mem;
        kernel_of(n, d, s, block)(dst, d, src, s, block, n);
        return;
    }
    struct loop l[IMPI_MAX_DIMS + 2];
    int missing = depth < 3 ? 3 - depth : 0;
    for (int i = 0; i < missing; i++) l[i] = (struct loop){1, 0, 0};
    for (int i = 0; i < depth; i++)
        l[missing + i] = unpack ? (struct loop){dims[i].n, dims[i].mem, dims[i].buf}
                                : (struct loop){dims[i].n, dims[i].buf, dims[i].mem};
    loops(dst, src, l, depth + missing, block);
}

void impi_move_nest(uintptr_t mem, uintptr_t buf, const struct impi_nest *nest)
{
    impi_move_loops(mem, buf, nest->dims, nest->depth, nest->block, nest->unpack);
}
