/* Fortran's functions as C's. */
#include "callbacks.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Cells lie in blocks, so that an address tells whether it is one of them. */
enum { CELLS = 1024 };
static struct block {
    struct block *next;
    MPI_Aint cells[CELLS];
} * blocks;
static MPI_Aint *idle; /* each holds the address of the next */

static int is_cell(const void *p)
{
    for (const struct block *b = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE); b; b = b->next)
        if ((uintptr_t)p - (uintptr_t)b->cells < sizeof b->cells) return 1;
    return 0;
}

void *impi_fortran_cell(MPI_Aint value)
{
    pthread_mutex_lock(&mutex);
    if (!idle) {
        struct block *b = (struct block *)malloc(sizeof *b);
        for (int i = 0; b && i < CELLS; i++) {
            b->cells[i] = (MPI_Aint)idle;
            idle = &b->cells[i];
        }
        if (b) {
            b->next = blocks;
            __atomic_store_n(&blocks, b, __ATOMIC_RELEASE);
        }
    }
    MPI_Aint *cell = idle;
    if (cell) {
        idle = (MPI_Aint *)*cell;
        *cell = value;
    }
    pthread_mutex_unlock(&mutex);
    return cell;
}

static void give_back(void *cell)
{
    if (!is_cell(cell)) return;
    pthread_mutex_lock(&mutex);
    *(MPI_Aint *)cell = (MPI_Aint)idle;
    idle = (MPI_Aint *)cell;
    pthread_mutex_unlock(&mutex);
}

/* C says predefined attributes by the address of an int, or of an MPI_Aint; a window's memory by its address. */
static int is_int(int keyval)
{
    switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL: return 1;
    }
    return 0;
}

int impi_fortran_value(int keyval, void *attribute, MPI_Aint *value)
{
    if (is_int(keyval))
        *value = *(int *)attribute;
    else if (keyval == MPI_WIN_SIZE || is_cell(attribute))
        *value = *(MPI_Aint *)attribute;
    else
        *value = (MPI_Aint)attribute;
    return is_cell(attribute);
}

struct key *impi_fortran_key(procedure copy, procedure delete, MPI_Aint extra, int first)
{
    struct key *k = (struct key *)malloc(sizeof *k);
    if (!k) return NULL;
    *k = (struct key){copy, delete, 0, first, extra};
    if (copy == (procedure)mpi_comm_dup_fn_ || copy == (procedure)mpi_type_dup_fn_ ||
        copy == (procedure)mpi_win_dup_fn_ ||
        copy == (procedure)mpi_dup_fn_)
        k->dup = 1;
    if (k->dup || copy == (procedure)mpi_comm_null_copy_fn_ || copy == (procedure)mpi_type_null_copy_fn_ ||
        copy == (procedure)mpi_win_null_copy_fn_ || copy == (procedure)mpi_null_copy_fn_)
        k->copy = NULL;
    if (delete == (procedure)mpi_comm_null_delete_fn_ || delete == (procedure)mpi_type_null_delete_fn_ ||
        delete == (procedure)mpi_win_null_delete_fn_ || delete == (procedure)mpi_null_delete_fn_)
        k->delete = NULL;
    return k;
}

int impi_fortran_copy_attr(Fint object, int keyval, void *state, void *in, void *out, int *flag)
{
    const struct key *k = (const struct key *)state;
    MPI_Aint value, copy = 0;
    int cell = impi_fortran_value(keyval, in, &value);
    Fint f_keyval = keyval, f_flag = 0, ierror = MPI_SUCCESS;
    *flag = k->dup;
    if (k->copy && k->first) {
        Fint extra = (Fint)k->extra, f_in = (Fint)value, f_out = 0;
        ((void (*)(Fint *, Fint *, Fint *, Fint *, Fint *, Fint *, Fint *))k->copy)(&object, &f_keyval, &extra, &f_in,
                                                                                    &f_out, &f_flag, &ierror);
        copy = f_out;
    } else if (k->copy) {
        MPI_Aint extra = k->extra, f_in = value;
        ((copy_function *)k->copy)(&object, &f_keyval, &extra, &f_in, &copy, &f_flag, &ierror);
    }
    if (k->copy) *flag = logical_in(f_flag);
    if (ierror != MPI_SUCCESS || !*flag) return int_in(ierror);
    void *made = k->dup && !cell ? in : impi_fortran_cell(k->dup ? value : copy);
    if (!made) return MPI_ERR_NO_MEM;
    *(void **)out = made;
    return MPI_SUCCESS;
}

