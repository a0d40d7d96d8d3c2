/* Limits under which Go cannot live (ulimit -v, ulimit -u): said in one line, before Go says it in a hundred. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "shim.h"

static void give_up(const char *why)
{
    char text[300];
    int n = snprintf(text, sizeof text, "libimpi: pid %ld: %s\n", (long)getpid(), why);
    if (write(STDERR_FILENO, text, (size_t)n) < 0) _exit(2);
    _exit(1);
}

/* Go reserves some 600 MiB of address space when it starts, nearly none of which it uses. This runs before that. */
__attribute__((constructor(101))) static void look_for_room(void)
{
    const size_t room = (size_t)768 << 20;
    void *p = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        give_up("the limit of address space (ulimit -v) leaves less than 768 MiB, which Go's memory needs; "
                "raise it, to 4 GiB say");
    munmap(p, room);
}

/* cgo tries 20 times before it aborts the process, if there is no room for a thread for the moment. */
void impi_thread_made(int err)
{
    enum { TRIES = 20 };
    static int failed;
    if (!err) {
        __atomic_store_n(&failed, 0, __ATOMIC_RELAXED);
    } else if (err != EAGAIN || __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED) >= TRIES) {
        char why[200];
        snprintf(why, sizeof why, "no more threads can be made (%s); raise the limit of processes (ulimit -u) or of "
                                  "address space (ulimit -v)", strerror(err));
        give_up(why);
    }
}
