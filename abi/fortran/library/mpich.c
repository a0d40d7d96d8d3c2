/* The data and the modules of MPICH's Fortran library. */
#include "front.h"

struct mpich_private1 mpipriv1_;
struct mpich_private2 mpipriv2_;
struct mpich_private_characters mpiprivc_;
Fint mpifcmb5_, mpifcmb9_, MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE, MPIR_F08_MPI_STATUS_IGNORE_OBJ[STATUS_INTEGERS],
    MPIR_F08_MPI_STATUSES_IGNORE_OBJ[STATUS_INTEGERS];
Fint LINKED(errcodes_ignore), LINKED(unweighted), LINKED(weights_empty);
char LINKED(argv_null), LINKED(argvs_null);

/* The library of C has the addresses by which its conversions of statuses know those that are to be ignored. */
static void __attribute__((constructor)) tell(void)
{
    extern MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
    extern void *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;
    MPI_F_STATUS_IGNORE = mpipriv1_.status_ignore, MPI_F_STATUSES_IGNORE = mpipriv2_.statuses_ignore;
    MPI_F08_STATUS_IGNORE = MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
}

/* Programs of old compilers call these, to tell where their common blocks are: the loader has told it. */
void mpirinitf_(void) {}
void mpirinitc_(void) {}

#define CONSTANT(name, value) const Fint __mpi_f08_compile_constants_MOD_mpi_##name = (Fint)value;
FORTRAN_HANDLES(CONSTANT)

#define TYPES(name) __mpi_f08_types_MOD_mpi_##name
#define KIND(kind) \
    SAME(__mpi_constants_MOD_##kind##eq) \
    DIFFERENT(__mpi_constants_MOD_##kind##neq) \
    SAME(TYPES(kind##_eq)) \
    DIFFERENT(TYPES(kind##_neq)) \
    SAME(TYPES(kind##_f08_eq_f)) \
    DIFFERENT(TYPES(kind##_f08_neq_f)) \
    SAME(TYPES(kind##_f_eq_f08)) \
    DIFFERENT(TYPES(kind##_f_neq_f08)) \
    Fint TYPES(kind##_c2f)(Fint h) { return h; } \
    Fint TYPES(kind##_f2c)(Fint h) { return h; }
KINDS(KIND)

#define STATUS(name) \
    void TYPES(status_##name)(const Fint *from, Fint *to, Fint *ierror) \
    { \
        memcpy(to, from, STATUS_INTEGERS * sizeof *to); \
        done(ierror, MPI_SUCCESS); \
    }
STATUS(f2f08)
STATUS(f082f)
/* Assignments, from the second to the first. */
void TYPES(status_f08_assign_c)(Fint *to, const Fint *from) { memcpy(to, from, STATUS_INTEGERS * sizeof *to); }
void TYPES(status_c_assign_f08)(Fint *to, const Fint *from) { memcpy(to, from, STATUS_INTEGERS * sizeof *to); }

ATTRIBUTE_FUNCTIONS(comm)
ATTRIBUTE_FUNCTIONS(type)
ATTRIBUTE_FUNCTIONS(win)
void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null(void) {}
void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null_c(void) {}

#define OLD_SIZEOF(name, bytes) \
    SIZEOF(__mpi_sizeofs_MOD_mpi_sizeof_##name, bytes) \
    SIZEOF(__mpi_sizeofs_MOD_mpi_sizeof_##name##v, bytes)
OLD_SIZEOF(i, 4)
OLD_SIZEOF(i1, 1)
OLD_SIZEOF(i2, 2)
OLD_SIZEOF(i8, 8)
OLD_SIZEOF(r, 4)
OLD_SIZEOF(d, 8)
OLD_SIZEOF(cx, 8)
OLD_SIZEOF(l, 4)
OLD_SIZEOF(ch, 1)
SIZEOF(TYPES(sizeof_character), 1)
SIZEOF(TYPES(sizeof_logical), 4)
SIZEOF(TYPES(sizeof_xint8), 1)
SIZEOF(TYPES(sizeof_xint16), 2)
SIZEOF(TYPES(sizeof_xint32), 4)
SIZEOF(TYPES(sizeof_xint64), 8)
SIZEOF(TYPES(sizeof_xreal32), 4)
SIZEOF(TYPES(sizeof_xreal64), 8)
SIZEOF(TYPES(sizeof_xreal128), 16)
SIZEOF(TYPES(sizeof_xcomplex32), 8)
SIZEOF(TYPES(sizeof_xcomplex64), 16)
SIZEOF(TYPES(sizeof_xcomplex128), 32)
