/*
 * mpi-ext.h: extensions by the names that Open MPI has for them, for programs that include its header.
 *
 * OMPI_HAVE_MPI_EXT_X says that extension X is there.
 */
#ifndef IMPI_MPI_EXT_H
#define IMPI_MPI_EXT_H

#include "mpix.h"

#define OMPI_HAVE_MPI_EXT 1

/* failures that a job survives (User-Level Failure Mitigation) */
#define OMPI_HAVE_MPI_EXT_FTMPI 1
#define OMPI_HAVE_MPIX_COMM_GET_FAILED 1
#define OMPI_HAVE_MPIX_COMM_ACK_FAILED 1
#define OMPI_HAVE_MPIX_COMM_ISHRINK 1

#endif
