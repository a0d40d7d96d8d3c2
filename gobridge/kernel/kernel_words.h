/* Words at a distance: what all kernels are made of. The same loops for several instruction sets: the compiler
 * makes the copies, the loader chooses. Everything is inlined into the few functions that are cloned, and depends on
 * constants there. */
#ifndef IMPI_KERNEL_WORDS_H
#define IMPI_KERNEL_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __clang__ /* which vectorizes without being asked */
#define LOOPS
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define LOOPS optimize("O3")
#define ROLLED _Pragma("GCC unroll 1")
#endif
#if defined __x86_64__ && defined __gnu_linux__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define CLONED __attribute__((target_clones("avx2", "default"), LOOPS))
#define CLONED_512 __attribute__((target_clones("avx512f", "avx2", "default"), LOOPS)) /* as sums and runs want */
#else
#define CLONED __attribute__((LOOPS))
#define CLONED_512 CLONED
#endif
#define INLINE static inline __attribute__((always_inline))

typedef uint16_t u16 __attribute__((may_alias, aligned(1)));
typedef uint32_t u32 __attribute__((may_alias, aligned(1)));
typedef uint64_t u64 __attribute__((may_alias, aligned(1)));
typedef unsigned char u8x16 __attribute__((vector_size(16), may_alias, aligned(1)));
typedef unsigned char u8x32 __attribute__((vector_size(32), may_alias, aligned(1)));
typedef unsigned char u8x64 __attribute__((vector_size(64), may_alias, aligned(1)));
typedef uint64_t u64x4 __attribute__((vector_size(32), may_alias, aligned(1)));

/* Elements of one or two vectors in another order. */
#ifdef __clang__
#define SHUFFLED(V, W, ...) __builtin_shufflevector(V, W, __VA_ARGS__)
#else
#define SHUFFLED(V, W, ...) __builtin_shuffle(V, W, (__typeof__(V)){__VA_ARGS__})
#endif

/* A macro, since the compiler wants to be told as a constant whether the line will be written. */
#define fetch(P, AWAY, WRITTEN) __builtin_prefetch((const void *)((uintptr_t)(P) + (uintptr_t)(AWAY)), WRITTEN)

INLINE int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

/* Do n blocks lie a multiple of the page size apart? All their lines belong to one set of the first-level cache, and a
 * processor that runs ahead fetches more of them than the set holds. */
enum { WAYS = 8 }; /* lines of a set */
INLINE int crowded(int64_t d, int64_t n) { return (d & 4095) == 0 && n > WAYS; }

/* n words, d and s bytes apart: without gaps on one side or on both, and otherwise. Then they are loaded and stored so
 * many at a time, as a load right behind a store to the same place of another page waits for it. Those loops stay
 * rolled: each load of an unrolled one would be a stream of its own, with steps too wide for a processor to foresee.
 * Where stores are crowded, a fence for loads keeps some processors from running ahead of the lines of the next eight,
 * which are fetched before it (docs/decisions/48). One for stores as well would make each wait for memory alone. */
enum { BATCH = 16 };
#ifdef __x86_64__
#define HALT __builtin_ia32_lfence()
#else
#define HALT __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif
#define STRIDED(NAME, T)                                                                                  \
    INLINE void NAME(char *restrict dst, int64_t d, const char *restrict src, int64_t s, int64_t n)       \
    {                                                                                                     \
        const int64_t b = sizeof(T);                                                                      \
        int64_t i = 0;                                                                                    \
        if (d == b && s == b) {                                                                           \
            for (; i < n; i++) ((T *)dst)[i] = ((const T *)src)[i];                                       \
            return;                                                                                       \
        } else if (d == b && s == 2 * b) {                                                                \
            for (; i < n - 1; i++) ((T *)dst)[i] = ((const T *)src)[2 * i];                               \
            dst += i * d, src += i * s; /* the last has nothing behind it */                              \
        } else if (d != b && n > BATCH && crowded(d, n) && (s == b || crowded(s, n))) {                   \
            for (; i < n; i++, dst += d, src += s) {                                                      \
                if (i % WAYS == 0) {                                                                      \
                    for (int k = WAYS; k < 2 * WAYS; k++) fetch(dst, (k * d), 1), fetch(src, (k * s), 0); \
                    HALT;                                                                                 \
                }                                                                                         \
                *(T *)dst = *(const T *)src;                                                              \
            }                                                                                             \
        } else if (d != b && s != b) {                                                                    \
            for (T v[BATCH]; i < n - (BATCH - 1); i += BATCH) {                                           \
                ROLLED for (int k = 0; k < BATCH; k++, src += s) v[k] = *(const T *)src;                  \
                ROLLED for (int k = 0; k < BATCH; k++, dst += d)((T *)dst)[0] = v[k];                     \
            }                                                                                             \
        } else if (!crowded(d, n) && !crowded(s, n)) { /* else the lines are fewer one at a time */       \
            for (; i < n - 3; i += 4) {                                                                   \
                T v0 = *(const T *)src, v1 = *(const T *)(src + s);                                       \
                T v2 = *(const T *)(src + 2 * s), v3 = *(const T *)(src + 3 * s);                         \
                *(T *)dst = v0, *(T *)(dst + d) = v1, *(T *)(dst + 2 * d) = v2, *(T *)(dst + 3 * d) = v3; \
                dst += 4 * d, src += 4 * s;                                                               \
            }                                                                                             \
        }                                                                                                 \
        for (; i < n; i++) *(T *)dst = *(const T *)src, dst += d, src += s;                               \
    }
STRIDED(strided_1, unsigned char)
STRIDED(strided_2, u16)
STRIDED(strided_4, u32)
STRIDED(strided_8, u64)
STRIDED(strided_16, u8x16)

#endif
