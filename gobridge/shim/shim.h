/* What the generated shims, the hand-written C and the exports need of each other. */
#ifndef IMPI_SHIM_H
#define IMPI_SHIM_H

#include <stdint.h>
#include "../observe/record.h"

/* Hands an error of a call (z_calls.h), which had these arguments, to its error handler. Returns the code for the
 * caller, if the handler returns. */
int impi_raise(int code, int call, const uint64_t *args);

/* What an error handler wants done, in C. */
enum impi_what { IMPI_RETURN, IMPI_FATAL, IMPI_ABORT, IMPI_CALL, IMPI_CALL_X };

struct impi_action {
    int what;         /* enum impi_what */
    uintptr_t fn;     /* IMPI_CALL, IMPI_CALL_X: the program's handler */
    uintptr_t handle; /* and the object it is called for */
    uintptr_t extra;  /* IMPI_CALL_X: what it is told besides */
    int code;         /* what it is told */
    int answer;       /* what the MPI call answers, if the handler returns */
};

/* The first handle of an object that the program makes; handles.go has it from here. */
enum { IMPI_FIRST_HANDLE = 4096 };

/* What keeps a call from going straight to what it does: this is a child of fork(), where Go must not be entered; the
 * library observes its calls (observe.c). */
enum { IMPI_FORKED = 1, IMPI_OBSERVED = 2, IMPI_THREADS = 4 /* with IMPI_OBSERVED: watch.go is told who calls */ };
extern int impi_mode __attribute__((visibility("hidden")));
void impi_note_init(void);

/* Answers an MPI call of such a child. A library may ask whether MPI is initialized or finalized before it finalizes
 * MPI at the end of a process: a child has nothing to finalize, and both are true if MPI was ever initialized. */
int impi_after_fork(const char *function);
int impi_flag_after_fork(const char *function, int *flag);

/* The MPI call that a thread has made last, for who reports a fault (fault.c): the names of the function and of those
 * of its arguments that are addresses, each with its 0, and their values. */
enum { IMPI_CALL_POINTERS = 12 };
struct impi_call {
    const char *names;
    const void *at[IMPI_CALL_POINTERS];
    int again; /* the next call of this thread is one that is observed already */
};
extern __thread struct impi_call impi_call __attribute__((visibility("hidden"), tls_model("initial-exec")));

/* A call that is observed. */
struct impi_seen {
    const void *site; /* to which it returns */
    int call;         /* z_calls.h */
    uint64_t *args;   /* as many as the function has; impi_before may give it another status, or array of statuses */
    struct impi_recording record;
};
void impi_before(struct impi_seen *seen, int call, uint64_t *args);
int impi_after(struct impi_seen *seen, int code); /* of the call; it returns that */

static inline int impi_again(void)
{
    int again = impi_call.again;
    impi_call.again = 0;
    return again;
}

/* A crash, for Go to tell of it: it waits for the bell, an eventfd of a process, and may ask for a trace. */
enum { IMPI_CRASH_NEW, IMPI_CRASH_TRACE, IMPI_CRASH_TRACED, IMPI_CRASH_TOLD, IMPI_CRASH_RETURNS = 24 };
struct impi_crash {
    int bell, process, state, signal, code;
    void *context, *address, *returns[IMPI_CRASH_RETURNS]; /* a ucontext_t; of the memory, NULL: not known */
    struct impi_call call; /* of the thread */
};
extern struct impi_crash impi_crash __attribute__((visibility("hidden")));

void impi_watch_faults(void); /* reports crashes from now on (load.c) */

void impi_hold_standard(void); /* opens /dev/null where descriptors 0 to 2 are closed: no file of ours becomes one */

/* Has impi_process_ends called with this when the process exits; not 0 if the C library cannot promise that. */
int impi_watch_exit(uintptr_t process);

#endif
