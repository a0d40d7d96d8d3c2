/* Calls of a generalized request's functions (MPI 5.0, 13.2), and the conversions of statuses. */
#include <string.h>
#include "general.h"
#include "shim.h"
#include "z_shim.h"
#include "z_direct.h"

int impi_call_query(uintptr_t fn, uintptr_t extra, uintptr_t status)
{
    MPI_Status own;
    if (!status) {
        memset(&own, 0, sizeof own);
        status = (uintptr_t)&own;
    }
    return ((MPI_Grequest_query_function *)fn)((void *)extra, (MPI_Status *)status);
}

int impi_call_free(uintptr_t fn, uintptr_t extra)
{
    return ((MPI_Grequest_free_function *)fn)((void *)extra);
}

int impi_call_cancel(uintptr_t fn, uintptr_t extra, int complete)
{
    return ((MPI_Grequest_cancel_function *)fn)((void *)extra, complete);
}

/* A status is the same eight integers in C and in both Fortran forms (MPI 5.0, 20.3 and 18.2.5). */
_Static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status) &&
                   sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint),
               "statuses of C and Fortran");

static int convert(void *to, const void *from)
{
    if (!to || !from) return MPI_ERR_ARG;
    memmove(to, from, sizeof(MPI_Status));
    return MPI_SUCCESS;
}

int impi_direct_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status) { return convert(f_status, c_status); }
int impi_direct_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status) { return convert(c_status, f_status); }
int impi_direct_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    return convert(f08_status, c_status);
}
int impi_direct_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    return convert(c_status, f08_status);
}
int impi_direct_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    return convert(f08_status, f_status);
}
int impi_direct_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    return convert(f_status, f08_status);
}
