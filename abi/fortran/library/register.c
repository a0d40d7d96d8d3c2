/* Entries that take functions of the program, and attributes. PMPI_X is made of MPI_X (profile). */
#include <stdlib.h>

#include "callbacks.h"

/* Keys of attributes. */
#define KEYVAL(Kind, lower, UPPER, call) \
    void F_(lower)(procedure copy, procedure delete, Fint * keyval, const MPI_Aint *extra, Fint *ierror) \
    { \
        int c_keyval = 0, e = MPI_ERR_NO_MEM; \
        struct key *k = impi_fortran_key(copy, delete, *extra, 0); \
        if (k) e = C_(call)(impi_fortran_##Kind##_copy, impi_fortran_##Kind##_delete, &c_keyval, k); \
        if (e == MPI_SUCCESS) *keyval = c_keyval; \
        else free(k); \
        done(ierror, e); \
    } \
    NAMES(lower, UPPER) \
    ALSO_F08(lower)
KEYVAL(comm, comm_create_keyval, COMM_CREATE_KEYVAL, Comm_create_keyval)
KEYVAL(type, type_create_keyval, TYPE_CREATE_KEYVAL, Type_create_keyval)
KEYVAL(win, win_create_keyval, WIN_CREATE_KEYVAL, Win_create_keyval)

void F_(keyval_create)(procedure copy, procedure delete, Fint *keyval, const Fint *extra, Fint *ierror)
{
    int c_keyval = 0, e = MPI_ERR_NO_MEM;
    struct key *k = impi_fortran_key(copy, delete, *extra, 1);
    if (k) e = C_(Comm_create_keyval)(impi_fortran_comm_copy, impi_fortran_comm_delete, &c_keyval, k);
    if (e == MPI_SUCCESS) *keyval = c_keyval;
    else free(k);
    done(ierror, e);
}
NAMES(keyval_create, KEYVAL_CREATE)

/* Attributes: addresses in C, integers of their size in Fortran, INTEGERs in MPI-1. */
#define ATTRIBUTES(Kind, lower, Value, get, GET, set, SET, c_get, c_set) \
    void F_(get)(const Fint *object, const Fint *keyval, Value *value, Fint *flag, Fint *ierror) \
    { \
        void *at = NULL; \
        int c_flag = 0, e = C_(c_get)(Kind##_in(*object), keyval_in(*keyval), &at, &c_flag); \
        if (e == MPI_SUCCESS && c_flag) { \
            MPI_Aint found; \
            impi_fortran_value(keyval_in(*keyval), at, &found); \
            *value = (Value)found; \
        } \
        *flag = logical_out(c_flag); \
        done(ierror, e); \
    } \
    NAMES(get, GET) \
    void F_(set)(const Fint *object, const Fint *keyval, const Value *value, Fint *ierror) \
    { \
        void *cell = impi_fortran_cell(*value); \
        done(ierror, cell ? C_(c_set)(Kind##_in(*object), keyval_in(*keyval), cell) : no_room()); \
    } \
    NAMES(set, SET)
ATTRIBUTES(Comm, comm, MPI_Aint, comm_get_attr, COMM_GET_ATTR, comm_set_attr, COMM_SET_ATTR, Comm_get_attr,
           Comm_set_attr)
ATTRIBUTES(Datatype, type, MPI_Aint, type_get_attr, TYPE_GET_ATTR, type_set_attr, TYPE_SET_ATTR, Type_get_attr,
           Type_set_attr)
ATTRIBUTES(Win, win, MPI_Aint, win_get_attr, WIN_GET_ATTR, win_set_attr, WIN_SET_ATTR, Win_get_attr, Win_set_attr)
ATTRIBUTES(Comm, comm, Fint, attr_get, ATTR_GET, attr_put, ATTR_PUT, Comm_get_attr, Comm_set_attr)
ALSO_F08(comm_get_attr)
ALSO_F08(comm_set_attr)
ALSO_F08(type_get_attr)
ALSO_F08(type_set_attr)
ALSO_F08(win_get_attr)
ALSO_F08(win_set_attr)

/* Error handlers. */
#define ERRHANDLER(kind, lower, UPPER, call) \
    void F_(lower)(procedure f, Fint * errhandler, Fint * ierror) \
    { \
        MPI_Errhandler made = MPI_ERRHANDLER_NULL; \
        MPI_##call##_errhandler_function *c = impi_fortran_##kind##_errhandler(f); \
        int e = c ? C_(call##_create_errhandler)(c, &made) : impi_fortran_exhausted("error handlers"); \
        if (e == MPI_SUCCESS) *errhandler = Errhandler_out(made); \
        done(ierror, e); \
    } \
    NAMES(lower, UPPER) \
    ALSO_F08(lower)
ERRHANDLER(comm, comm_create_errhandler, COMM_CREATE_ERRHANDLER, Comm)
ERRHANDLER(win, win_create_errhandler, WIN_CREATE_ERRHANDLER, Win)
ERRHANDLER(file, file_create_errhandler, FILE_CREATE_ERRHANDLER, File)
ERRHANDLER(session, session_create_errhandler, SESSION_CREATE_ERRHANDLER, Session)
ERRHANDLER(comm, errhandler_create, ERRHANDLER_CREATE, Comm)

/* Operators. */
void F_(op_create)(procedure f, const Fint *commute, Fint *op, Fint *ierror)
{
    MPI_Op made = MPI_OP_NULL;
    MPI_User_function *c = impi_fortran_operator(f);
    int e = c ? C_(Op_create)(c, logical_in(*commute), &made) : impi_fortran_exhausted("operators");
    if (e == MPI_SUCCESS) *op = Op_out(made);
    done(ierror, e);
}
NAMES(op_create, OP_CREATE)
ALSO_F08(op_create)

#ifdef HAVE_LARGE
void LARGE_(op_create)(procedure f, const Fint *commute, Fint *op, Fint *ierror)
{
    MPI_Op made = MPI_OP_NULL;
    MPI_User_function_c *c = impi_fortran_operator_c(f);
    int e = c ? C_(Op_create_c)(c, logical_in(*commute), &made) : impi_fortran_exhausted("operators");
    if (e == MPI_SUCCESS) *op = Op_out(made);
    done(ierror, e);
}
#endif

/* Generalized requests. */
void F_(grequest_start)(procedure query, procedure free_, procedure cancel, const MPI_Aint *extra, Fint *request,
                        Fint *ierror)
{
    MPI_Request made = MPI_REQUEST_NULL;
    int e = MPI_ERR_NO_MEM;
    struct grequest *g = (struct grequest *)malloc(sizeof *g);
    if (g) {
        *g = (struct grequest){query, free_, cancel, *extra};
        e = C_(Grequest_start)(impi_fortran_query, impi_fortran_free, impi_fortran_cancel, g, &made);
    }
    if (e == MPI_SUCCESS) *request = Request_out(made);
    else free(g);
    done(ierror, e);
}
NAMES(grequest_start, GREQUEST_START)
ALSO_F08(grequest_start)

/* Data representations, which nothing ends. */
#define DATAREP(entry, call, suffix) \
    void entry(const char *datarep, procedure read, procedure write, procedure extent, const MPI_Aint *extra, \
               Fint *ierror, size_t datarep_len) \
    { \
        ROOM(room); \
        char *name = string_in(&room, datarep, datarep_len); \
        struct datarep *d = (struct datarep *)malloc(sizeof *d); \
        int e = MPI_ERR_NO_MEM; \
        if (d && name) { \
            *d = (struct datarep){read, write, extent, *extra}; \
            e = C_(call)(name, is_conversion_null(read) ? NULL : impi_fortran_read##suffix, \
                         is_conversion_null(write) ? NULL : impi_fortran_write##suffix, impi_fortran_extent, d); \
        } \
        if (e) free(d); \
        leave(&room); \
        done(ierror, e); \
    }
DATAREP(F_(register_datarep), Register_datarep, )
NAMES(register_datarep, REGISTER_DATAREP)
ALSO_F08(register_datarep)
#ifdef HAVE_LARGE
DATAREP(LARGE_(register_datarep), Register_datarep_c, _c)
#endif
