/* Keeps Go's monitor thread, sysmon, from disturbing a program that computes.
 *
 * sysmon sleeps deeply while nobody is in Go. A call from C into Go wakes it, and from then on it looks around every 20
 * us for at least a millisecond, and again and again while calls follow. On a core that computes each look is a timer
 * interrupt and two switches of threads: some thousand a second. What it looks for can wait here: it takes the place of
 * a thread that stays in a system call, and there are more places than threads that need one (minProcs in init.go).
 *
 * So sysmon gets a timer slack of SLACK: the kernel may wake it that much later than it asks for. Slack belongs to a
 * thread and is inherited by those it makes, and only sysmon is to have it: other threads of the runtime sleep for a
 * few microseconds and mean it. Go makes its threads with pthread_create, which the linker wraps for this library
 * (main.go). The first is the one that starts the runtime, and the first that this one makes, before any other, is
 * sysmon (runtime.main, proc.go). Where the kernel or a sandbox has no slack to give, everything works as it does
 * without. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include "shim.h"

typedef void *start_function(void *);

/* Weak: only the library is linked with the wrapper, not the tests of this package. */
__attribute__((weak)) int __real_pthread_create(pthread_t *, const pthread_attr_t *, start_function *, void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, start_function *, void *);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, start_function *start, void *arg)
{
    enum { SLACK = 50 * 1000 * 1000 /* ns */, SYSMON = 2 };
    static int made;
    int own = -1;
    if (__atomic_add_fetch(&made, 1, __ATOMIC_RELAXED) == SYSMON) {
        own = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
        if (own > 0) prctl(PR_SET_TIMERSLACK, (unsigned long)SLACK, 0, 0, 0);
    }
    int err = __real_pthread_create(thread, attr, start, arg);
    impi_thread_made(err);
    if (own > 0) prctl(PR_SET_TIMERSLACK, (unsigned long)own, 0, 0, 0);
    return err;
}
