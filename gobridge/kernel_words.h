/* Words at a distance: what all kernels are made of. The same loops for several instruction sets: the compiler
 * makes the copies, the loader chooses. Everything is inlined into the few functions that are cloned, and depends on constants
 * there. */
#ifndef IMPI_KERNEL_WORDS_H
#define IMPI_KERNEL_WORDS_H

#include <stddef.h>
#include <stdint.h>
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

INLINE int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

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

/* Between blocks that lie a multiple of the page size apart. All those lines belong to one set of the first-level cache, and
 * a processor that runs ahead fetches more of them than the set holds. Measured with a 1024 x 1024 matrix of doubles (GB/s):
 * a column is read at 1.6 without a pause and 2.1 with a short one, and written at 1.4, 1.5 with the pause, and 1.8 if
 * each store is followed by one that hits. Longer pauses gain more on some pages, and lose on others. */
#if defined __x86_64__
#define NOPS(N) __asm__ volatile(".rept " #N "\n\tnop\n\t.endr" ::: "memory")
#else
#define NOPS(N) (void)0
#endif
enum { WAYS = 8 }; /* lines of a set */
INLINE int crowded(int64_t d, int64_t n) { return (d & 4095) == 0 && n > WAYS; }

/* Blocks on more pages than the processor finds without a walk: the fewer walks it begins at a time, the better (2000 words,
 * 16 KB apart, are read at 1.7 GB/s instead of 1.1). */
INLINE int remote(int64_t d, int64_t n) { return n > 1536 && magnitude(d) >= 4096; }

/* A few sets instead of one: 256 words, 2 KiB apart, are read at 5.7 GB/s instead of 3.8, and written at 5.0 instead of 3.1. */
INLINE int thick(int64_t d, int64_t s, int64_t n) { return ((d & 1023) == 0 || (s & 2047) == 0) && n > 2 * WAYS; }

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
                NOPS(8);                                                                                                \
                dst += d, src += s;                                                                                     \
            }                                                                                                           \
            (void)hit;                                                                                                  \
        } else if (crowded(s, n) || remote(s, n)) {                                                                     \
            for (; i < n; i++) {                                                                                        \
                *(T *)dst = F(*(const T *)src);                                                                         \
                NOPS(10);                                                                                               \
                dst += d, src += s;                                                                                     \
            }                                                                                                           \
        } else if (thick(d, s, n)) {                                                                                    \
            for (; i < n; i++) {                                                                                        \
                *(T *)dst = F(*(const T *)src);                                                                         \
                NOPS(4);                                                                                                \
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

/* Every other word becomes one of a run. The last has nothing behind it. */
typedef uint64_t u64x4 __attribute__((vector_size(32), may_alias, aligned(1)));
typedef uint32_t u32x8 __attribute__((vector_size(32), may_alias, aligned(1)));

INLINE void every_other_8(char *restrict dst, const char *restrict src, int64_t n)
{
    int64_t i = 0;
    for (; i < n - 8; i += 8) {
        const u64x4 *from = (const u64x4 *)(src + 16 * i);
        u64x4 v0 = __builtin_shuffle(from[0], from[1], (u64x4){0, 2, 4, 6}), v1 = __builtin_shuffle(from[2], from[3], (u64x4){0, 2, 4, 6});
        ((u64x4 *)(dst + 8 * i))[0] = v0, ((u64x4 *)(dst + 8 * i))[1] = v1;
    }
    for (; i < n; i++) *(u64 *)(dst + 8 * i) = *(const u64 *)(src + 16 * i);
}

INLINE void every_other_4(char *restrict dst, const char *restrict src, int64_t n)
{
    const u32x8 even = {0, 2, 4, 6, 8, 10, 12, 14};
    int64_t i = 0;
    for (; i < n - 16; i += 16) {
        const u32x8 *from = (const u32x8 *)(src + 8 * i);
        u32x8 v0 = __builtin_shuffle(from[0], from[1], even), v1 = __builtin_shuffle(from[2], from[3], even);
        ((u32x8 *)(dst + 4 * i))[0] = v0, ((u32x8 *)(dst + 4 * i))[1] = v1;
    }
    for (; i < n; i++) *(u32 *)(dst + 4 * i) = *(const u32 *)(src + 8 * i);
}

INLINE void swapped_words(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int word, int64_t n)
{
    if (word == 8) swapped_8(dst, d, src, s, n);
    else if (word == 4) swapped_4(dst, d, src, s, n);
    else if (word == 2) swapped_2(dst, d, src, s, n);
    else swapped_16(dst, d, src, s, n);
}

#endif
