/* Crashes: of the program, or of the library, which meets a buffer of the program's that is wrong, or too short.
 *
 * Go takes SIGSEGV, SIGBUS and SIGFPE when the library is loaded, and answers with a trace of its own and another
 * signal. This file's constructor runs before Go's, keeps the actions that it finds, and holds the signals up until Go
 * makes its first thread: impi_watch_faults then sets a handler that has Go tell of the crash (calling/crash.go), and
 * lets the earlier action have the signal, which usually ends the process as it would without us.
 *
 * Each shim notes its name and the addresses that it got (impi_call), and takes nothing back when the call returns. A
 * program that sets handlers of its own has the signals to itself. GOTRACEBACK leaves them to Go. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "shim.h"

__thread struct impi_call impi_call __attribute__((tls_model("initial-exec")));

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { FAULTS = sizeof faults / sizeof *faults, GOS = 3 /* that Go takes */, PATIENCE = 4000 /* ms */ };
struct impi_crash impi_crash = {.bell = -1};
static struct sigaction before[NSIG];
static sigset_t mask; /* while they are held up, what was blocked before */

__attribute__((constructor(101))) static void keep_actions(void)
{
    sigset_t held;
    sigemptyset(&held);
    for (int i = 0; i < GOS; i++) sigaction(faults[i], NULL, &before[faults[i]]), sigaddset(&held, faults[i]);
    pthread_sigmask(SIG_BLOCK, &held, &mask);
}

/* A trace of a broken stack may be a crash of its own: that ends the trace. */
static volatile long tracing;
static sigjmp_buf broken;

static void trace(void)
{
    sigset_t none;
    sigemptyset(&none);
    tracing = syscall(SYS_gettid);
    if (!sigsetjmp(broken, 1)) {
        pthread_sigmask(SIG_SETMASK, &none, NULL);
        backtrace(impi_crash.returns, IMPI_CRASH_RETURNS);
    }
    tracing = 0;
    __atomic_store_n(&impi_crash.state, IMPI_CRASH_TRACED, __ATOMIC_RELEASE);
}

/* Waits until Go has told of the first crash, for a while: any lock may be held, and Go's memory be damaged. */
static void wait_for_go(int second)
{
    int state;
    for (int i = 0; i < PATIENCE; i++) {
        if ((state = __atomic_load_n(&impi_crash.state, __ATOMIC_ACQUIRE)) == IMPI_CRASH_TOLD) return;
        if (state == IMPI_CRASH_TRACE && !second) trace();
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
    }
}

static void fault(int number, siginfo_t *info, void *context)
{
    static int begun;
    const struct sigaction *first = &before[number];
    int sent = info->si_code <= 0; /* by a process */
    if (tracing && tracing == syscall(SYS_gettid)) siglongjmp(broken, 1);
    int dies = !(first->sa_flags & SA_SIGINFO) && first->sa_handler == SIG_DFL;
    if (dies && impi_crash.process == getpid() && (!sent || info->si_pid == getpid())) {
        int second = __atomic_exchange_n(&begun, 1, __ATOMIC_RELAXED);
        if (!second) {
            impi_crash.signal = number, impi_crash.code = info->si_code, impi_crash.call = impi_call;
            impi_crash.context = context, impi_crash.address = sent ? NULL : info->si_addr;
            if (write(impi_crash.bell, &(uint64_t){1}, sizeof(uint64_t)) < 0) impi_crash.state = IMPI_CRASH_TOLD;
        }
        wait_for_go(second);
    }
    if (first->sa_flags & SA_SIGINFO) {
        first->sa_sigaction(number, info, context);
    } else if (first->sa_handler != SIG_DFL && first->sa_handler != SIG_IGN) {
        first->sa_handler(number);
    } else if (!sent || first->sa_handler == SIG_DFL) { /* the instruction faults again, and nobody is in the way */
        signal(number, SIG_DFL);
        if (sent) syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), number);
    }
}

void impi_watch_faults(void)
{
    struct sigaction now, mine = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&mine.sa_mask);
    for (int i = 0; i < FAULTS && !getenv("GOTRACEBACK"); i++)
        if (i < GOS || (!sigaction(faults[i], NULL, &now) && now.sa_handler == SIG_DFL))
            sigaction(faults[i], &mine, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}
