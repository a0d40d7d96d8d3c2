/* What MPI functions that begin in C, and enter Go where they must, have in common. */
#ifndef IMPI_DIRECT_H
#define IMPI_DIRECT_H

#include "../../libimpi/z_layout.h"
#include "../shim/shim.h"
#include "../shim/z_direct.h"
#include "../shim/z_exports.h"
#include "../shim/z_shim.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ALIGNED __attribute__((aligned(64))) /* loops that lie across lines have cost a short message 4 of 53 ns */

/* Part of what programs call most; others call it as a function. */
#define HOT static inline __attribute__((always_inline))

/* Apart from what usually happens, which then needs no memory of its own. */
#define RARE static __attribute__((noinline))

/* Not 0 while anything of MPI is in use: before and after, Go says what is wrong with a call. */
__attribute__((visibility("hidden"))) extern uint32_t impi_in_use;

/* The hidden part of a status: bytes, low and high word, and flags (CStatus in libimpi/complete.go). */
_Static_assert(sizeof(MPI_Status) == sizeof(struct impi_status) &&
    offsetof(MPI_Status, MPI_SOURCE) == offsetof(struct impi_status, source) &&
    offsetof(MPI_Status, MPI_TAG) == offsetof(struct impi_status, tag) &&
    offsetof(MPI_Status, MPI_ERROR) == offsetof(struct impi_status, error) &&
    offsetof(MPI_Status, MPI_internal[0]) == offsetof(struct impi_status, bytes) &&
    offsetof(MPI_Status, MPI_internal[2]) == offsetof(struct impi_status, flags), "statuses of C and Go");

#endif
