/* Blocks in loops. */
#include "kernel_block.h"
#include "kernels.h"

enum { REACH = 16 << 10 }; /* bytes that stay in the first-level cache until they are looked at again */

/* The lines of a block of up to `most` bytes. */
INLINE void fetch_block(const char *p, int64_t away, int64_t b, int64_t most)
{
    for (int64_t i = 0; i <= most; i += 64) fetch(p, away + least_of(i, b - 1), 0);
}

#define KERNEL(NAME, LOOP)                                                                                            \
    CLONED static void NAME(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t b, int64_t n) \
    { (void)b; LOOP }
/* Blocks may follow each other faster than memory brings them, so those that come later are fetched in advance, on both
 * sides: the processor's own prefetchers stop at each page, and see no pattern in blocks that are far apart. */
#define EACH_AHEAD(MOST, AHEAD)                                                     \
    const int64_t ahead = AHEAD;                                                    \
    for (int64_t i = 0; i < n; i++, dst += d, src += s) {                           \
        fetch_block(dst, ahead * d, b, MOST), fetch_block(src, ahead * s, b, MOST); \
        upto_##MOST(dst, src, b);                                                   \
    }
/* Of short blocks the processor itself runs ahead far enough, or too far. */
#define EACH(COPY) for (int64_t i = 0; i < n; i++, dst += d, src += s) COPY(dst, src, b);

KERNEL(words_1, strided_1(dst, d, src, s, n);)
KERNEL(words_2, strided_2(dst, d, src, s, n);)
KERNEL(words_4, strided_4(dst, d, src, s, n);)
KERNEL(words_8, strided_8(dst, d, src, s, n);)
KERNEL(words_16, strided_16(dst, d, src, s, n);)
KERNEL(blocks_3, EACH(upto_4))
KERNEL(blocks_7, EACH(upto_8))
KERNEL(blocks_15, EACH(upto_16))
KERNEL(blocks_32, EACH(upto_32))
KERNEL(blocks_64, EACH_AHEAD(64, crowded(d, n) || crowded(s, n) ? 0 : 8))
KERNEL(blocks_128, EACH_AHEAD(128, 4))
KERNEL(blocks_256, EACH_AHEAD(256, 4))
CLONED_512 static void runs(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t b, int64_t n)
{
    if (b < LONG_RUN || impi_slips(dst, src)) EACH(run) else EACH(impi_move_run)
}

/* From LONG_RUN on, the C library's copy is as good as any, of no more at once than fits a second-level cache: there it
 * takes string instructions if they are quick, and no longer for more (1 MiB: 65 GB/s against 56). See impi_slips. */
void impi_move_run(void *dst, const void *src, int64_t n)
{
    for (; n >= 2 * MOST && !impi_slips(dst, src); n -= MOST, dst = (char *)dst + MOST, src = (const char *)src + MOST)
        memcpy(dst, src, MOST);
    if (n > WIDE && (n < LONG_RUN || impi_slips(dst, src))) runs(dst, 0, src, 0, n, 1);
    else if (n > 0) memcpy(dst, src, (size_t)n); /* nothing may lie nowhere */
}

/* Blocks one after the other. */
typedef void kernel(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t b, int64_t n);

static kernel *kernel_of(int64_t b)
{
    switch (b) {
    case 1: return words_1;
    case 2: return words_2;
    case 3: return blocks_3;
    case 4: return words_4;
    case 8: return words_8;
    case 16: return words_16;
    }
    if (b < 8) return blocks_7;
    if (b < 16) return blocks_15;
    if (b <= 32) return blocks_32;
    if (b <= 64) return blocks_64;
    return b <= 128 ? blocks_128 : b <= WIDE ? blocks_256 : runs;
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

#define SQUARE(STRIDED) \
    for (int i = 0; i < SIDE; i++, to += outer.d, from += outer.s) STRIDED(to, inner.d, from, inner.s, SIDE);

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
    kernel *move = kernel_of(b);
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
        if (b == 8 && outer.s == 8 && inner.d == 8 && (outer.d & 4095)) turn_8x8(to, outer.d, from, inner.s);
        else if (b == 8 && outer.d == 8 && inner.s == 8) turn_8x8(to, inner.d, from, outer.s);
        else if (b == 8) { SQUARE(strided_8) }
        else if (b == 4) { SQUARE(strided_4) }
        else { SQUARE(strided_16) }
        return;
    }
    for (; i < end; i++, to += outer.d, from += outer.s) move(to, inner.d, from, inner.s, b, n);
}

/* By tiles of so many rounds. */
CLONED static void tiles(char *restrict dst, const char *restrict src, struct loop outer, struct loop inner,
                         int64_t high, int64_t wide, int64_t b)
{
    kernel *move = kernel_of(b);
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
        impi_move_run(dst, src, block);
        return;
    }
    if (depth == 1) {
        int64_t n = dims->n, d = unpack ? dims->mem : dims->buf, s = unpack ? dims->buf : dims->mem;
        kernel_of(block)(dst, d, src, s, block, n);
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
