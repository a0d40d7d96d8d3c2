/* Functions that never enter Go: the clock, address arithmetic, and the visible fields of a status. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>
#include "shim.h"
#include "z_shim.h"
#include "z_direct.h"

/* CLOCK_MONOTONIC is one clock for all processes of a machine. */
double impi_direct_Wtime(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double impi_direct_Wtick(void)
{
    struct timespec t;
    clock_getres(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

MPI_Aint impi_direct_Aint_add(MPI_Aint base, MPI_Aint disp) { return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp); }
MPI_Aint impi_direct_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}

int impi_direct_Status_get_source(const MPI_Status *status, int *source)
{
    *source = status->MPI_SOURCE;
    return MPI_SUCCESS;
}
int impi_direct_Status_get_tag(const MPI_Status *status, int *tag) { *tag = status->MPI_TAG; return MPI_SUCCESS; }
int impi_direct_Status_get_error(const MPI_Status *status, int *err) { *err = status->MPI_ERROR; return MPI_SUCCESS; }
int impi_direct_Status_set_source(MPI_Status *status, int source) { status->MPI_SOURCE = source; return MPI_SUCCESS; }
int impi_direct_Status_set_tag(MPI_Status *status, int tag) { status->MPI_TAG = tag; return MPI_SUCCESS; }
int impi_direct_Status_set_error(MPI_Status *status, int err) { status->MPI_ERROR = err; return MPI_SUCCESS; }

int impi_direct_Pcontrol(const int level, ...) { (void)level; return MPI_SUCCESS; }
