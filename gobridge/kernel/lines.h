#ifndef IMPI_LINES_H
#define IMPI_LINES_H

#include <stdint.h>

/* Fetches the lines of n bytes that are about to be written: another core has read them last, and stores fetch but few
 * at a time. */
static inline void impi_fetch_lines(const void *first, int64_t n)
{
    for (const char *line = first; line < (const char *)first + n; line += 64)
#if defined __x86_64__
        __asm__ volatile("prefetchw %0" : : "m"(*line)); /* nothing, where the processor does not know it */
#else
        __builtin_prefetch(line, 1);
#endif
}

#endif
