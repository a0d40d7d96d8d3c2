/* The library of Open MPI's Fortran bindings, by name: libraries such as PETSc's need it for a part of theirs that
 * programs in C never call. */
#include "absent.h"
#include "names.h"

#define X(name) \
    ABSENT(mpi, name); \
    ABSENT_ALIAS(mpi_##name##_, pmpi_##name); \
    ABSENT_ALIAS(mpi_##name##_, pmpi_##name##_); \
    ABSENT_ALIAS(mpi_##name##_, pmpi_##name##__); \
    ABSENT_ALIAS(mpi_##name##_, ompi_##name##_f); \
    ABSENT_ALIAS(mpi_##name##_, pompi_##name##_f);
FORTRAN_PROCEDURES(X)
#undef X

#define X(name) \
    ABSENT(mpix, name); \
    ABSENT_ALIAS(mpix_##name##_, pmpix_##name); \
    ABSENT_ALIAS(mpix_##name##_, pmpix_##name##_); \
    ABSENT_ALIAS(mpix_##name##_, pmpix_##name##__); \
    ABSENT_ALIAS(mpix_##name##_, ompix_##name##_f); \
    ABSENT_ALIAS(mpix_##name##_, pompix_##name##_f);
FORTRAN_EXTENSIONS(X)
#undef X

#define X(name) \
    void MPI_##name##_f08(void) { absent(#name); } \
    ABSENT_ALIAS(MPI_##name##_f08, PMPI_##name##_f08); \
    ABSENT_ALIAS(MPI_##name##_f08, MPI_##name##_f); \
    ABSENT_ALIAS(MPI_##name##_f08, PMPI_##name##_f);
FORTRAN_BOUND(X)
#undef X
