/* Blocks in lists, and copies between two lists of runs. */
#include "kernel_block.h"
#include "kernels.h"

/* Offsets and lengths are of 8 bytes in the lists of Go, of 4 in those of plans. */
INLINE int64_t entry(const void *list, int wide, int64_t i)
{
    return wide ? ((const int64_t *)list)[i] : ((const int32_t *)list)[i];
}

/* A loop over listed blocks, with a constant direction. To fetch blocks in advance by the list costs more than it
 * gains: the processor runs ahead by itself (16384 of 8 bytes in 1 MiB, in order: read at 7.8 GB/s against 7.1; in any
 * order, the same). */
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

INLINE void listed_blocks(char *mem, char *buf, const void *offs, int wide, int64_t n, int64_t scale, int64_t block,
                          int unpack)
{
    if (block == 8) { LISTED(block, *(u64 *)dst = *(const u64 *)src) }
    else if (block == 4) { LISTED(block, *(u32 *)dst = *(const u32 *)src) }
    else if (block == 16) { LISTED(block, *(u8x16 *)dst = *(const u8x16 *)src) }
    else if (block == 2) { LISTED(block, *(u16 *)dst = *(const u16 *)src) }
    else if (block == 1) { LISTED(block, *dst = *src) }
    else if (block == 3) { LISTED(block, ends_2(dst, src, b)) }
    else if (block < 8) { LISTED(block, ends_4(dst, src, b)) }
    else if (block < 16) { LISTED(block, ends_8(dst, src, b)) }
    else if (block <= 32) { LISTED(block, ends_16(dst, src, b)) }
    else if (block <= 64) { LISTED(block, ends_32(dst, src, b)) }
    else if (block <= 128) { LISTED(block, four_32(dst, src, b)) }
    else if (block <= WIDE) { LISTED(block, eight_32(dst, src, b)) }
    else if (block < LONG_RUN) { LISTED(block, run_32(dst, src, b)) }
    else { LISTED(block, impi_move_run(dst, src, b)) }
}

/* Functions of their own: in one that does all, the loops would run out of registers. */
CLONED static void blocks_8(char *mem, char *buf, const void *offs, int64_t n, int64_t scale, int64_t b, int unpack)
{
    listed_blocks(mem, buf, offs, 1, n, scale, b, unpack);
}

CLONED static void blocks_4(char *mem, char *buf, const void *offs, int64_t n, int64_t scale, int64_t b, int unpack)
{
    listed_blocks(mem, buf, offs, 0, n, scale, b, unpack);
}

void impi_move_listed(uintptr_t mem, uintptr_t buf, const int64_t *offs, int64_t n, int64_t scale, int64_t block,
                      int unpack)
{
    blocks_8((char *)mem, (char *)buf, offs, n, scale, block, unpack);
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

INLINE void varied(char *mem, char *buf, const void *offs, const void *lens, int wide, int64_t n, int64_t scale,
                   int64_t unit, int64_t least, int64_t most, int unpack)
{
    if (least >= 4 && most <= 16) { LISTED(entry(lens, wide, i) * unit, FOUR(u32)) }
    else if (least >= 8 && most <= 32) { LISTED(entry(lens, wide, i) * unit, FOUR(u64)) }
    else if (least >= 16 && most <= 64) { LISTED(entry(lens, wide, i) * unit, FOUR(u8x16)) }
    else if (least >= 32 && most <= 128) { LISTED(entry(lens, wide, i) * unit, FOUR(u8x32)) }
    else if (least >= 96 && most < LONG_RUN) { LISTED(entry(lens, wide, i) * unit, run_32(dst, src, b)) }
    else { LISTED(entry(lens, wide, i) * unit, memcpy(dst, src, b)) }
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
    else if (b < LONG_RUN) run_32(dst, src, b);
    else impi_move_run(dst, src, b);
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

CLONED static void varied_8(char *mem, char *buf, const int64_t *offs, const int64_t *lens, int64_t n, int64_t scale,
                            int64_t unit, int64_t least, int64_t most, int unpack)
{
    varied(mem, buf, offs, lens, 1, n, scale, unit, least, most, unpack);
}

CLONED static void varied_4(char *mem, char *buf, const struct impi_list *l, int unpack)
{
    varied(mem, buf, l->offs, l->lens, 0, l->n, l->scale, l->block, l->least, l->most, unpack);
}

void impi_move_varied(uintptr_t mem, uintptr_t buf, const int64_t *offs, const int64_t *lens, int64_t n, int64_t scale,
                      int64_t unit, int64_t least, int64_t most, int unpack)
{
    varied_8((char *)mem, (char *)buf, offs, lens, n, scale, unit, least, most, unpack);
}

void impi_move_list(uintptr_t mem, uintptr_t buf, const struct impi_list *l, int unpack)
{
    if (l->lens) varied_4((char *)mem, (char *)buf, l, unpack);
    else blocks_4((char *)mem, (char *)buf, l->offs, l->n, l->scale, l->block, unpack);
}
