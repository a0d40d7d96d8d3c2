/* The common blocks whose addresses are constants of Fortran, and procedures that are constants. */
#include "callbacks.h"

Fint mpi_abi_bottom_, mpi_abi_in_place_, mpi_abi_buffer_automatic_, mpi_abi_status_ignore_[8], mpi_abi_statuses_ignore_[8],
    mpi_abi_errcodes_ignore_[1], mpi_abi_unweighted_[1], mpi_abi_weights_empty_[1];
char mpi_abi_argv_null_[1], mpi_abi_argvs_null_[1];

#define NULL_COPY(name) \
    void name(const Fint *object, const Fint *keyval, const MPI_Aint *extra, const MPI_Aint *in, MPI_Aint *out, Fint *flag, \
              Fint *ierror) \
    { \
        (void)object, (void)keyval, (void)extra, (void)in, (void)out; \
        *flag = 0; \
        *ierror = MPI_SUCCESS; \
    }
#define DUP(name) \
    void name(const Fint *object, const Fint *keyval, const MPI_Aint *extra, const MPI_Aint *in, MPI_Aint *out, Fint *flag, \
              Fint *ierror) \
    { \
        (void)object, (void)keyval, (void)extra; \
        *out = *in; \
        *flag = impi_fortran_true; \
        *ierror = MPI_SUCCESS; \
    }
#define NULL_DELETE(name) \
    void name(const Fint *object, const Fint *keyval, const MPI_Aint *value, const MPI_Aint *extra, Fint *ierror) \
    { \
        (void)object, (void)keyval, (void)value, (void)extra; \
        *ierror = MPI_SUCCESS; \
    }
NULL_COPY(mpi_comm_null_copy_fn_)
NULL_COPY(mpi_type_null_copy_fn_)
NULL_COPY(mpi_win_null_copy_fn_)
DUP(mpi_comm_dup_fn_)
DUP(mpi_type_dup_fn_)
DUP(mpi_win_dup_fn_)
NULL_DELETE(mpi_comm_null_delete_fn_)
NULL_DELETE(mpi_type_null_delete_fn_)
NULL_DELETE(mpi_win_null_delete_fn_)

void mpi_null_copy_fn_(const Fint *comm, const Fint *keyval, const Fint *extra, const Fint *in, Fint *out, Fint *flag,
                       Fint *ierr)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = 0;
    *ierr = MPI_SUCCESS;
}

void mpi_dup_fn_(const Fint *comm, const Fint *keyval, const Fint *extra, const Fint *in, Fint *out, Fint *flag, Fint *ierr)
{
    (void)comm, (void)keyval, (void)extra;
    *out = *in;
    *flag = impi_fortran_true;
    *ierr = MPI_SUCCESS;
}

void mpi_null_delete_fn_(const Fint *comm, const Fint *keyval, const Fint *value, const Fint *extra, Fint *ierr)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    *ierr = MPI_SUCCESS;
}

/* Never called: they stand for no conversion. */
void mpi_conversion_fn_null_(void) {}
void mpi_conversion_fn_null_c_(void) {}

/* Handles of mpi_f08 compare as their values do. */
#define COMPARE(name) \
    Fint impi_##name##_eq_(const Fint *a, const Fint *b) { return logical_out(*a == *b); } \
    Fint impi_##name##_ne_(const Fint *a, const Fint *b) { return logical_out(*a != *b); }
COMPARE(comm)
COMPARE(datatype)
COMPARE(errhandler)
COMPARE(file)
COMPARE(group)
COMPARE(info)
COMPARE(message)
COMPARE(op)
COMPARE(request)
COMPARE(session)
COMPARE(win)
