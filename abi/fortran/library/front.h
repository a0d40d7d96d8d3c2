/* What modules of gfortran have in libraries: handles that are constants, procedures that compare handles, and
 * predefined functions, by the names of module and procedure. */
#include "callbacks.h"

#define KINDS(X) \
    X(comm) \
    X(datatype) \
    X(errhandler) \
    X(file) \
    X(group) \
    X(info) X(message) X(op) X(request) X(session) X(win)

#define SAME(name) \
    Fint name(const Fint *a, const Fint *b) { return *a == *b; }
#define DIFFERENT(name) \
    Fint name(const Fint *a, const Fint *b) { return *a != *b; }

#define IN_CALLBACKS(name) ALIAS(local_##name, __mpi_f08_callbacks_MOD_mpi_##name)
#define COPY_FUNCTION(name, set) \
    static void local_##name(const Fint *object, const Fint *keyval, const MPI_Aint *extra, const MPI_Aint *in, \
                             MPI_Aint *out, Fint *flag, Fint *ierror) \
    { \
        (void)object, (void)keyval, (void)extra; \
        if (set) *out = *in; \
        *flag = set; \
        *ierror = MPI_SUCCESS; \
    } \
    IN_CALLBACKS(name)
#define DELETE_FUNCTION(name) \
    static void local_##name(const Fint *object, const Fint *keyval, const MPI_Aint *value, const MPI_Aint *extra, \
                             Fint *ierror) \
    { \
        (void)object, (void)keyval, (void)value, (void)extra; \
        *ierror = MPI_SUCCESS; \
    } \
    IN_CALLBACKS(name)
#define ATTRIBUTE_FUNCTIONS(kind) \
    COPY_FUNCTION(kind##_null_copy_fn, 0) \
    COPY_FUNCTION(kind##_dup_fn, 1) \
    DELETE_FUNCTION(kind##_null_delete_fn)

/* MPI_Sizeof is a procedure for each type: its size is all that there is to say. */
#define SIZEOF(name, bytes) \
    void name(const void *x, Fint *size, Fint *ierror) \
    { \
        (void)x; \
        *size = bytes; \
        done(ierror, MPI_SUCCESS); \
    }
