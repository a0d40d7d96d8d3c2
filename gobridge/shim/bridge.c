/* What must be C: raising errors without a Go frame on the stack, calling the program's functions, and the
 * guard for children of fork(). */
#define _GNU_SOURCE
#include "z_exports.h"
#include "shim.h"
#include "../executor/fast_ring.h"
#include "z_shim.h"
#include "z_direct.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef void handler_function(uintptr_t *object, int *code, ...);

int impi_raise(int code)
{
    struct impi_action action;
    impi_error_action(code, &action);
    if (action.what == IMPI_CALL) ((handler_function *)action.fn)(&action.handle, &action.code);
    else if (action.what != IMPI_RETURN) impi_error_fatal(action.code);
    return action.answer;
}

int impi_unsupported(const char *function, int kind, uintptr_t handle)
{
    return impi_raise(impi_missing((char *)function, kind, handle));
}

/* A child of fork() has one thread and no Go scheduler: it must not enter Go. This begins when the library is loaded:
 * Go starts then. */
int impi_forked;
static int up;

static void mark_child(void)
{
    impi_forked = 1;
    impi_fast.shm = NULL;
}

__attribute__((constructor)) static void watch_fork(void) { pthread_atfork(NULL, NULL, mark_child); }

void impi_note_init(void) { up = 1; }

int impi_after_fork(const char *function)
{
    static int said;
    char text[200];
    int n = snprintf(
        text, sizeof text,
        "libimpi: %s in process %ld, a child of fork(): only the process that fork() was called in may use MPI\n",
        function, (long)getpid());
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) && write(STDERR_FILENO, text, (size_t)n) < 0)
        return MPI_ERR_OTHER;
    if (!strcmp(function, "MPI_Abort")) _exit(1); /* it does not return */
    return MPI_ERR_OTHER;
}

int impi_flag_after_fork(const char *function, int *flag)
{
    if (!flag) return impi_after_fork(function);
    *flag = up;
    return MPI_SUCCESS;
}

void impi_call_op(uintptr_t fn, uintptr_t in, uintptr_t inout, int64_t count, uintptr_t type, int wide)
{
    MPI_Datatype t = (MPI_Datatype)type;
    if (wide) {
        MPI_Count n = count;
        ((MPI_User_function_c *)fn)((void *)in, (void *)inout, &n, &t);
    } else {
        int n = (int)count;
        ((MPI_User_function *)fn)((void *)in, (void *)inout, &n, &t);
    }
}

/* The attribute callbacks of communicators, datatypes and windows have the same shape: a handle first. */
typedef int copy_function(uintptr_t object, int keyval, void *extra, void *value, void *out, int *flag);
typedef int delete_function(uintptr_t object, int keyval, void *value, void *extra);

int impi_call_copy(uintptr_t fn, uintptr_t object, int keyval, uintptr_t extra, uintptr_t value, uintptr_t *out,
                   int *flag)
{
    return ((copy_function *)fn)(object, keyval, (void *)extra, (void *)value, out, flag);
}

int impi_call_delete(uintptr_t fn, uintptr_t object, int keyval, uintptr_t value, uintptr_t extra)
{
    return ((delete_function *)fn)(object, keyval, (void *)value, (void *)extra);
}

int impi_call_query(uintptr_t fn, uintptr_t extra, uintptr_t status)
{
    MPI_Status own;
    if (!status) {
        memset(&own, 0, sizeof own);
        status = (uintptr_t)&own;
    }
    return ((MPI_Grequest_query_function *)fn)((void *)extra, (MPI_Status *)status);
}

int impi_call_free(uintptr_t fn, uintptr_t extra) { return ((MPI_Grequest_free_function *)fn)((void *)extra); }

int impi_call_cancel(uintptr_t fn, uintptr_t extra, int complete)
{
    return ((MPI_Grequest_cancel_function *)fn)((void *)extra, complete);
}

/* The end of a process that has used sessions. */
static void at_exit(int status, void *process)
{
    (void)status;
    if (!impi_forked) impi_process_ends((uintptr_t)process);
}

int impi_watch_exit(uintptr_t process)
{
    return on_exit(at_exit, (void *)process);
}
