/* What Open MPI's C library has for its Fortran bindings: predefined functions, of which the addresses count as long as
 * nobody calls them from Fortran, and the variables that stand for MPI_BOTTOM and the like. */
#include "absent.h"
#include "names.h"

#define X(name) ABSENT(mpi, name);
FORTRAN_CALLBACKS(X)
#undef X

#define VARIABLE(name) \
    __attribute__((visibility("default"))) int mpi_fortran_##name##_; \
    extern __attribute__((alias("mpi_fortran_" #name "_"), visibility("default"))) int mpi_fortran_##name, \
        mpi_fortran_##name##__
VARIABLE(bottom);
VARIABLE(in_place);
VARIABLE(argv_null);
VARIABLE(argvs_null);
VARIABLE(errcodes_ignore);
VARIABLE(status_ignore);
VARIABLE(statuses_ignore);
VARIABLE(unweighted);
VARIABLE(weights_empty);

/* Datatypes that compilers for Fortran may have, and libimpi has not. */
#define DATATYPE(name) __attribute__((visibility("default"), aligned(32))) char ompi_mpi_##name[512]
DATATYPE(2cplex);
DATATYPE(2dblcplex);
DATATYPE(integer16);
DATATYPE(ldblcplex);
DATATYPE(real2);
