/* Blocks in lists. */
#include "kernel_block.h"
#include "kernels.h"

/* Offsets and lengths are of 8 bytes in the lists of Go, of 4 in those of plans. */
INLINE int64_t entry(const void *list, int wide, int64_t i)
{
    return wide ? ((const int64_t *)list)[i] : ((const int32_t *)list)[i];
}

/* A loop over listed blocks, with a constant direction. To fetch blocks in advance by the list gains nothing:
 * the processor runs ahead by itself (16384 of 8 bytes in 1 MiB, in order: read at 7.8 GB/s against 7.1). */
#define LISTED(LENGTH, MOVE)                                                                      \
    if (unpack) {                                                                                 \
        LOOP(LENGTH, char *dst = mem + entry(offs, wide, i) * scale; const char *src = buf; MOVE) \
    } else {                                                                                      \
        LOOP(LENGTH, char *dst = buf; const char *src = mem + entry(offs, wide, i) * scale; MOVE) \
    }
#define LOOP(LENGTH, ...)             \
    for (int64_t i = 0; i < n; i++) { \
        const int64_t b = LENGTH;     \
        __VA_ARGS__;                  \
        buf += b;                     \
    }

/* A block of one to four words, without a branch: words at the beginning, at the end, and two in between that
 * may overlap them. */
#define FOUR(T)                                                                                       \
    {                                                                                                 \
        const int64_t w = sizeof(T), last = b - w;                                                    \
        int64_t second = w < last ? w : last, third = 2 * w < last ? 2 * w : last;                    \
        T v0 = *(const T *)src, v1 = *(const T *)(src + second);                                      \
        T v2 = *(const T *)(src + third), v3 = *(const T *)(src + last);                              \
        *(T *)dst = v0, *(T *)(dst + second) = v1, *(T *)(dst + third) = v2, *(T *)(dst + last) = v3; \
    }

INLINE void equal(char *mem, char *buf, const struct impi_list *l, int wide, int unpack)
{
    const void *offs = l->offs;
    const int64_t n = l->n, scale = l->scale, block = l->block;
    if (block == 8) { LISTED(block, *(u64 *)dst = *(const u64 *)src) }
    else if (block == 4) { LISTED(block, *(u32 *)dst = *(const u32 *)src) }
    else if (block == 16) { LISTED(block, *(u8x16 *)dst = *(const u8x16 *)src) }
    else if (block == 2) { LISTED(block, *(u16 *)dst = *(const u16 *)src) }
    else if (block == 1) { LISTED(block, *dst = *src) }
    else if (block == 3) { LISTED(block, upto_4(dst, src, b)) }
    else if (block < 8) { LISTED(block, upto_8(dst, src, b)) }
    else if (block < 16) { LISTED(block, upto_16(dst, src, b)) }
    else if (block <= 32) { LISTED(block, upto_32(dst, src, b)) }
    else if (block <= 64) { LISTED(block, upto_64(dst, src, b)) }
    else if (block <= 128) { LISTED(block, upto_128(dst, src, b)) }
    else if (block <= WIDE) { LISTED(block, upto_256(dst, src, b)) }
    else if (block < LONG_RUN) { LISTED(block, run(dst, src, b)) }
    else { LISTED(block, impi_move_run(dst, src, b)) }
}

INLINE void varied(char *mem, char *buf, const struct impi_list *l, int wide, int unpack)
{
    const void *offs = l->offs, *lens = l->lens;
    const int64_t n = l->n, scale = l->scale, unit = l->block, least = l->least, most = l->most;
    if (least >= 4 && most <= 16) { LISTED(entry(lens, wide, i) * unit, FOUR(u32)) }
    else if (least >= 8 && most <= 32) { LISTED(entry(lens, wide, i) * unit, FOUR(u64)) }
    else if (least >= 16 && most <= 64) { LISTED(entry(lens, wide, i) * unit, FOUR(u8x16)) }
    else if (least >= 32 && most <= 128) { LISTED(entry(lens, wide, i) * unit, FOUR(u8x32)) }
    else if (least >= 128 && most < LONG_RUN) { LISTED(entry(lens, wide, i) * unit, run(dst, src, b)) }
    else { LISTED(entry(lens, wide, i) * unit, b <= WIDE ? (void)memcpy(dst, src, b) : impi_move_run(dst, src, b)) }
}

/* Functions of their own: in one that does all, the loops would run out of registers. */
#define PARTS char *mem, char *buf, const struct impi_list *l, int unpack
CLONED static void equal_4(PARTS) { equal(mem, buf, l, 0, unpack); }
CLONED static void equal_8(PARTS) { equal(mem, buf, l, 1, unpack); }
CLONED static void varied_4(PARTS) { varied(mem, buf, l, 0, unpack); }
CLONED static void varied_8(PARTS) { varied(mem, buf, l, 1, unpack); }

void impi_move_list(uintptr_t mem, uintptr_t buf, const struct impi_list *l, int unpack)
{
    (l->lens ? varied_4 : equal_4)((char *)mem, (char *)buf, l, unpack);
}

void impi_move_listed(uintptr_t mem, uintptr_t buf, const int64_t *offs, const int64_t *lens, int64_t n, int64_t scale,
                      int64_t block, int64_t least, int64_t most, int unpack)
{
    const struct impi_list l = {offs, lens, n, scale, block, least, most};
    (lens ? varied_8 : equal_8)((char *)mem, (char *)buf, &l, unpack);
}
