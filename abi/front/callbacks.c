/* Functions of the program that libimpi calls: each has one of ours before it, which converts what it is given.
 *
 * Where libimpi hands on a value of the program's (extra_state), that is a record with the program's function and
 * value. It lives as long as the process, for nobody says when the last attribute of a key has gone. User-defined
 * operators and error handlers have no such value. For them there are as many functions of ours as a program may have
 * different ones (LIMIT): the number of a function of ours leads to the program's. */
#include <stdatomic.h>

#include "front.h"

enum { LIMIT = 256 };

/* EACH(M) is M(0x00) to M(0xff). */
#define EACH16(M, high) M(high##0) M(high##1) M(high##2) M(high##3) M(high##4) M(high##5) M(high##6) \
    M(high##7) M(high##8) M(high##9) M(high##a) M(high##b) M(high##c) M(high##d) M(high##e) M(high##f)
#define EACH(M) EACH16(M, 0x0) EACH16(M, 0x1) EACH16(M, 0x2) EACH16(M, 0x3) EACH16(M, 0x4) EACH16(M, 0x5) \
    EACH16(M, 0x6) EACH16(M, 0x7) EACH16(M, 0x8) EACH16(M, 0x9) EACH16(M, 0xa) EACH16(M, 0xb) EACH16(M, 0xc) \
        EACH16(M, 0xd) EACH16(M, 0xe) EACH16(M, 0xf)

typedef void function(void);

/* A function of the program's, and for one in C++ that of libmpichcxx.so.12 which calls it: that library (cxx/mpich.cc,
 * or MPICH's own) hands functions of C++ to C as if they were C's, and says right afterwards, in the same thread, by
 * what they are to be called (MPII_Op_set_cxx and its like, below). */
struct callee {
    function *_Atomic f;
    function *cxx;
};
#ifdef FRONT_MPICH
static __thread struct callee *latest;
#endif

/* place finds the number of a function of the program's, and takes the next one for a function that is new; -1: there
 * is none left. */
static int place(struct callee *list, function *f)
{
    for (int i = 0; i < LIMIT; i++) {
        function *there = NULL;
        if (list[i].f != f && !atomic_compare_exchange_strong(&list[i].f, &there, f) && there != f) continue;
#ifdef FRONT_MPICH
        latest = &list[i];
#endif
        return i;
    }
    return -1;
}

/* Operators. */
static struct callee ops[LIMIT], large_ops[LIMIT];
static void op(int i, void *in, void *inout, int *len, const uintptr_t *type)
{
    F_Datatype theirs = front_Datatype_out(*type);
    struct callee *c = &ops[i];
    if (c->cxx) ((void (*)(void *, void *, int, F_Datatype, function *))c->cxx)(in, inout, *len, theirs, c->f);
    else ((void (*)(void *, void *, int *, F_Datatype *))c->f)(in, inout, len, &theirs);
}
static void large_op(int i, void *in, void *inout, int64_t *len, const uintptr_t *type)
{
    F_Datatype theirs = front_Datatype_out(*type);
    ((void (*)(void *, void *, int64_t *, F_Datatype *))large_ops[i].f)(in, inout, len, &theirs);
}
#define M(i) \
    static void op_##i(void *in, void *inout, int *len, uintptr_t *type) { op(i, in, inout, len, type); } \
    static void large_op_##i(void *in, void *inout, int64_t *len, uintptr_t *type) \
    { \
        large_op(i, in, inout, len, type); \
    }
EACH(M)
#undef M
#define M(i) op_##i,
static void (*const op_of[LIMIT])(void *, void *, int *, uintptr_t *) = {EACH(M)};
#undef M
#define M(i) large_op_##i,
static void (*const large_op_of[LIMIT])(void *, void *, int64_t *, uintptr_t *) = {EACH(M)};
#undef M

#define MAKE(list, call, kind, made) \
    int i = f ? place(list, (function *)f) : -1; \
    if (f && i < 0) return F_MPI_ERR_OTHER; \
    uintptr_t n = 0; \
    int err = front_native.call; \
    if (made && n) *made = front_##kind##_out(n); \
    return front_error_out(err)

#ifdef FRONT_OPENMPI
/* Operators of the C++ bindings (cxx/openmpi.cc): a program creates each with the same function of C, and says then
 * which of its own is meant. Each takes one of ours, and keeps it. */
typedef void intercept(void *, void *, int *, F_Datatype *, function *);
extern intercept ompi_mpi_cxx_op_intercept __attribute__((weak));
static struct {
    F_Op op;
    function *f;
} cxx_ops[LIMIT];
static atomic_int n_cxx_ops;
#define M(i) \
    static void cxx_op_##i(void *in, void *inout, int *len, const uintptr_t *type) \
    { \
        F_Datatype theirs = front_Datatype_out(*type); \
        ompi_mpi_cxx_op_intercept(in, inout, len, &theirs, cxx_ops[i].f); \
    }
EACH(M)
#undef M
#define M(i) cxx_op_##i,
static void (*const cxx_op_of[LIMIT])(void *, void *, int *, const uintptr_t *) = {EACH(M)};
#undef M
static int cxx_op_create(int commute, F_Op *made)
{
    int i = atomic_fetch_add(&n_cxx_ops, 1);
    if (i >= LIMIT) return atomic_store(&n_cxx_ops, LIMIT), F_MPI_ERR_OTHER;
    uintptr_t n = 0;
    int err = front_native.Op_create((void *)cxx_op_of[i], commute, &n);
    if (!err) cxx_ops[i].op = *made = front_Op_out(n);
    return front_error_out(err);
}
void ompi_op_set_cxx_callback(F_Op op, function *f)
{
    for (int i = 0; i < LIMIT && i < n_cxx_ops; i++)
        if (cxx_ops[i].op == op) cxx_ops[i].f = f;
}
#endif

int PMPI_Op_create(void (*f)(void *, void *, int *, F_Datatype *), int commute, F_Op *made)
{
#ifdef FRONT_OPENMPI
    if (f && made && (function *)f == (function *)ompi_mpi_cxx_op_intercept) return cxx_op_create(commute, made);
#endif
    MAKE(ops, Op_create(f ? (void *)op_of[i] : NULL, commute, made ? &n : NULL), Op, made);
}
WEAK(MPI_Op_create);

int PMPI_Op_create_c(void (*f)(void *, void *, int64_t *, F_Datatype *), int commute, F_Op *made)
{
    MAKE(large_ops, Op_create_c(f ? (void *)large_op_of[i] : NULL, commute, made ? &n : NULL), Op,
         made);
}
WEAK(MPI_Op_create_c);

/* Error handlers of communicators, files, windows, sessions. */
#define HANDLERS(kind, number) \
    static struct callee handlers_##kind[LIMIT]; \
    static void handle_##kind(int i, uintptr_t *on, int *code) \
    { \
        F_##kind theirs = front_##kind##_out(*on); \
        int error = front_error_out(*code); \
        struct callee *c = &handlers_##kind[i]; \
        if (c->cxx) ((void (*)(int, F_##kind *, int *, function *))c->cxx)(number, &theirs, &error, c->f); \
        else ((void (*)(F_##kind *, int *, ...))c->f)(&theirs, &error); \
    }
HANDLERS(Comm, 0)
HANDLERS(File, 1)
HANDLERS(Win, 2)
HANDLERS(Session, -1)
#define M(i) \
    static void on_comm_##i(uintptr_t *on, int *code, ...) { handle_Comm(i, on, code); } \
    static void on_file_##i(uintptr_t *on, int *code, ...) { handle_File(i, on, code); } \
    static void on_win_##i(uintptr_t *on, int *code, ...) { handle_Win(i, on, code); } \
    static void on_session_##i(uintptr_t *on, int *code, ...) { handle_Session(i, on, code); }
EACH(M)
#undef M
typedef void handler(uintptr_t *, int *, ...);
#define M(i) on_comm_##i,
static handler *const comm_handler[LIMIT] = {EACH(M)};
#undef M
#define M(i) on_file_##i,
static handler *const file_handler[LIMIT] = {EACH(M)};
#undef M
#define M(i) on_win_##i,
static handler *const win_handler[LIMIT] = {EACH(M)};
#undef M
#define M(i) on_session_##i,
static handler *const session_handler[LIMIT] = {EACH(M)};
#undef M

#define CREATE(function_name, kind, table) \
    int PMPI_##function_name(void (*f)(F_##kind *, int *, ...), F_Errhandler *made) \
    { \
        MAKE(handlers_##kind, function_name(f ? (void *)table[i] : NULL, made ? &n : NULL), Errhandler, \
             made); \
    } \
    WEAK(MPI_##function_name)
CREATE(Comm_create_errhandler, Comm, comm_handler);
CREATE(Errhandler_create, Comm, comm_handler);
CREATE(File_create_errhandler, File, file_handler);
CREATE(Win_create_errhandler, Win, win_handler);
CREATE(Session_create_errhandler, Session, session_handler);

/* Attributes: a key's functions and the program's value. For functions in C++ there are those that call them. */
struct by_cxx {
    int (*copy)(function *, int, int, void *, int, void *, void *, int *);
    int (*delete)(function *, int, int, int, void *, void *);
};
#ifdef FRONT_MPICH
static __thread struct by_cxx *latest_key;
#define LATEST_KEY(k) latest_key = &(k)->cxx
#define ON(h) h
#else
#define LATEST_KEY(k) (void)0
#define ON(h) ((void)h, 0)
#endif
#define KEYS(kind) \
    typedef int copy_##kind(F_##kind, int, void *, void *, void *, int *); \
    typedef int delete_##kind(F_##kind, int, void *, void *); \
    struct key_##kind { \
        copy_##kind *copy; \
        delete_##kind *delete; \
        void *extra; \
        struct by_cxx cxx; \
    }; \
    static int key_copy_##kind(uintptr_t on, int keyval, void *record, void *in, void *out, int *flag) \
    { \
        struct key_##kind *k = record; \
        F_##kind h = front_##kind##_out(on); \
        if (k->cxx.copy) \
            return front_error_in(k->cxx.copy((function *)k->copy, ON(h), keyval, k->extra, 0, in, out, flag)); \
        return front_error_in(k->copy(h, keyval, k->extra, in, out, flag)); \
    } \
    static int key_delete_##kind(uintptr_t on, int keyval, void *value, void *record) \
    { \
        struct key_##kind *k = record; \
        F_##kind h = front_##kind##_out(on); \
        if (k->cxx.delete) \
            return front_error_in(k->cxx.delete((function *)k->delete, ON(h), keyval, 0, value, k->extra)); \
        return front_error_in(k->delete (h, keyval, value, k->extra)); \
    }
KEYS(Comm)
KEYS(Datatype)
KEYS(Win)

/* The predefined functions for attributes are numbers for libimpi: 0 does nothing, 1 duplicates. */
#define NOTHING ((void *)0)
#define DUPLICATE ((void *)1)
static int duplicate(void *in, void *out, int *flag)
{
    memcpy(out, &in, sizeof in);
    *flag = 1;
    return 0;
}
#ifdef FRONT_MPICH
int MPIR_Dup_fn(F_Comm on, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)on, (void)keyval, (void)extra;
    return duplicate(in, out, flag);
}
#define IS_DUPLICATE(f) ((function *)(f) == (function *)MPIR_Dup_fn)
#define IS_NO_COPY(f) ((f) == NULL)
#define IS_NO_DELETE(f) ((f) == NULL)
#else
#define PREDEFINED(name, kind) \
    int OMPI_C_MPI_##name##DUP_FN(F_##kind on, int keyval, void *extra, void *in, void *out, int *flag) \
    { \
        (void)on, (void)keyval, (void)extra; \
        return duplicate(in, out, flag); \
    } \
    int OMPI_C_MPI_##name##NULL_COPY_FN(F_##kind on, int keyval, void *extra, void *in, void *out, int *flag) \
    { \
        (void)on, (void)keyval, (void)extra, (void)in, (void)out; \
        return *flag = 0; \
    } \
    int OMPI_C_MPI_##name##NULL_DELETE_FN(F_##kind on, int keyval, void *value, void *extra) \
    { \
        (void)on, (void)keyval, (void)value, (void)extra; \
        return 0; \
    }
PREDEFINED(, Comm)
PREDEFINED(COMM_, Comm)
PREDEFINED(TYPE_, Datatype)
PREDEFINED(WIN_, Win)
#define IS(f, what) \
    ((function *)(f) == (function *)OMPI_C_MPI_##what || (function *)(f) == (function *)OMPI_C_MPI_COMM_##what || \
     (function *)(f) == (function *)OMPI_C_MPI_TYPE_##what || (function *)(f) == (function *)OMPI_C_MPI_WIN_##what)
#define IS_DUPLICATE(f) IS(f, DUP_FN)
#define IS_NO_COPY(f) ((f) == NULL || IS(f, NULL_COPY_FN))
#define IS_NO_DELETE(f) ((f) == NULL || IS(f, NULL_DELETE_FN))
#endif

#define CREATE_KEY(name, kind) \
    int PMPI_##name(copy_##kind *copy, delete_##kind *delete, int *keyval, void *extra) \
    { \
        struct key_##kind *k = malloc(sizeof *k); \
        if (!k) return F_MPI_ERR_NO_MEM; \
        *k = (struct key_##kind){copy, delete, extra, {NULL, NULL}}; \
        int n = 0, err = front_native.name( \
                       IS_NO_COPY(copy) ? NOTHING : IS_DUPLICATE(copy) ? DUPLICATE \
                                                                       : (void *)key_copy_##kind, \
                       IS_NO_DELETE(delete) ? NOTHING : (void *)key_delete_##kind, keyval ? &n : NULL, k); \
        if (err) free(k); \
        else *keyval = front_keyval_out(n), LATEST_KEY(k); \
        return front_error_out(err); \
    } \
    WEAK(MPI_##name)
CREATE_KEY(Comm_create_keyval, Comm);
CREATE_KEY(Keyval_create, Comm);
CREATE_KEY(Type_create_keyval, Datatype);
CREATE_KEY(Win_create_keyval, Win);

#ifdef FRONT_MPICH
/* What libmpichcxx.so.12 calls right after it has created something, under the names of MPICH 3.3 and before. */
static void called_by(function *f)
{
    if (latest) latest->cxx = f;
}
void MPII_Op_set_cxx(F_Op op, function *f) { (void)op, called_by(f); }
void MPII_Errhandler_set_cxx(F_Errhandler handler, function *f) { (void)handler, called_by(f); }
void MPII_Keyval_set_proxy(int keyval, __typeof__(((struct by_cxx *)0)->copy) copy,
                           __typeof__(((struct by_cxx *)0)->delete) delete)
{
    (void)keyval;
    if (latest_key) *latest_key = (struct by_cxx){copy, delete};
}
#define OLD(name) extern __typeof__(MPII_##name) MPIR_##name __attribute__((alias("MPII_" #name)))
OLD(Op_set_cxx);
OLD(Errhandler_set_cxx);
OLD(Keyval_set_proxy);
#endif

/* Generalized requests. Their record ends with them. */
struct request {
    int (*query)(void *, F_Status *), (*free)(void *), (*cancel)(void *, int);
    void *extra;
};
static int request_query(void *record, struct n_status *ours)
{
    struct request *r = record;
    F_Status theirs;
    memset(&theirs, 0, sizeof theirs);
    front_status_write(&theirs, ours);
    int err = r->query(r->extra, &theirs);
    front_status_read(ours, &theirs);
    return front_error_in(err);
}
static int request_free(void *record)
{
    struct request *r = record;
    int err = r->free(r->extra);
    free(r);
    return front_error_in(err);
}
static int request_cancel(void *record, int complete)
{
    struct request *r = record;
    return front_error_in(r->cancel(r->extra, complete));
}
int PMPI_Grequest_start(int (*query)(void *, F_Status *), int (*done)(void *), int (*cancel)(void *, int), void *extra,
                        F_Request *made)
{
    struct request *r = malloc(sizeof *r);
    if (!r) return F_MPI_ERR_NO_MEM;
    *r = (struct request){query, done, cancel, extra};
    uintptr_t n = 0;
    int err = front_native.Grequest_start(query ? (void *)request_query : NULL, done ? (void *)request_free : NULL,
                                          cancel ? (void *)request_cancel : NULL, r, made ? &n : NULL);
    if (err) free(r);
    else *made = front_Request_out(n);
    return front_error_out(err);
}
WEAK(MPI_Grequest_start);

/* Data representations, which live as long as the process. */
#define DATAREP(name, count_type) \
    typedef int conversion_##name(void *, F_Datatype, count_type, void *, int64_t, void *); \
    struct datarep_##name { \
        conversion_##name *read, *write; \
        int (*extent)(F_Datatype, intptr_t *, void *); \
        void *extra; \
    }; \
    static int read_##name(void *user, uintptr_t type, count_type n, void *file, int64_t at, void *record) \
    { \
        struct datarep_##name *d = record; \
        return front_error_in(d->read(user, front_Datatype_out(type), n, file, at, d->extra)); \
    } \
    static int write_##name(void *user, uintptr_t type, count_type n, void *file, int64_t at, void *record) \
    { \
        struct datarep_##name *d = record; \
        return front_error_in(d->write(user, front_Datatype_out(type), n, file, at, d->extra)); \
    } \
    static int extent_##name(uintptr_t type, intptr_t *extent, void *record) \
    { \
        struct datarep_##name *d = record; \
        return front_error_in(d->extent(front_Datatype_out(type), extent, d->extra)); \
    } \
    int PMPI_##name(const char *datarep, conversion_##name *read, conversion_##name *write, \
                    int (*extent)(F_Datatype, intptr_t *, void *), void *extra) \
    { \
        struct datarep_##name *d = malloc(sizeof *d); \
        if (!d) return F_MPI_ERR_NO_MEM; \
        *d = (struct datarep_##name){read, write, extent, extra}; \
        int err = front_native.name(datarep, read ? (void *)read_##name : NULL, write ? (void *)write_##name : NULL, \
                                    extent ? (void *)extent_##name : NULL, d); \
        if (err) free(d); \
        return front_error_out(err); \
    } \
    WEAK(MPI_##name)
DATAREP(Register_datarep, int);
DATAREP(Register_datarep_c, int64_t);

/* Events of the tool information interface: the value of a registration's callback is a record; those of the others are
 * the program's own, and what they are told converts without one. */
struct event {
    void (*call)(void *, void *, int, void *);
    void *user;
};
static void event_call(void *instance, void *registration, int safety, void *record)
{
    struct event *e = record;
    e->call(instance, registration, front_safety_out(safety), e->user);
}
int PMPI_T_event_register_callback(void *registration, int safety, F_Info info, void *user,
                                   void (*call)(void *, void *, int, void *))
{
    struct event *e = malloc(sizeof *e);
    if (!e) return F_MPI_ERR_NO_MEM;
    *e = (struct event){call, user};
    int err = front_native.T_event_register_callback(registration, front_safety_in(safety), front_Info_in(info), e,
                                                     call ? (void *)event_call : NULL);
    if (err || !call) free(e);
    return front_error_out(err);
}
WEAK(MPI_T_event_register_callback);

struct ending {
    void (*call)(void *, int, void *);
    void *user;
};
static void event_freed(void *registration, int safety, void *record)
{
    struct ending *e = record;
    e->call(registration, front_safety_out(safety), e->user);
    free(e);
}
int PMPI_T_event_handle_free(void *registration, void *user, void (*call)(void *, int, void *))
{
    if (!call) return front_error_out(front_native.T_event_handle_free(registration, user, NULL));
    struct ending *e = malloc(sizeof *e);
    if (!e) return F_MPI_ERR_NO_MEM;
    *e = (struct ending){call, user};
    int err = front_native.T_event_handle_free(registration, e, (void *)event_freed);
    if (err) free(e);
    return front_error_out(err);
}
WEAK(MPI_T_event_handle_free);

/* Events that were dropped: the callback is told the value of the registration's callback, which is our record. */
static struct callee dropped[LIMIT];
static void event_dropped(int i, int64_t count, void *registration, int source, int safety, void *record)
{
    struct event *e = record;
    ((void (*)(int64_t, void *, int, int, void *))dropped[i].f)(count, registration, source, front_safety_out(safety),
                                                              e ? e->user : NULL);
}
#define M(i) \
    static void dropped_##i(int64_t count, void *registration, int source, int safety, void *record) \
    { \
        event_dropped(i, count, registration, source, safety, record); \
    }
EACH(M)
#undef M
#define M(i) dropped_##i,
static void (*const dropped_of[LIMIT])(int64_t, void *, int, int, void *) = {EACH(M)};
#undef M
int PMPI_T_event_set_dropped_handler(void *registration, void (*call)(int64_t, void *, int, int, void *))
{
    int i = call ? place(dropped, (function *)call) : -1;
    if (call && i < 0) return F_MPI_ERR_OTHER;
    return front_error_out(front_native.T_event_set_dropped_handler(registration, call ? (void *)dropped_of[i] : NULL));
}
WEAK(MPI_T_event_set_dropped_handler);
