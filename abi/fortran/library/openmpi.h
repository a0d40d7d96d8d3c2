/* The front of Open MPI: libmpi_mpifh.so.40, libmpi_usempif08.so.40. Its modules pass addresses of buffers. */

#define F_(name) mpi_##name##_
#define C_(name) MPI_##name
#define NAMES(lower, UPPER) \
    ALIAS(F_(lower), mpi_##lower##__) \
    ALIAS(F_(lower), mpi_##lower) \
    ALIAS(F_(lower), MPI_##UPPER) \
    ALIAS(F_(lower), ompi_##lower##_f)
#define EXTENSION(lower, UPPER) \
    ALIAS(F_(lower), mpix_##lower##_) \
    ALIAS(F_(lower), mpix_##lower##__) \
    ALIAS(F_(lower), mpix_##lower) \
    ALIAS(F_(lower), MPIX_##UPPER) \
    ALIAS(F_(lower), ompix_##lower##_f) \
    ALIAS(F_(lower), mpix_##lower##_f08_)
#define ALSO(lower, name) ALIAS(F_(lower), mpi_##name##_)
#define CPTR(lower, UPPER) \
    ALIAS(F_(lower), mpi_##lower##_cptr_) \
    ALIAS(F_(lower), mpi_##lower##_cptr__) \
    ALIAS(F_(lower), mpi_##lower##_cptr) \
    ALIAS(F_(lower), MPI_##UPPER##_CPTR) \
    ALIAS(F_(lower), ompi_##lower##_cptr_f)
#define F08_(name) F_(name##_f08)
#define ALSO_F08(name) ALSO(name, name##_f08)

/* Handles are numbers in Fortran, of which the front's C knows those of predefined ones. */
#define HANDLE(kind, Name) \
    static inline MPI_##kind kind##_in(Fint f) { return PMPI_##Name##_f2c(f); } \
    static inline Fint kind##_out(MPI_##kind h) { return PMPI_##Name##_c2f(h); }
#define FILE_HANDLE HANDLE(File, File)

/* Common blocks, and variables of module mpi_f08: those of the front's C library. */
enum { STATUS_INTEGERS = 6 };
extern Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_status_ignore_[STATUS_INTEGERS],
    mpi_fortran_statuses_ignore_[STATUS_INTEGERS], mpi_fortran_errcodes_ignore_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_;
extern char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;
#define is_bottom(p) ((p) == &mpi_fortran_bottom_)
#define is_in_place(p) ((p) == &mpi_fortran_in_place_)
#define is_unweighted(a) ((a) == &mpi_fortran_unweighted_)
#define is_weights_empty(a) ((a) == &mpi_fortran_weights_empty_)
#define is_status_ignore(a) ((a) == mpi_fortran_status_ignore_)
#define is_statuses_ignore(a) ((a) == mpi_fortran_statuses_ignore_)
#define is_errcodes_ignore(a) ((a) == &mpi_fortran_errcodes_ignore_)
#define is_argv_null(a) ((a) == &mpi_fortran_argv_null_)
#define is_argvs_null(a) ((a) == &mpi_fortran_argvs_null_)
#define is_ignored(status) ((status) == MPI_STATUS_IGNORE)
extern void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null(void);
#define is_conversion_null(f) \
    ((f) == (procedure)mpi_conversion_fn_null_ || (f) == (procedure)__mpi_f08_callbacks_MOD_mpi_conversion_fn_null)
#define keyval_in int_in
