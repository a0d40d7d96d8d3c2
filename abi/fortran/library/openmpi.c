/* The data and the procedures of Open MPI's Fortran modules. */
#include "front.h"

#define TYPES(name) __mpi_f08_types_MOD_##name
/* By the names of Open MPI 4, and of 3. */
#define CONSTANT(name, value) \
    const Fint TYPES(mpi_##name) = value; \
    ALIAS(TYPES(mpi_##name), ompi_f08_mpi_##name)
FORTRAN_HANDLES(CONSTANT)
#define FIXED(name) ALIAS(TYPES(mpi_##name##_t), ompi_f08_mpi_##name)
FIXED(int8)
FIXED(int16)
FIXED(int32)
FIXED(int64)
FIXED(uint8)
FIXED(uint16)
FIXED(uint32)
FIXED(uint64)

#define KIND(kind) \
    SAME(TYPES(ompi_##kind##_op_eq)) \
    DIFFERENT(TYPES(ompi_##kind##_op_ne))
KINDS(KIND)

ATTRIBUTE_FUNCTIONS(comm)
ATTRIBUTE_FUNCTIONS(type)
ATTRIBUTE_FUNCTIONS(win)
void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null(void) {}

/* One for scalars and one for arrays of each rank. */
#define RANK(type, rank, bytes) SIZEOF(mpi_sizeof_##type##_##rank##_, bytes) ALSO_SIZEOF(type, rank)
#define ALSO_SIZEOF(type, rank) ALIAS(mpi_sizeof_##type##_##rank##_, pmpi_sizeof_##type##_##rank##_)
#define RANKS(type, bytes) \
    RANK(type, scalar, bytes) \
    RANK(type, r1, bytes) \
    RANK(type, r2, bytes) \
    RANK(type, r3, bytes) \
    RANK(type, r4, bytes) \
    RANK(type, r5, bytes) \
    RANK(type, r6, bytes) \
    RANK(type, r7, bytes) \
    RANK(type, r8, bytes) \
    RANK(type, r9, bytes) \
    RANK(type, r10, bytes) \
    RANK(type, r11, bytes) \
    RANK(type, r12, bytes) \
    RANK(type, r13, bytes) \
    RANK(type, r14, bytes) \
    RANK(type, r15, bytes)
RANKS(character, 1)
RANKS(logical, 4)
RANKS(int8, 1)
RANKS(int16, 2)
RANKS(int32, 4)
RANKS(int64, 8)
RANKS(real32, 4)
RANKS(real64, 8)
RANKS(real128, 16)
RANKS(complex32, 8)
RANKS(complex64, 16)
RANKS(complex128, 32)
