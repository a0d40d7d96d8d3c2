/* Payloads of some kilobytes on their way to a core that shares no cache with this one. As transport/shm/past_unsafe.go
 * does it in Go: from time to time some bytes are stored in the usual way, and the time that takes says whether the
 * others go past the caches. */
#define _GNU_SOURCE
#include <time.h>
#include "fast_ring.h"

#if defined __x86_64__
#include <emmintrin.h>

/* n bytes, whole lines, that are there before anything that is stored later. */
static void store_past(unsigned char *to, const unsigned char *from, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += 16)
        _mm_stream_si128((__m128i *)(to + i), _mm_loadu_si128((const __m128i *)(from + i)));
    _mm_sfence();
}

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void impi_store_payload(struct impi_shm_outbound *o, unsigned char *to, const unsigned char *from, uint64_t n)
{
    uint64_t at = 0;
    if (n >= IMPI_SHM_LOOK_BYTES && ++o->pieces % IMPI_SHM_LOOKS_EVERY == 0) {
        int64_t start = nanoseconds();
        copy_payload(to, from, at = IMPI_SHM_LOOK_BYTES);
        if (nanoseconds() - start <= (int64_t)IMPI_SHM_PAST_TIME) o->looks -= o->looks > 0;
        else o->looks += o->looks < 2 * (int32_t)IMPI_SHM_PAST_LOOKS;
    }
    uint64_t lines = (n - at) & ~(uint64_t)(LINE - 1);
    if (lines && o->looks >= (int32_t)IMPI_SHM_PAST_LOOKS) {
        store_past(to + at, from + at, lines);
        at += lines;
    }
    copy_payload(to + at, from + at, n - at);
}
#else
void impi_store_payload(struct impi_shm_outbound *o, unsigned char *to, const unsigned char *from, uint64_t n)
{
    (void)o;
    copy_payload(to, from, n);
}
#endif
