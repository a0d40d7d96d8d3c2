/* One block, of any length. */
#ifndef IMPI_KERNEL_BLOCK_H
#define IMPI_KERNEL_BLOCK_H

#include "kernel_words.h"

enum { WIDE = 256, LONG_RUN = 64 << 10, MOST = 256 << 10 }; /* a block of more is a run; worth a call; or several */

/* A block as K words from its beginning and K before its end, which may overlap. They are stored in the order of their
 * addresses: a processor that comes back to a line it has left waits for that line again. */
#define ENDS(NAME, T, K)                                                                                             \
    INLINE void NAME(char *restrict dst, const char *restrict src, int64_t b)                                        \
    {                                                                                                                \
        T first[K], last[K];                                                                                         \
        for (int k = 0; k < K; k++) first[k] = ((const T *)src)[k], last[k] = ((const T *)(src + b))[k - K];         \
        for (int k = 0; k < K; k++) ((T *)dst)[k] = first[k];                                                        \
        for (int k = 0; k < K; k++) ((T *)(dst + b))[k - K] = last[k];                                               \
    }
ENDS(upto_4, u16, 1)
ENDS(upto_8, u32, 1)
ENDS(upto_16, u64, 1)
ENDS(upto_32, u8x16, 1)
ENDS(upto_64, u8x32, 1)
ENDS(upto_128, u8x32, 2)
ENDS(upto_256, u8x32, 4)

INLINE void span_256(char *restrict dst, const char *restrict src)
{
    u8x64 v0 = *(const u8x64 *)src, v1 = *(const u8x64 *)(src + 64), v2 = *(const u8x64 *)(src + 128),
          v3 = *(const u8x64 *)(src + 192);
    *(u8x64 *)dst = v0, *(u8x64 *)(dst + 64) = v1, *(u8x64 *)(dst + 128) = v2, *(u8x64 *)(dst + 192) = v3;
}

/* A run of at least 128 bytes, by stores that do not cross lines; the first and the last may overlap others. The C
 * library's memcpy does not take that care, and takes string instructions from some length on: 4 KiB, 131 to 199 GB/s
 * by where both begin in their lines, against 126 to 229. */
INLINE void run(char *restrict dst, const char *restrict src, int64_t n)
{
    int64_t i = 64 - (int64_t)((uintptr_t)dst & 63);
    *(u8x64 *)dst = *(const u8x64 *)src;
    for (; i < n - 255; i += 256) span_256(dst + i, src + i);
    if (i < n - 128)
        *(u8x64 *)(dst + i) = *(const u8x64 *)(src + i), *(u8x64 *)(dst + i + 64) = *(const u8x64 *)(src + i + 64);
    *(u8x64 *)(dst + n - 128) = *(const u8x64 *)(src + n - 128);
    *(u8x64 *)(dst + n - 64) = *(const u8x64 *)(src + n - 64);
}

#endif
