/* ft.h - what the tests of failures that a job survives share. They run with -with-ft ulfm, and on Open MPI 5 with
 * --with-ft ulfm. */
#ifndef FT_H
#define FT_H

#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

static inline void die(void) __attribute__((unused));
static inline void die(void)
{
    raise(SIGKILL);
    pause();
}

static inline int class_of(int code) __attribute__((unused));
static inline int class_of(int code)
{
    int class_;
    MPI_Error_class(code, &class_);
    return class_;
}

/* The call has met a process that is lost. */
#define CHECK_FAILED(call) CHECK_CLASS(call, MPIX_ERR_PROC_FAILED)
#define CHECK_REVOKED(call) CHECK_CLASS(call, MPIX_ERR_REVOKED)

/* Begins a test. New communicators inherit the handler. */
static inline void ft_start(int *argc, char ***argv) __attribute__((unused));
static inline void ft_start(int *argc, char ***argv)
{
    check_start(argc, argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* The ranks in a communicator of a group of its members, in the order of the group; their number. */
static inline int ranks_of(MPI_Comm comm, MPI_Group *members, int *ranks) __attribute__((unused));
static inline int ranks_of(MPI_Comm comm, MPI_Group *members, int *ranks)
{
    MPI_Group all;
    int n, numbers[64];
    MPI_Comm_group(comm, &all);
    MPI_Group_size(*members, &n);
    for (int i = 0; i < n; i++) numbers[i] = i;
    MPI_Group_translate_ranks(*members, n, numbers, all, ranks);
    MPI_Group_free(&all);
    if (*members != MPI_GROUP_EMPTY) MPI_Group_free(members);
    return n;
}

/* How many members are known to be lost. */
static inline int lost(MPI_Comm comm) __attribute__((unused));
static inline int lost(MPI_Comm comm)
{
    MPI_Group group;
    int ranks[64];
    CHECK_EQ(MPIX_Comm_get_failed(comm, &group), MPI_SUCCESS);
    return ranks_of(comm, &group, ranks);
}

/* The first n ranks meet, by messages. */
static inline void meet(MPI_Comm comm, int n) __attribute__((unused));
static inline void meet(MPI_Comm comm, int n)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int step = 1; step < n; step *= 2)
        CHECK_EQ(MPI_Sendrecv(NULL, 0, MPI_INT, (rank + step) % n, 900, NULL, 0, MPI_INT, (rank + n - step) % n, 900,
                              comm, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

/* All members can compute: who is missing, or has another number, makes the sum wrong. */
static inline void compute(MPI_Comm comm, int size) __attribute__((unused));
static inline void compute(MPI_Comm comm, int size)
{
    int rank, n, sum = 0, big[5000], all[5000];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    CHECK_EQ(n, size);
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(MPI_Allreduce(&(int){rank + i}, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
        CHECK_EQ(sum, n * (n - 1) / 2 + n * i);
    }
    for (int i = 0; i < 5000; i++) big[i] = rank + i;
    CHECK_EQ(MPI_Allreduce(big, all, 5000, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(all[4999], n * (n - 1) / 2 + n * 4999);
    int got = -1, next = (rank + 1) % n, before = (rank + n - 1) % n;
    CHECK_EQ(MPI_Sendrecv(&rank, 1, MPI_INT, next, 9, &got, 1, MPI_INT, before, 9, comm, MPI_STATUS_IGNORE),
             MPI_SUCCESS);
    CHECK_EQ(got, before);
    CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
}

#endif
