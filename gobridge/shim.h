/* What the generated shims need of the hand-written C. */
#ifndef IMPI_SHIM_H
#define IMPI_SHIM_H

#include <stdint.h>

/* Hands an error that a Go export returned to the error handler it belongs to.
 * Returns the code for the caller, if the handler returns. */
int impi_raise(int code);

/* Raises MPI_ERR_UNSUPPORTED_OPERATION for a function that has no
 * implementation; kind (enum impi_kind) and handle say with whose error handler. */
int impi_unsupported(const char *function, int kind, uintptr_t handle);

/* Not 0 in a child of fork(), where Go must not be entered. */
extern int impi_forked;

/* Answers an MPI call of such a child. */
int impi_after_fork(const char *function);

#endif
