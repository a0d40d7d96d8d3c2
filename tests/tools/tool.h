/* tool.h - what the tests of the tool information interface share. */
#ifndef TOOL_H
#define TOOL_H

#include "../check.h"

#define OK(call) CHECK_EQ(call, MPI_SUCCESS)

static inline void tool_start(void) __attribute__((unused));
static inline void tool_start(void)
{
    int provided;
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
}

/* A variable of some class, bound to nothing or to the object at an address. */
static inline MPI_T_pvar_handle tool_handle(MPI_T_pvar_session s, const char *name, int class_, void *object)
    __attribute__((unused));
static inline MPI_T_pvar_handle tool_handle(MPI_T_pvar_session s, const char *name, int class_, void *object)
{
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, count = -1;
    CHECK_SAY(MPI_T_pvar_get_index(name, class_, &index) == MPI_SUCCESS, "there is no variable %s", name);
    OK(MPI_T_pvar_handle_alloc(s, index, object, &h, &count));
    CHECK(h != MPI_T_PVAR_HANDLE_NULL);
    CHECK_EQ(count, 1);
    return h;
}

/* The same, started. */
static inline MPI_T_pvar_handle tool_started(MPI_T_pvar_session s, const char *name, int class_, void *object)
    __attribute__((unused));
static inline MPI_T_pvar_handle tool_started(MPI_T_pvar_session s, const char *name, int class_, void *object)
{
    MPI_T_pvar_handle h = tool_handle(s, name, class_, object);
    OK(MPI_T_pvar_start(s, h));
    return h;
}

static inline unsigned long long tool_read(MPI_T_pvar_session s, MPI_T_pvar_handle h) __attribute__((unused));
static inline unsigned long long tool_read(MPI_T_pvar_session s, MPI_T_pvar_handle h)
{
    unsigned long long value = ~0ull;
    OK(MPI_T_pvar_read(s, h, &value));
    return value;
}

static inline double tool_read_double(MPI_T_pvar_session s, MPI_T_pvar_handle h) __attribute__((unused));
static inline double tool_read_double(MPI_T_pvar_session s, MPI_T_pvar_handle h)
{
    double value = -1;
    OK(MPI_T_pvar_read(s, h, &value));
    return value;
}

/* The control variable of that name. */
static inline MPI_T_cvar_handle tool_control(const char *name, int *count) __attribute__((unused));
static inline MPI_T_cvar_handle tool_control(const char *name, int *count)
{
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL;
    int index = -1;
    CHECK_SAY(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS, "there is no control variable %s", name);
    OK(MPI_T_cvar_handle_alloc(index, NULL, &h, count));
    return h;
}

#endif
