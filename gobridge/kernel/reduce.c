/* Kernels of the predefined operations (reduce.h). Sums and products are computed in unsigned integers, where overflow
 * wraps; in 32 bits at least, so that no promotion to int overflows. The smaller and the larger of two floating point
 * numbers are as in Go (NaN if one of them is NaN, -0 below +0), without branches, or arithmetic that might trap. */
#include "kernel_words.h"
#include "kernels.h"
#include "reduce.h"

/* How many of the n elements that are left of two vectors come next. Of vectors that a first-level cache does not hold
 * those behind them are fetched: the processor's own prefetchers stop at each page (1 MiB: 17.4 us instead of 20). */
INLINE int64_t next_of(const char *left, const char *right, int64_t n, int64_t size, int64_t count)
{
    enum { PART = 1 << 10, LONG = 32 << 10, LINE = 64 };
    if (count * size < LONG || n * size < 2 * PART) return n;
    impi_fetch_lines(left + PART, PART);
    for (int i = PART; i < 2 * PART; i += LINE) __builtin_prefetch(right + i);
    return PART / size;
}

#define KERNEL(name, type, result)                                              \
    CLONED_512 static void name(void *left, const void *right, int64_t count)   \
    {                                                                           \
        type *restrict l = left;                                                \
        const type *restrict r = right;                                         \
        for (int64_t n = count, m; n > 0; n -= m, l += m, r += m) {             \
            m = next_of((char *)l, (const char *)r, n, sizeof(type), count);    \
            for (int64_t i = 0; i < m; i++) {                                   \
                type a = l[i], b = r[i];                                        \
                l[i] = (type)(result);                                          \
            }                                                                   \
        }                                                                       \
    }

#define BITWISE(kind, type) \
    KERNEL(band_##kind, type, a & b) KERNEL(bor_##kind, type, a | b) KERNEL(bxor_##kind, type, a ^ b)

#define INTEGER(kind, type, wide) \
    KERNEL(sum_##kind, type, (wide)a + (wide)b) KERNEL(prod_##kind, type, (wide)a * (wide)b) \
    KERNEL(min_##kind, type, a < b ? a : b) KERNEL(max_##kind, type, a > b ? a : b) \
    BITWISE(kind, type) \
    KERNEL(land_##kind, type, a && b) KERNEL(lor_##kind, type, a || b) KERNEL(lxor_##kind, type, !a != !b)

INTEGER(i8, int8_t, uint32_t) INTEGER(i16, int16_t, uint32_t)
INTEGER(i32, int32_t, uint32_t) INTEGER(i64, int64_t, uint64_t)
INTEGER(u8, uint8_t, uint32_t) INTEGER(u16, uint16_t, uint32_t)
INTEGER(u32, uint32_t, uint32_t) INTEGER(u64, uint64_t, uint64_t)

#define FLOATING(kind, type, copysign) \
    KERNEL(sum_##kind, type, a + b) KERNEL(prod_##kind, type, a * b) \
    KERNEL(min_##kind, type, ((a < b) | ((a == b) & (copysign(1, a) < 0)) | (a != a)) ? a : b) \
    KERNEL(max_##kind, type, ((a > b) | ((a == b) & (copysign(1, a) > 0)) | (a != a)) ? a : b)

FLOATING(f32, float, __builtin_copysignf) FLOATING(f64, double, __builtin_copysign)

#define INTEGERS(name) \
    NULL, name##_i8, name##_i16, name##_i32, name##_i64, name##_u8, name##_u16, name##_u32, name##_u64
#define ALL(name) INTEGERS(name), name##_f32, name##_f64

impi_combine *const impi_combines[IMPI_OPS][IMPI_ELEMENTS] = {
    [IMPI_OP_SUM] = {ALL(sum)},          [IMPI_OP_PROD] = {ALL(prod)},      [IMPI_OP_MIN] = {ALL(min)},
    [IMPI_OP_MAX] = {ALL(max)},          [IMPI_OP_BAND] = {INTEGERS(band)}, [IMPI_OP_BOR] = {INTEGERS(bor)},
    [IMPI_OP_BXOR] = {INTEGERS(bxor)},   [IMPI_OP_LAND] = {INTEGERS(land)}, [IMPI_OP_LOR] = {INTEGERS(lor)},
    [IMPI_OP_LXOR] = {INTEGERS(lxor)},
};

/* So few elements are collected at a time that their lines are near when they are put back, without fences. */
void impi_combine_apart(impi_combine *combine, uintptr_t left, int64_t l, uintptr_t right, int64_t r, int64_t size,
                        int64_t count)
{
    uint64_t a[64], b[64];
    for (int64_t n; count > 0; count -= n, left += (uintptr_t)(n * l), right += (uintptr_t)(n * r)) {
        n = least_of(count, crowded(l, count) ? BATCH : 64);
        const struct impi_dim lefts = {n, l, size}, rights = {n, r, size};
        impi_move_loops(left, (uintptr_t)a, &lefts, 1, size, 0);
        impi_move_loops(right, (uintptr_t)b, &rights, 1, size, 0);
        combine(a, b, n);
        impi_move_loops(left, (uintptr_t)a, &lefts, 1, size, 1);
    }
}
