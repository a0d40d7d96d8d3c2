/* One run. What fits into the caches is bound by them, and no copy is much faster than another; for what does not fit,
 * the C library's is as good as any. */
#include "kernel_block.h"
#include "kernels.h"

enum { SHORT_RUN = 256, FAR = 8 << 20, AHEAD = 2 << 10, LINE = 64 };

/* Fetching both sides in advance is what the compiler's and the C library's copies do not do. */
INLINE void fetch(const char *p)
{
    __builtin_prefetch(p);
    __builtin_prefetch(p + LINE);
}

CLONED static void middle(char *restrict dst, const char *restrict src, int64_t n) { run_32(dst, src, n); }

CLONED static void far(char *restrict dst, const char *restrict src, int64_t n)
{
    int64_t i = LINE - (int64_t)((uintptr_t)dst & (LINE - 1));
    memcpy(dst, src, LINE);
    for (; i < n - 127; i += 128) {
        fetch(dst + i + AHEAD), fetch(src + i + AHEAD);
        span_128(dst + i, src + i);
    }
    memcpy(dst + i, src + i, (size_t)(n - i));
}

void impi_move_run(void *dst, const void *src, int64_t n)
{
    if (n == 0) return; /* nothing may lie nowhere */
    if (n < SHORT_RUN || n > FAR) memcpy(dst, src, (size_t)n);
    else if (n < LONG_RUN) middle(dst, src, n);
    else far(dst, src, n);
}
