/* What must be C: raising errors without a Go frame on the stack, and the guard for children of fork(). */
#define _GNU_SOURCE
#include "../executor/fast_ring.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void handler_function(uintptr_t *object, int *code, ...), handler_function_x(uintptr_t, int, uintptr_t);

int impi_raise(int code, int call, const uint64_t *args)
{
    (void)call, (void)args;
    struct impi_action action;
    void *returns[8]; /* to this function, MPI's, one of Fortran's or another MPI's library, the program */
    impi_error_action(code, &action);
    if (action.what == IMPI_CALL) ((handler_function *)action.fn)(&action.handle, &action.code);
    else if (action.what == IMPI_CALL_X) ((handler_function_x *)action.fn)(action.handle, action.code, action.extra);
    else if (action.what != IMPI_RETURN) impi_error_fatal(action.code, (uintptr_t)returns, backtrace(returns, 8));
    return action.answer;
}

/* A child of fork() has one thread and no Go scheduler: it must not enter Go. This begins when the library is loaded:
 * Go starts then. */
int impi_mode;
static int up;

static void mark_child(void)
{
    impi_mode |= IMPI_FORKED;
    impi_fast.shm = NULL;
}

__attribute__((constructor)) static void watch_fork(void) { pthread_atfork(NULL, NULL, mark_child); }

void impi_note_init(void) { up = 1; }

int impi_after_fork(const char *function)
{
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        dprintf(STDERR_FILENO, "libimpi: %s in process %ld, a child of fork(): only the process that fork() was called "
                               "in may use MPI\n", function, (long)getpid());
    if (!strcmp(function, "MPI_Abort")) _exit(1); /* it does not return */
    return MPI_ERR_OTHER;
}

int impi_flag_after_fork(const char *function, int *flag)
{
    if (!flag) return impi_after_fork(function);
    *flag = up;
    return MPI_SUCCESS;
}

/* The end of a process that has used sessions. */
static void at_exit(int status, void *process)
{
    (void)status;
    if (!(impi_mode & IMPI_FORKED)) impi_process_ends((uintptr_t)process);
}

int impi_watch_exit(uintptr_t process) { return on_exit(at_exit, (void *)process); }
