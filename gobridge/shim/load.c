/* What a process needs of C while Go's runtime starts: limits under which Go cannot live (ulimit -v, ulimit -u) are
 * said in one line, before Go says them in a hundred; and Go's monitor thread is kept from disturbing programs. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "shim.h"

static void give_up(const char *why)
{
    dprintf(STDERR_FILENO, "libimpi: pid %ld: %s\n", (long)getpid(), why);
    _exit(1);
}

void impi_hold_standard(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);
}

/* Go reserves some 600 MiB of address space when it starts, nearly none of which it uses. This runs before that, and
 * while there is one thread: a process of several that registers for membarrier (shm/bell.go) waits 10 ms for it. */
__attribute__((constructor(101))) static void before_go(void)
{
    enum { ROOM = 768 << 20, REGISTER_GLOBAL_EXPEDITED = 4 };
    void *p = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        give_up("the limit of address space (ulimit -v) leaves less than Go's 768 MiB; raise it, to 4 GiB say");
    munmap(p, ROOM);
    impi_hold_standard();
    syscall(SYS_membarrier, REGISTER_GLOBAL_EXPEDITED, 0, 0); /* Attach looks whether it works */
}

/* cgo tries 20 times before it aborts the process, if there is no room for a thread for the moment. */
static void thread_made(int err)
{
    static int failed;
    if (!err) __atomic_store_n(&failed, 0, __ATOMIC_RELAXED);
    else if (err != EAGAIN || __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED) >= 20)
        give_up("no more threads can be made; raise the limit of processes (ulimit -u) or address space (ulimit -v)");
}

/* sysmon, Go's monitor thread, gets a timer slack of SLACK, so that its looks after a call into Go do not disturb what
 * computes (docs/decisions/14). Threads inherit slack, and sysmon alone is to have it. The linker wraps Go's
 * pthread_create (init.go): the first starts the runtime, and the first that this one makes is sysmon. */
typedef void *start_function(void *);
/* Weak: only the library is linked with the wrapper, not the tests of this package. */
__attribute__((weak)) int __real_pthread_create(pthread_t *, const pthread_attr_t *, start_function *, void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, start_function *, void *);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, start_function *start, void *arg)
{
    enum { SLACK = 50 * 1000 * 1000 /* ns */, RUNTIME = 1, SYSMON = 2 };
    static int made;
    int own = -1, which = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    char name[16] = "";
    if (which == RUNTIME) impi_watch_faults();
    if (which == SYSMON) own = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    if (own > 0) prctl(PR_SET_TIMERSLACK, (unsigned long)SLACK, 0, 0, 0);
    prctl(PR_GET_NAME, name, 0, 0, 0); /* threads inherit it: calling.Threads tells Go's by it */
    prctl(PR_SET_NAME, "libimpi(go)", 0, 0, 0);
    int err = __real_pthread_create(thread, attr, start, arg);
    thread_made(err);
    prctl(PR_SET_NAME, name, 0, 0, 0);
    if (own > 0) prctl(PR_SET_TIMERSLACK, (unsigned long)own, 0, 0, 0);
    return err;
}
