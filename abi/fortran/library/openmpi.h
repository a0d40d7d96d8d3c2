/* The front of Open MPI: libmpi_mpifh.so.40, libmpi_usempif08.so.40. Its modules pass addresses of buffers. */

/* Handles are numbers in Fortran, of which the front's C knows those of predefined ones. */
#define HANDLE(kind, Name) \
    static inline MPI_##kind kind##_in(Fint f) { return PMPI_##Name##_f2c(f); } \
    static inline Fint kind##_out(MPI_##kind h) { return PMPI_##Name##_c2f(h); }
#define FILE_HANDLE HANDLE(File, File)

enum { STATUS_INTEGERS = 6 };
extern void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null(void);
#define is_conversion_null(f) \
    ((f) == (procedure)mpi_conversion_fn_null_ || (f) == (procedure)__mpi_f08_callbacks_MOD_mpi_conversion_fn_null)
#define keyval_in int_in
