/* A front of libimpi: the library that programs find which were compiled with another MPI's mpi.h. It has that MPI's
 * names and values, and carries every call out by libimpi.
 *
 *   mpich.tsv, openmpi.tsv     constants of the two ABIs that there are: facts of their headers
 *   z_functions.c, z_*.h       written by abi/gen from these and from the tables of MPI
 *   mpich.h, openmpi.h         the types of each ABI: handles and statuses, and how they are converted
 *   by_hand.c                  functions whose arguments say more than their types do
 *   callbacks.c                functions of the program that libimpi calls
 *   load.c                     finds libimpi's functions
 *   cxx/                       libraries of the C++ bindings, which call the front beside them
 *
 * In names n_ is libimpi's form of a thing, F_ a type or value of the other ABI. */
#ifndef FRONT_H
#define FRONT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* libimpi's status (MPI 5.0, 20.3.4): internal has the bytes that were received, the lower half first, and marks. */
struct n_status {
    int source, tag, error, internal[5];
};

#define FRONT_UNTOUCHED INT32_MIN /* an error that no call has set */

#define HIDDEN __attribute__((visibility("hidden")))

/* Codes that are no classes: see by_hand.c. */
HIDDEN int front_code_in(int theirs);
HIDDEN int front_code_out(int ours);

/* The kinds of handles that are converted alike: all but files, which are pointers in both ABIs. */
#define FRONT_KINDS(X) X(Comm) X(Datatype) X(Errhandler) X(Group) X(Info) X(Message) X(Op) X(Request) X(Session) X(Win)

#ifdef FRONT_MPICH
#include "z_mpich.h"
#include "mpich.h"
#else
#include "z_openmpi.h"
#include "openmpi.h"
#endif
#include "z_native.h"

extern struct front_native front_native __attribute__((visibility("hidden")));

#define WEAK(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)))

/* Arrays of arguments are converted into memory of the call: on the stack, or allocated if they are long. What cannot
 * be allocated is an error of the call. */
#define FRONT_STACK 4096 /* bytes */
#define FRONT_ARRAY(type, name, theirs, length) \
    int64_t len_##name = (theirs) ? (length) : 0; \
    if (len_##name < 0) len_##name = 0; \
    size_t size_##name = (size_t)len_##name * sizeof(type); \
    char stack_##name[size_##name <= FRONT_STACK ? size_##name + 1 : 1] __attribute__((aligned(16))); \
    type *name = (theirs) ? (type *)(size_##name <= FRONT_STACK ? stack_##name : malloc(size_##name)) : NULL; \
    if ((theirs) && !name) return F_MPI_ERR_NO_MEM
#define FRONT_DROP(name) \
    if ((char *)name != stack_##name) free(name)

#define FRONT_HANDLES(kind, name, theirs, length, given) \
    FRONT_ARRAY(uintptr_t, name, theirs, length); \
    for (int64_t i = 0; i < len_##name; i++) name[i] = (given) ? front_##kind##_in((theirs)[i]) : 0
#define FRONT_HANDLES_OUT(kind, theirs, name) \
    for (int64_t i = 0; i < len_##name; i++) \
        if (name[i]) (theirs)[i] = front_##kind##_out(name[i])
#define FRONT_NUMBERS(role, name, theirs, length) \
    FRONT_ARRAY(int, name, theirs, length); \
    for (int64_t i = 0; i < len_##name; i++) name[i] = front_##role##_in((theirs)[i])
#define FRONT_NUMBERS_OUT(role, theirs, length) \
    for (int64_t at_ = 0, all_ = (theirs) ? (length) : 0; at_ < all_; at_++) \
    (theirs)[at_] = front_##role##_out((theirs)[at_])
#define FRONT_STATUSES(name, theirs, length) \
    FRONT_ARRAY(struct n_status, name, front_is_status(theirs) ? (theirs) : NULL, length); \
    for (int64_t i = 0; i < len_##name; i++) front_status_for(&(theirs)[i], &name[i])

/* A status that is given, and one that is to be filled: what the call leaves alone stays as it was, the error too. */
static inline struct n_status *front_status_in(const F_Status *theirs, struct n_status *ours)
{
    if (!front_is_status(theirs)) return NULL;
    front_status_read(ours, theirs);
    return ours;
}
static inline struct n_status *front_status_for(const F_Status *theirs, struct n_status *ours)
{
    if (!front_status_in(theirs, ours)) return NULL;
    ours->error = FRONT_UNTOUCHED;
    return ours;
}
static inline void front_status_out(F_Status *theirs, const struct n_status *ours)
{
    if (ours) front_status_write(theirs, ours);
}
static inline void front_statuses_out(F_Status *theirs, const struct n_status *ours, int64_t n)
{
    for (int64_t i = 0; ours && i < n; i++) front_status_write(&theirs[i], &ours[i]);
}

/* Addresses that stand for something else. */
static inline const void *front_buffer_in(const void *p)
{
    if (__builtin_expect(p == (void *)(intptr_t)F_MPI_IN_PLACE, 0)) return (void *)N_MPI_IN_PLACE;
#ifdef F_MPI_BUFFER_AUTOMATIC
    if (__builtin_expect(p == (void *)(intptr_t)F_MPI_BUFFER_AUTOMATIC, 0)) return (void *)N_MPI_BUFFER_AUTOMATIC;
#endif
    return p;
}
static inline void front_buffer_out(void *where)
{
#ifdef F_MPI_BUFFER_AUTOMATIC
    void *p;
    if (!where) return;
    memcpy(&p, where, sizeof p);
    if (p != (void *)N_MPI_BUFFER_AUTOMATIC) return;
    p = (void *)(intptr_t)F_MPI_BUFFER_AUTOMATIC;
    memcpy(where, &p, sizeof p);
#else
    (void)where;
#endif
}
static inline int *front_weights_in(const int *p)
{
    if (p == F_UNWEIGHTED) return (int *)N_MPI_UNWEIGHTED;
    if (p == F_WEIGHTS_EMPTY) return (int *)N_MPI_WEIGHTS_EMPTY;
    return (int *)p;
}
static inline void *front_pvar_in(void *handle)
{
    return handle == F_T_PVAR_ALL_HANDLES ? (void *)N_MPI_T_PVAR_ALL_HANDLES : handle;
}

/* How many elements arrays have whose length no argument says; 0 if the communicator is none, which the call finds. */
HIDDEN int64_t front_ranks(F_Comm comm);
HIDDEN int64_t front_edges(F_Comm comm, int out);
HIDDEN int64_t front_at_root(int root, F_Comm comm, int count);

/* Memory for the codes of processes that are spawned, of which the root alone knows the number; NULL: none are wanted,
 * or there is no memory. front_codes_out hands on those that the call has set, and frees it. */
HIDDEN int *front_codes_for(const int *theirs);
HIDDEN void front_codes_out(int *theirs, int *ours);

/* A text for which the program has limit bytes. */
HIDDEN void front_text_out(char *theirs, const char *ours, int limit, int *length);

#endif
