/* One block, of any length. */
#ifndef IMPI_KERNEL_BLOCK_H
#define IMPI_KERNEL_BLOCK_H

#include "kernel_words.h"

enum { WIDE = 256, LONG_RUN = 64 << 10 }; /* a block of more bytes is a run, and one that is worth a call */

/* A block as two words that may overlap. */
#define ENDS(NAME, T)                                                         \
    INLINE void NAME(char *restrict dst, const char *restrict src, int64_t b) \
    {                                                                         \
        T first = *(const T *)src, last = *(const T *)(src + b - sizeof(T));  \
        *(T *)dst = first;                                                    \
        *(T *)(dst + b - sizeof(T)) = last;                                   \
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

/* A block of 128 to 256 bytes. */
INLINE void eight_32(char *restrict dst, const char *restrict src, int64_t b)
{
    u8x32 v0 = *(const u8x32 *)src, v1 = *(const u8x32 *)(src + 32);
    u8x32 v2 = *(const u8x32 *)(src + 64), v3 = *(const u8x32 *)(src + 96);
    u8x32 v4 = *(const u8x32 *)(src + b - 128), v5 = *(const u8x32 *)(src + b - 96);
    u8x32 v6 = *(const u8x32 *)(src + b - 64), v7 = *(const u8x32 *)(src + b - 32);
    *(u8x32 *)dst = v0, *(u8x32 *)(dst + 32) = v1, *(u8x32 *)(dst + 64) = v2, *(u8x32 *)(dst + 96) = v3;
    *(u8x32 *)(dst + b - 128) = v4, *(u8x32 *)(dst + b - 96) = v5, *(u8x32 *)(dst + b - 64) = v6,
                         *(u8x32 *)(dst + b - 32) = v7;
}

INLINE void span_128(char *restrict dst, const char *restrict src)
{
    u8x32 v0 = *(const u8x32 *)src, v1 = *(const u8x32 *)(src + 32), v2 = *(const u8x32 *)(src + 64),
          v3 = *(const u8x32 *)(src + 96);
    *(u8x32 *)dst = v0, *(u8x32 *)(dst + 32) = v1, *(u8x32 *)(dst + 64) = v2, *(u8x32 *)(dst + 96) = v3;
}

/* A run of at least 96 bytes, by stores that do not cross lines; the first and the last may overlap others. The C
 * library's memcpy does not take that care, and takes string instructions from some length on: 4 KiB, 68 GB/s against
 * 94. */
INLINE void run_32(char *restrict dst, const char *restrict src, int64_t n)
{
    int64_t i = 32 - (int64_t)((uintptr_t)dst & 31);
    *(u8x32 *)dst = *(const u8x32 *)src;
    for (; i < n - 127; i += 128) span_128(dst + i, src + i);
    if (i < n - 64)
        *(u8x32 *)(dst + i) = *(const u8x32 *)(src + i), *(u8x32 *)(dst + i + 32) = *(const u8x32 *)(src + i + 32);
    *(u8x32 *)(dst + n - 64) = *(const u8x32 *)(src + n - 64);
    *(u8x32 *)(dst + n - 32) = *(const u8x32 *)(src + n - 32);
}

#endif
