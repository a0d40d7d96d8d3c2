/* Memory that is not there: a buffer of the program's that is wrong, or too short, is met inside the library.
 *
 * Go takes SIGSEGV, SIGBUS and SIGFPE when the library is loaded, and answers with a trace of its own and another
 * signal. This file's constructor runs before Go's, keeps the actions that it finds, and holds the signals up until Go
 * makes its first thread: impi_watch_faults then sets a handler that says which call met the fault, if it was met in
 * the library, and lets the earlier action have the signal, which usually ends the process as it would without us.
 *
 * Each shim notes its name and the addresses that it got (impi_call), and takes nothing back when the call returns: the
 * instruction that faults tells whether the library is at work, or memcpy, which it called. A program that sets
 * handlers of its own has the signals to itself. GOTRACEBACK leaves them to Go. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "shim.h"

__thread struct impi_call impi_call __attribute__((tls_model("initial-exec")));

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE};
enum { FAULTS = sizeof faults / sizeof *faults };
static struct sigaction before[NSIG];
static sigset_t mask; /* while they are held up, what was blocked before */
/* Where the library begins and ends: of the linker. The program has no address of its data. */
__attribute__((visibility("hidden"))) extern const char __ehdr_start[], _end[];
static char who[200] = "libimpi";

__attribute__((constructor(101))) static void keep_actions(void)
{
    sigset_t held;
    sigemptyset(&held);
    for (int i = 0; i < FAULTS; i++) sigaction(faults[i], NULL, &before[faults[i]]), sigaddset(&held, faults[i]);
    pthread_sigmask(SIG_BLOCK, &held, &mask);
}

void impi_name_faults(const char *name) { snprintf(who, sizeof who, "%s", name); }

static int ours(uintptr_t pc) { return pc - (uintptr_t)__ehdr_start < (uintptr_t)(_end - __ehdr_start); }

/* Whether the library was at work: its own instruction, or that of a function like memcpy, which keeps no frame. */
static int in_library(const ucontext_t *at)
{
#if defined(__x86_64__)
    const greg_t *r = at->uc_mcontext.gregs;
    if (ours((uintptr_t)r[REG_RIP])) return 1;
    uintptr_t sp = (uintptr_t)r[REG_RSP];
    return sp % sizeof sp == 0 && sp && ours(*(uintptr_t *)sp);
#elif defined(__aarch64__)
    return ours(at->uc_mcontext.pc) || ours(at->uc_mcontext.regs[30]);
#else
    (void)at;
    return 0;
#endif
}

/* Describes the argument whose memory the address is in: the last that begins before it, or in the same page. */
static void describe_argument(char *text, size_t size, uintptr_t address)
{
    uintptr_t page = 4096, least = (uintptr_t)1 << 38;
    const char *name = impi_call.names + strlen(impi_call.names) + 1;
    for (int i = 0; i < IMPI_CALL_POINTERS && *name; i++, name += strlen(name) + 1) {
        uintptr_t p = (uintptr_t)impi_call.at[i], begin = p - p % page;
        if (address < begin || address - begin >= least) continue;
        least = address - begin;
        snprintf(text, size, "argument %s is %p, and not all of what it stands for is memory of the program", name,
                 impi_call.at[i]);
    }
}

static void tell(uintptr_t address, int known)
{
    const char *call = impi_call.names;
    char where[40] = "an address that the system does not tell";
    char what[200] = "the buffer of an operation that was started before, or an error in the library "
                     "(GOTRACEBACK=all tells more)";
    if (known) snprintf(where, sizeof where, "address %#lx", (unsigned long)address);
    if (known && call) describe_argument(what, sizeof what, address);
    dprintf(STDERR_FILENO, "%s: %s met no usable memory at %s: %s\n", who, call ? call : "the progress of messages",
            where, what);
}

static void fault(int number, siginfo_t *info, void *context)
{
    const struct sigaction *first = &before[number];
    int sent = info->si_code <= 0; /* by a process */
    if (!sent && number != SIGFPE && in_library(context)) tell((uintptr_t)info->si_addr, info->si_code != SI_KERNEL);
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
    struct sigaction mine = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&mine.sa_mask);
    for (int i = 0; i < FAULTS && !getenv("GOTRACEBACK"); i++) sigaction(faults[i], &mine, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}
