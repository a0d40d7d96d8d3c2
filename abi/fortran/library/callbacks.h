/* Functions of a program, for C. */
#ifndef LIBIMPI_FORTRAN_CALLBACKS_H
#define LIBIMPI_FORTRAN_CALLBACKS_H

#include "fortran.h"

typedef void (*procedure)(void);

/* Attributes. C keeps an address for each: of a cell that holds the value that Fortran gave it, or what C gave it. */
HIDDEN void *impi_fortran_cell(MPI_Aint value); /* NULL: no memory */
HIDDEN int impi_fortran_value(int keyval, void *attribute, MPI_Aint *value); /* 1: a cell of Fortran's */

/* A key's functions and their argument. */
struct key {
    procedure copy, delete; /* NULL: MPI_NULL_COPY_FN and its like */
    int dup; /* copy is MPI_DUP_FN and its like */
    int first; /* of MPI-1: values and extra_state are INTEGERs */
    MPI_Aint extra;
};
HIDDEN struct key *impi_fortran_key(procedure copy, procedure delete, MPI_Aint extra, int first);
HIDDEN int impi_fortran_copy_attr(Fint object, int keyval, void *key, void *in, void *out, int *flag);
HIDDEN int impi_fortran_delete_attr(Fint object, int keyval, void *value, void *key);
HIDDEN int impi_fortran_comm_copy(MPI_Comm c, int keyval, void *key, void *in, void *out, int *flag);
HIDDEN int impi_fortran_type_copy(MPI_Datatype t, int keyval, void *key, void *in, void *out, int *flag);
HIDDEN int impi_fortran_win_copy(MPI_Win w, int keyval, void *key, void *in, void *out, int *flag);
HIDDEN int impi_fortran_comm_delete(MPI_Comm c, int keyval, void *value, void *key);
HIDDEN int impi_fortran_type_delete(MPI_Datatype t, int keyval, void *value, void *key);
HIDDEN int impi_fortran_win_delete(MPI_Win w, int keyval, void *value, void *key);

/* Operators and error handlers, which C calls with nothing that tells which one it is: one of a pool for each program's
 * function. NULL: all are in use. */
HIDDEN MPI_User_function *impi_fortran_operator(procedure f);
HIDDEN MPI_User_function_c *impi_fortran_operator_c(procedure f);
HIDDEN MPI_Comm_errhandler_function *impi_fortran_comm_errhandler(procedure f);
HIDDEN MPI_Win_errhandler_function *impi_fortran_win_errhandler(procedure f);
HIDDEN MPI_File_errhandler_function *impi_fortran_file_errhandler(procedure f);
HIDDEN MPI_Session_errhandler_function *impi_fortran_session_errhandler(procedure f);
HIDDEN int impi_fortran_exhausted(const char *what);

/* Generalized requests. */
struct grequest {
    procedure query, free, cancel;
    MPI_Aint extra;
};
HIDDEN int impi_fortran_query(void *state, MPI_Status *status);
HIDDEN int impi_fortran_free(void *state);
HIDDEN int impi_fortran_cancel(void *state, int complete);

/* Data representations. */
struct datarep {
    procedure read, write, extent;
    MPI_Aint extra;
};
HIDDEN int impi_fortran_read(void *user, MPI_Datatype t, int n, void *file, MPI_Offset at, void *state);
HIDDEN int impi_fortran_write(void *user, MPI_Datatype t, int n, void *file, MPI_Offset at, void *state);
HIDDEN int impi_fortran_read_c(void *user, MPI_Datatype t, MPI_Count n, void *file, MPI_Offset at, void *state);
HIDDEN int impi_fortran_write_c(void *user, MPI_Datatype t, MPI_Count n, void *file, MPI_Offset at, void *state);
HIDDEN int impi_fortran_extent(MPI_Datatype t, MPI_Aint *extent, void *state);

/* Procedures of Fortran that are constants. */
typedef void copy_function(const Fint *, const Fint *, const MPI_Aint *, const MPI_Aint *, MPI_Aint *, Fint *, Fint *);
typedef void delete_function(const Fint *, const Fint *, const MPI_Aint *, const MPI_Aint *, Fint *);
extern copy_function mpi_comm_null_copy_fn_, mpi_comm_dup_fn_, mpi_type_null_copy_fn_, mpi_type_dup_fn_,
    mpi_win_null_copy_fn_, mpi_win_dup_fn_;
extern delete_function mpi_comm_null_delete_fn_, mpi_type_null_delete_fn_, mpi_win_null_delete_fn_;
extern void mpi_null_copy_fn_(const Fint *, const Fint *, const Fint *, const Fint *, Fint *, Fint *, Fint *);
extern void mpi_dup_fn_(const Fint *, const Fint *, const Fint *, const Fint *, Fint *, Fint *, Fint *);
extern void mpi_null_delete_fn_(const Fint *, const Fint *, const Fint *, const Fint *, Fint *);
extern void mpi_conversion_fn_null_(void);
extern void mpi_conversion_fn_null_c_(void);

#endif
