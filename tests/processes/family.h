/* family.h - what the tests of process creation share. A test spawns its own program: a process that has a parent is a
 * child, and its first argument says what it is to do. */
#ifndef FAMILY_H
#define FAMILY_H

#include "../check.h"
#include <unistd.h>

/* This program, by a path that holds in any directory. */
static inline char *family_program(char *argv0) __attribute__((unused));
static inline char *family_program(char *argv0)
{
    static char path[4096];
    if (!realpath(argv0, path)) check_fail(__FILE__, __LINE__, "there is no program %s", argv0);
    return path;
}

/* The communicator with the parents; MPI_COMM_NULL in a process that nobody has spawned. */
static inline MPI_Comm family_parent(void) __attribute__((unused));
static inline MPI_Comm family_parent(void)
{
    MPI_Comm parent;
    CHECK_EQ(MPI_Comm_get_parent(&parent), MPI_SUCCESS);
    return parent;
}

/* Start n children that do what; the root's codes must all be good. */
static inline MPI_Comm family_spawn(char *argv0, char *what, int n, int root, MPI_Comm comm) __attribute__((unused));
static inline MPI_Comm family_spawn(char *argv0, char *what, int n, int root, MPI_Comm comm)
{
    char *args[] = {what, NULL};
    int *codes = malloc(n * sizeof *codes), remote;
    MPI_Comm children = MPI_COMM_NULL;
    for (int i = 0; i < n; i++) codes[i] = -1;
    CHECK_EQ(MPI_Comm_spawn(family_program(argv0), args, n, MPI_INFO_NULL, root, comm, &children, codes), MPI_SUCCESS);
    for (int i = 0; i < n; i++) CHECK_EQ(codes[i], MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_remote_size(children, &remote), MPI_SUCCESS);
    CHECK_EQ(remote, n);
    free(codes);
    return children;
}

/* Every process of one side sends to every process of the other, and receives from it. The messages of the two ways
 * differ; so do those of different keys. */
static inline void family_talk(MPI_Comm inter, int key, int n) __attribute__((unused));
static inline void family_talk(MPI_Comm inter, int key, int n)
{
    int me, remote;
    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Request *requests = malloc(2 * remote * sizeof *requests);
    char *out = malloc(n + 1), *in = malloc((size_t)remote * n + 1);
    check_fill(out, n, key + me);
    for (int r = 0; r < remote; r++) {
        MPI_Irecv(in + (size_t)r * n, n, MPI_BYTE, r, key % 1000, inter, &requests[2 * r]);
        MPI_Isend(out, n, MPI_BYTE, r, key % 1000, inter, &requests[2 * r + 1]);
    }
    CHECK_EQ(MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int r = 0; r < remote; r++) CHECK_EQ(check_differs(in + (size_t)r * n, n, key + r), -1);
    free(requests), free(out), free(in);
}

/* An intercommunicator of two halves of comm, which meet at a port: the even ranks accept, the odd ones connect.
 * The leader of a side is its last rank. */
static inline MPI_Comm family_halves(MPI_Comm comm) __attribute__((unused));
static inline MPI_Comm family_halves(MPI_Comm comm)
{
    static char port[MPI_MAX_PORT_NAME];
    int rank, size, half_rank, half_size;
    MPI_Comm half, inter = MPI_COMM_NULL;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_split(comm, rank % 2, rank, &half);
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_size(half, &half_size);
    int last = half_size - 1, listener = (size - 1) & ~1;
    if (rank == listener) CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    MPI_Bcast(port, sizeof port, MPI_CHAR, listener, comm);
    if (rank % 2 == 0) {
        CHECK_EQ(MPI_Comm_accept(half_rank == last ? port : NULL, MPI_INFO_NULL, last, half, &inter), MPI_SUCCESS);
    } else {
        CHECK_EQ(MPI_Comm_connect(half_rank == last ? port : NULL, MPI_INFO_NULL, last, half, &inter), MPI_SUCCESS);
    }
    if (rank == listener) CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
    MPI_Comm_free(&half);
    return inter;
}

#endif
