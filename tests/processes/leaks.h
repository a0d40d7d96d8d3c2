/* leaks.h - what a process has of what it may lose: descriptors, and memory that it has written to. */
#ifndef LEAKS_H
#define LEAKS_H

#include <dirent.h>

typedef struct { long descriptors, kilobytes; } leaks_start;

static inline leaks_start leaks_now(void)
{
    leaks_start now = {0, 0};
    DIR *list = opendir("/proc/self/fd");
    while (list && readdir(list)) now.descriptors++;
    if (list) closedir(list);
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;
    if (file && fscanf(file, "%*d %ld", &pages) == 1) now.kilobytes = pages * (sysconf(_SC_PAGESIZE) / 1024);
    if (file) fclose(file);
    return now;
}

/* After many rounds there may be some descriptors more, that are about to be closed, and what a garbage collector
 * leaves lying until it is worth its while. If each of 180 rounds lost the rings of a pair, that would be more. */
static inline void leaks_check(leaks_start before)
{
    leaks_start now = leaks_now();
    CHECK_SAY(now.descriptors < before.descriptors + 16, "%ld descriptors were open, and %ld are", before.descriptors,
              now.descriptors);
    CHECK_SAY(now.kilobytes < before.kilobytes + 12 * 1024, "%ld kB of memory were in use, and %ld are",
              before.kilobytes, now.kilobytes);
}

#endif