int impi_fortran_delete_attr(Fint object, int keyval, void *attribute, void *state)
{
    const struct key *k = (const struct key *)state;
    MPI_Aint value;
    impi_fortran_value(keyval, attribute, &value);
    Fint f_keyval = keyval, ierror = MPI_SUCCESS;
    if (k->delete &&k->first) {
        Fint extra = (Fint)k->extra, f_value = (Fint)value;
        ((void (*)(Fint *, Fint *, Fint *, Fint *, Fint *))k->delete)(&object, &f_keyval, &f_value, &extra, &ierror);
    } else if (k->delete) {
        MPI_Aint extra = k->extra;
        ((delete_function *)k->delete)(&object, &f_keyval, &value, &extra, &ierror);
    }
    if (ierror == MPI_SUCCESS) give_back(attribute);
    return int_in(ierror);
}

#define OBJECT(kind, name) \
    int impi_fortran_##name##_copy(MPI_##kind o, int keyval, void *key, void *in, void *out, int *flag) \
    { \
        return impi_fortran_copy_attr(kind##_out(o), keyval, key, in, out, flag); \
    } \
    int impi_fortran_##name##_delete(MPI_##kind o, int keyval, void *value, void *key) \
    { \
        return impi_fortran_delete_attr(kind##_out(o), keyval, value, key); \
    }
OBJECT(Comm, comm)
OBJECT(Datatype, type)
OBJECT(Win, win)

/* The pools. A function keeps its place for good, and has it again when it comes again. */
enum { OPERATORS = 256,
       HANDLERS = 64 };

static int place(procedure *pool, int n, procedure f)
{
    int i = 0;
    pthread_mutex_lock(&mutex);
    while (i < n && pool[i] && pool[i] != f) i++;
    if (i < n) pool[i] = f;
    pthread_mutex_unlock(&mutex);
    return i < n ? i : -1;
}

int impi_fortran_exhausted(const char *what)
{
    (void)what;
    return PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER), MPI_ERR_OTHER;
}

#define TIMES4(m, n) m(n##0) m(n##1) m(n##2) m(n##3)
#define TIMES16(m, n) TIMES4(m, n##0) TIMES4(m, n##1) TIMES4(m, n##2) TIMES4(m, n##3)
#define TIMES64(m, n) TIMES16(m, n##0) TIMES16(m, n##1) TIMES16(m, n##2) TIMES16(m, n##3)
#define TIMES256(m) TIMES64(m, 0) TIMES64(m, 1) TIMES64(m, 2) TIMES64(m, 3)

/* Names are numbers of base four: 0123 is place 27. */
#define DIGIT(n) place_of(#n)
static inline int place_of(const char *digits)
{
    int n = 0;
    while (*digits) n = 4 * n + *digits++ - '0';
    return n;
}

static procedure operators[OPERATORS];

static void operate(int at, void *in, void *inout, int64_t n, MPI_Datatype type)
{
    Fint f_n = (Fint)n, f_type = Datatype_out(type);
    ((void (*)(void *, void *, Fint *, Fint *))operators[at])(in, inout, &f_n, &f_type);
}

#define OPERATOR(n) \
    static void operator_##n(void *in, void *inout, int *len, MPI_Datatype *type) \
    { \
        operate(DIGIT(n), in, inout, *len, *type); \
    }
#define OPERATOR_NAME(n) operator_##n,
TIMES256(OPERATOR)
static MPI_User_function *const operator_functions[] = {TIMES256(OPERATOR_NAME)};

MPI_User_function *impi_fortran_operator(procedure f)
{
    int at = place(operators, OPERATORS, f);
    return at < 0 ? NULL : operator_functions[at];
}

static procedure large_operators[HANDLERS];

#define LARGE_OPERATOR(n) \
    static void large_operator_##n(void *in, void *inout, MPI_Count *len, MPI_Datatype *type) \
    { \
        MPI_Count f_len = *len; \
        Fint f_type = Datatype_out(*type); \
        ((void (*)(void *, void *, MPI_Count *, Fint *))large_operators[DIGIT(n)])(in, inout, &f_len, &f_type); \
    }
#define LARGE_OPERATOR_NAME(n) large_operator_##n,
TIMES64(LARGE_OPERATOR, 0)
static MPI_User_function_c *const large_operator_functions[] = {TIMES64(LARGE_OPERATOR_NAME, 0)};

MPI_User_function_c *impi_fortran_operator_c(procedure f)
{
    int at = place(large_operators, HANDLERS, f);
    return at < 0 ? NULL : large_operator_functions[at];
}

#define HANDLER(kind, name) \
    static procedure name##_handlers[HANDLERS]; \
    static void name##_failed(int at, MPI_##kind *object, int *code) \
    { \
        Fint f_object = kind##_out(*object), f_code = *code; \
        ((void (*)(Fint *, Fint *))name##_handlers[at])(&f_object, &f_code); \
    }
HANDLER(Comm, comm)
HANDLER(Win, win)
HANDLER(File, file)
HANDLER(Session, session)

#define COMM_HANDLER(n) \
    static void comm_handler_##n(MPI_Comm *c, int *code, ...) { comm_failed(DIGIT(n), c, code); }
#define WIN_HANDLER(n) \
    static void win_handler_##n(MPI_Win *w, int *code, ...) { win_failed(DIGIT(n), w, code); }
#define FILE_HANDLER(n) \
    static void file_handler_##n(MPI_File *f, int *code, ...) { file_failed(DIGIT(n), f, code); }
#define SESSION_HANDLER(n) \
    static void session_handler_##n(MPI_Session *s, int *code, ...) { session_failed(DIGIT(n), s, code); }
#define COMM_NAME(n) comm_handler_##n,
#define WIN_NAME(n) win_handler_##n,
#define FILE_NAME(n) file_handler_##n,
#define SESSION_NAME(n) session_handler_##n,
TIMES64(COMM_HANDLER, 0)
TIMES64(WIN_HANDLER, 0)
TIMES64(FILE_HANDLER, 0)
TIMES64(SESSION_HANDLER, 0)

#define FIND_HANDLER(Kind, KIND, name) \
    static MPI_##Kind##_errhandler_function *const name##_functions[] = {TIMES64(KIND##_NAME, 0)}; \
    MPI_##Kind##_errhandler_function *impi_fortran_##name##_errhandler(procedure f) \
    { \
        int at = place(name##_handlers, HANDLERS, f); \
        return at < 0 ? NULL : name##_functions[at]; \
    }
FIND_HANDLER(Comm, COMM, comm)
FIND_HANDLER(Win, WIN, win)
FIND_HANDLER(File, FILE, file)
FIND_HANDLER(Session, SESSION, session)

/* Generalized requests. */

int impi_fortran_query(void *state, MPI_Status *status)
{
    struct grequest *g = (struct grequest *)state;
    ROOM(room);
    Fint ierror = MPI_SUCCESS, *f_status = NUMBERS_IN(Fint, (int *)status, STATUS_INTEGERS);
    if (!f_status) return MPI_ERR_NO_MEM;
    ((void (*)(MPI_Aint *, Fint *, Fint *))g->query)(&g->extra, f_status, &ierror);
    NUMBERS_OUT((int *)status, f_status, STATUS_INTEGERS);
    leave(&room);
    return int_in(ierror);
}

int impi_fortran_free(void *state)
{
    struct grequest *g = (struct grequest *)state;
    Fint ierror = MPI_SUCCESS;
    ((void (*)(MPI_Aint *, Fint *))g->free)(&g->extra, &ierror);
    free(g);
    return int_in(ierror);
}

int impi_fortran_cancel(void *state, int complete)
{
    struct grequest *g = (struct grequest *)state;
    Fint f_complete = logical_out(complete), ierror = MPI_SUCCESS;
    ((void (*)(MPI_Aint *, Fint *, Fint *))g->cancel)(&g->extra, &f_complete, &ierror);
    return int_in(ierror);
}

/* Data representations. */

static int convert(procedure f, void *user, MPI_Datatype t, MPI_Count n, int wide, void *file, MPI_Offset at,
                   struct datarep *d)
{
    Fint f_type = Datatype_out(t), f_n = (Fint)n, ierror = MPI_SUCCESS;
    ((void (*)(void *, Fint *, void *, void *, MPI_Offset *, MPI_Aint *, Fint *))f)(
        user, &f_type, wide ? (void *)&n : (void *)&f_n, file, &at, &d->extra, &ierror);
    return int_in(ierror);
}

#define CONVERSION(way) \
    int impi_fortran_##way(void *user, MPI_Datatype t, int n, void *file, MPI_Offset at, void *state) \
    { \
        return convert(((struct datarep *)state)->way, user, t, n, 0, file, at, (struct datarep *)state); \
    } \
    int impi_fortran_##way##_c(void *user, MPI_Datatype t, MPI_Count n, void *file, MPI_Offset at, void *state) \
    { \
        return convert(((struct datarep *)state)->way, user, t, n, 1, file, at, (struct datarep *)state); \
    }
CONVERSION(read)
CONVERSION(write)

int impi_fortran_extent(MPI_Datatype t, MPI_Aint *extent, void *state)
{
    struct datarep *d = (struct datarep *)state;
    Fint f_type = Datatype_out(t), ierror = MPI_SUCCESS;
    ((void (*)(Fint *, MPI_Aint *, MPI_Aint *, Fint *))d->extent)(&f_type, extent, &d->extra, &ierror);
    return int_in(ierror);
}
