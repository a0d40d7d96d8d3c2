/* Functions of a program, for C. */
#ifndef LIBIMPI_FORTRAN_CALLBACKS_H
#define LIBIMPI_FORTRAN_CALLBACKS_H

#include "fortran.h"

typedef void (*procedure)(void);
#define CALL(f, ...) ((void (*)(__VA_ARGS__))(f))

/* Attributes. C keeps an address for each: of a cell that holds the value that Fortran gave it, or what C gave it. */
HIDDEN void *impi_fortran_cell(MPI_Aint value); /* NULL: no memory */
HIDDEN MPI_Aint impi_fortran_value(int keyval, void *attribute);

/* What C keeps of functions for attributes, generalized requests and data representations, and passes to those here. */
struct state {
    procedure functions[3]; /* NULL: nothing to do, MPI_NULL_COPY_FN and its like */
    MPI_Aint extra;         /* which the program's functions are told, or its address */
    int first;              /* of MPI-1: values and extra_state are INTEGERs */
    int dup;                /* the first is MPI_DUP_FN or its like */
};
HIDDEN struct state *impi_fortran_state(procedure a, procedure b, procedure c, MPI_Aint extra, int first);
HIDDEN void impi_fortran_no_state(struct state *s);
HIDDEN int impi_fortran_copy_attr(Fint object, int keyval, void *state, void *in, void *out, int *flag);
HIDDEN int impi_fortran_delete_attr(Fint object, int keyval, void *value, void *state);

/* Operators and error handlers. */
HIDDEN void impi_fortran_call_operator(procedure f, void *in, void *inout, int64_t n, MPI_Datatype type);
HIDDEN void impi_fortran_call_operator_c(procedure f, void *in, void *inout, MPI_Count n, MPI_Datatype type);
HIDDEN int impi_fortran_place(procedure *pool, int n, procedure f); /* -1: all places are in use */
HIDDEN int impi_fortran_exhausted(void);
#include "trampolines.h"

#endif
