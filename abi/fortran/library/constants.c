/* The common blocks whose addresses are constants of Fortran, and procedures that are constants. Those of Open MPI are
 * in the C library of its front: libraries in C refer to them. */
#include "callbacks.h"

#if !defined FORTRAN_MPICH && !defined FORTRAN_OPENMPI
Fint mpi_abi_bottom_, mpi_abi_in_place_, mpi_abi_buffer_automatic_, mpi_abi_status_ignore_[8],
    mpi_abi_statuses_ignore_[8], mpi_abi_errcodes_ignore_[1], mpi_abi_unweighted_[1], mpi_abi_weights_empty_[1];
char mpi_abi_argv_null_[1], mpi_abi_argvs_null_[1];
#elif defined FORTRAN_OPENMPI
/* As large as programs may have them. */
Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_status_ignore_[STATUS_INTEGERS],
    mpi_fortran_statuses_ignore_[STATUS_INTEGERS], mpi_fortran_errcodes_ignore_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_;
char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
#endif

#define NULL_COPY(name) \
    void name(const Fint *object, const Fint *keyval, const MPI_Aint *extra, const MPI_Aint *in, MPI_Aint *out, \
              Fint *flag, Fint *ierror) \
    { \
        (void)object, (void)keyval, (void)extra, (void)in, (void)out; \
        *flag = 0; \
        *ierror = MPI_SUCCESS; \
    }
#define DUP(name) \
    void name(const Fint *object, const Fint *keyval, const MPI_Aint *extra, const MPI_Aint *in, MPI_Aint *out, \
              Fint *flag, Fint *ierror) \
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

void mpi_dup_fn_(const Fint *comm, const Fint *keyval, const Fint *extra, const Fint *in, Fint *out, Fint *flag,
                 Fint *ierr)
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

#ifdef FORTRAN_OPENMPI
#define NAMED(name, UPPER) \
    ALIAS(mpi_##name##_, mpi_##name##__) \
    ALIAS(mpi_##name##_, mpi_##name) \
    ALIAS(mpi_##name##_, MPI_##UPPER) \
    ALIAS(mpi_##name##_, ompi_##name##_f)
NAMED(comm_null_copy_fn, COMM_NULL_COPY_FN)
NAMED(comm_dup_fn, COMM_DUP_FN)
NAMED(comm_null_delete_fn, COMM_NULL_DELETE_FN)
NAMED(type_null_copy_fn, TYPE_NULL_COPY_FN)
NAMED(type_dup_fn, TYPE_DUP_FN)
NAMED(type_null_delete_fn, TYPE_NULL_DELETE_FN)
NAMED(win_null_copy_fn, WIN_NULL_COPY_FN)
NAMED(win_dup_fn, WIN_DUP_FN)
NAMED(win_null_delete_fn, WIN_NULL_DELETE_FN)
NAMED(null_copy_fn, NULL_COPY_FN)
NAMED(dup_fn, DUP_FN)
NAMED(null_delete_fn, NULL_DELETE_FN)
NAMED(conversion_fn_null, CONVERSION_FN_NULL)

/* What its module mpi calls functions. */
double mpi_wtime_f90_(void) { return PMPI_Wtime(); }
double mpi_wtick_f90_(void) { return PMPI_Wtick(); }
MPI_Aint mpi_aint_add_f90_(const MPI_Aint *base, const MPI_Aint *disp) { return PMPI_Aint_add(*base, *disp); }
MPI_Aint mpi_aint_diff_f90_(const MPI_Aint *a, const MPI_Aint *b) { return PMPI_Aint_diff(*a, *b); }
#define NAMED_F90(name) ALIAS(mpi_##name##_f90_, mpi_##name##_f90__) ALIAS(mpi_##name##_f90_, mpi_##name##_f90)
NAMED_F90(wtime)
NAMED_F90(wtick)
NAMED_F90(aint_add)
NAMED_F90(aint_diff)
#elif defined FORTRAN_MPICH
#define NAMED(name, UPPER) \
    ALIAS(mpi_##name##_, mpi_##name##__) \
    ALIAS(mpi_##name##_, mpi_##name) \
    ALIAS(mpi_##name##_, MPI_##UPPER) \
    ALIAS(mpi_##name##_, pmpi_##name##_) \
    ALIAS(mpi_##name##_, pmpi_##name##__) \
    ALIAS(mpi_##name##_, pmpi_##name) \
    ALIAS(mpi_##name##_, PMPI_##UPPER)
NAMED(comm_null_copy_fn, COMM_NULL_COPY_FN)
NAMED(comm_dup_fn, COMM_DUP_FN)
NAMED(comm_null_delete_fn, COMM_NULL_DELETE_FN)
NAMED(type_null_copy_fn, TYPE_NULL_COPY_FN)
NAMED(type_dup_fn, TYPE_DUP_FN)
NAMED(type_null_delete_fn, TYPE_NULL_DELETE_FN)
NAMED(win_null_copy_fn, WIN_NULL_COPY_FN)
NAMED(win_dup_fn, WIN_DUP_FN)
NAMED(win_null_delete_fn, WIN_NULL_DELETE_FN)
NAMED(null_copy_fn, NULL_COPY_FN)
NAMED(dup_fn, DUP_FN)
NAMED(null_delete_fn, NULL_DELETE_FN)
NAMED(conversion_fn_null, CONVERSION_FN_NULL)
#else
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
#endif
