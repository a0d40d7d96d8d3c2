// The calls of another MPI library, in a form that is the same for every ABI.
#ifndef IMPI_VENDOR_CALLS_H
#define IMPI_VENDOR_CALLS_H

#include <stdint.h>

// An operation that has begun; request is 0 if it is complete.
typedef struct {
    int code;
    uintptr_t request;
} begun;

// What a probe has found; a test of posted receives: from is the number of one that is done.
typedef struct {
    int code, there, from, bytes;
    uintptr_t message;
} probed;

enum { BARRIER,
       BCAST,
       REDUCE,
       ALLREDUCE }; // as transport.OperationKind

enum { COMMUNICATORS = 8, // for collective operations
       POSTS = 8 }; // receives that are posted ahead

// The texts of all libraries fit.
enum { VERSION_LENGTH = 8192,
       TEXT_LENGTH = 512 };

// Types and operations have the numbers of the ABI of MPI 5.0. What a call returns is the library's error code, 0 if it
// has worked.
typedef struct {
    const char *abi; // what the ABI is called
    int serialized, appnum, universe_size; // MPI_THREAD_SERIALIZED, MPI_APPNUM, MPI_UNIVERSE_SIZE there

    const char *(*find)(void *library); // looks the entry points up; NULL, or the name of one that is missing
    int (*init)(int *provided);
    int (*finalize)(void);
    int (*state)(int *initialized, int *finalized);
    int (*rank)(int *rank, int *size);
    int (*attribute)(int key, int otherwise); // a number attached to MPI_COMM_WORLD; otherwise if there is none
    int (*version)(char *text, int *length);
    int (*text)(int code, char *text, int *length);
    int (*abort)(int code);
    int (*allgather)(const void *mine, int n, void *all);

    begun (*move)(int send, void *b, int n, int peer, int tag); // Isend, or else Irecv
    int (*post)(int at, void *b, int n, int from, int tag);
    probed (*testany)(int n); // of the first n
    begun (*withdraw)(int at);
    probed (*improbe)(int from, int tag); // from < 0: any
    begun (*imrecv)(void *b, int n, uintptr_t message);
    begun (*test)(uintptr_t request);
    begun (*begin)(int kind, int at, int root, const void *send, void *recv, int n, int type, int op);
} calls;

extern const calls impi_vendor_standard, impi_vendor_mpich, impi_vendor_openmpi;

// A library that has been loaded: its calls, or what is wrong.
typedef struct {
    const calls *calls; // NULL: it has none of the three ABIs
    char *error; // of the loader, which the caller frees; NULL: it is loaded
    const char *missing; // an entry point; NULL: none
    const char *hidden; // a name by which its plugins find another library, not this one; NULL: none
} loaded;
loaded impi_vendor_load(const char *file);

// The environment for a library that binds to the C library before the program: while it is loaded, and afterwards.
void impi_vendor_environment(void);
void impi_vendor_rebind(void);

#endif
