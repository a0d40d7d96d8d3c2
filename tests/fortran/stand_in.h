/* What the library that stands for C's in the test of all calls has in common (abi/fortran/calls.go). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"

static char name[64];
static int called, errors, calls;

/* Called by the program: before a call, behind it, for an argument that came back wrong, and at the end. */
void expect_(const char *s, size_t n)
{
    snprintf(name, sizeof name, "%.*s", (int)n, s);
    called = 0;
}

static void fail(const char *what, int position)
{
    if (errors++ < 50) printf("%s: argument %d %s\n", name, position, what);
}

void done_(void)
{
    calls++;
    if (called != 1) fail("none: the function of C was not called once", called);
}

void wrong_(const int32_t *position) { fail("came back wrong", *position); }

void report_(void)
{
    printf("%d calls, %d errors\n", calls, errors);
    exit(errors || calls < 300);
}

static int expected(const char *function)
{
    if (strcmp(name, function)) return 0;
    called++;
    return 1;
}

#define CHECK(position, condition) \
    do { \
        if (!(condition)) fail("is wrong in C", position); \
    } while (0)

static int64_t element(const void *a, size_t size, int i)
{
    return size == 4 ? ((const int32_t *)a)[i] : ((const int64_t *)a)[i];
}

static int are(const void *a, size_t size, int n, int64_t first)
{
    for (int i = 0; i < n; i++)
        if (element(a, size, i) != first + i) return 0;
    return 1;
}

static void set(void *a, size_t size, int n, int64_t first)
{
    for (int i = 0; i < n; i++) {
        if (size == 4) ((int32_t *)a)[i] = (int32_t)(first + i);
        else ((int64_t *)a)[i] = first + i;
    }
}
#define ARE(a, n, first) are(a, sizeof *(a), n, first)
#define SET(a, n, first) set((void *)(a), sizeof *(a), n, first)

static int is_argument(const char *s, int position)
{
    char want[32];
    snprintf(want, sizeof want, "argument %d", position);
    return !strcmp(s, want);
}

static void set_statuses(MPI_Status *s, int position, int n)
{
    for (int i = 0; i < n; i++) s[i].MPI_SOURCE = 2000 + position;
}

/* What entries ask for lengths: two processes, a grid of two dimensions. */
#define answer_Comm_size (*size = 2, 0)
#define answer_Comm_remote_size (*size = 2, 0)
#define answer_Cartdim_get (*ndims = 2, 0)
#define answer_Comm_test_inter (*flag = 0, 0)
#define answer_Topo_test (*status = MPI_CART, 0)
#define answer_Type_size (*size = 4, 0)
#define answer_Type_size_c (*size = 4, 0)
#define answer_Type_get_extent (*lb = 0, *extent = 4, 0)
#define answer_Type_get_extent_c (*lb = 0, *extent = 4, 0)
#define answer_other MPI_ERR_OTHER
