/* What MPI functions that begin in C, and enter Go where they must, have in common. */
#ifndef IMPI_DIRECT_H
#define IMPI_DIRECT_H

#include "../mpi.h"
#include "shim.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The call that Go has to make; a child of fork() must not make it. */
#define IN_GO(name, call)                                              \
    do {                                                               \
        if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_" name); \
        int err = (call);                                              \
        return UNLIKELY(err) ? impi_raise(err) : MPI_SUCCESS;          \
    } while (0)

#endif
