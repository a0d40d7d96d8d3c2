/* What the entries of Fortran's bindings have in common: names, handles, numbers, strings, statuses, buffers.
 *
 * FORTRAN_INTEGER  bytes of an INTEGER and of a LOGICAL: 4, or 8 (-fdefault-integer-8)
 * FORTRAN_MPICH, FORTRAN_OPENMPI  defined: of a front (abi/front), whose C they call (mpich.h, openmpi.h here); else of
 *                  libimpi's own library, which calls what is in the standard ABI (own.h) */
#ifndef LIBIMPI_FORTRAN_H
#define LIBIMPI_FORTRAN_H

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "mpi.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HIDDEN __attribute__((visibility("hidden")))

#if FORTRAN_INTEGER == 8
typedef int64_t Fint;
#else
typedef int32_t Fint;
#endif

#define ALIAS(is, name) ALIAS_OF(is, name)
#define ALIAS_OF(is, name) extern __typeof__(is) name __attribute__((alias(#is)));

#ifdef FORTRAN_MPICH
#include "mpich.h"
#elif defined FORTRAN_OPENMPI
#include "openmpi.h"
#else
#include "own.h"
#endif

/* ierror is optional in mpi_f08. */
static inline void done(Fint *ierror, int e)
{
    if (ierror) *ierror = e;
}

/* Room for copies, for the time of a call: the first bytes cost nothing. */
struct room {
    size_t used;
    int full; /* there is no memory */
    void *more; /* blocks, each of which begins with the address of the next */
    _Alignas(16) char here[1024];
};
#define ROOM(name) \
    struct room name; \
    name.used = 0, name.full = 0, name.more = NULL

HIDDEN void *impi_fortran_more(struct room *r, size_t bytes);
HIDDEN void impi_fortran_leave(struct room *r);
HIDDEN int impi_fortran_no_room(void);
#define no_room impi_fortran_no_room

static inline int64_t at_least_0(int64_t n)
{
    return n > 0 ? n : 0;
}

/* Memory of zeros for n elements. */
static inline void *allocate(struct room *r, int64_t n, size_t size)
{
    size_t bytes = ((size_t)at_least_0(n) * size + 15) & ~(size_t)15;
    if (UNLIKELY(n > (INT64_MAX >> 16) || bytes > sizeof r->here - r->used)) return impi_fortran_more(r, bytes);
    void *p = r->here + r->used;
    r->used += bytes;
    return memset(p, 0, bytes);
}

static inline void leave(struct room *r)
{
    if (UNLIKELY(r->more != NULL)) impi_fortran_leave(r);
}

/* Numbers. An INTEGER of 8 bytes that no int holds becomes the nearest one, which no call takes. */
static inline int int_in(Fint n)
{
#if FORTRAN_INTEGER == 8
    return n > INT_MAX ? INT_MAX : n < INT_MIN ? INT_MIN
                                               : (int)n;
#else
    return n;
#endif
}

#if defined FORTRAN_MPICH || defined FORTRAN_OPENMPI
#define impi_fortran_true 1 /* a LOGICAL's .TRUE. */
#else
HIDDEN extern Fint impi_fortran_true;
#endif
/* Its low half tells: flang 19 passes comparisons as LOGICALs of 4 bytes, whatever the default. */
static inline int logical_in(Fint l)
{
    return (int32_t)l != 0;
}
static inline Fint logical_out(int l) { return l ? impi_fortran_true : 0; }

/* Fortran counts from one. */
static inline int index_out(int i) { return i == MPI_UNDEFINED ? i : i + 1; }
static inline void indices_out(Fint *indices, int n)
{
    for (int i = 0; i < n; i++) indices[i]++;
}

/* An array of integers of one size for C, where they have another; n elements. */
HIDDEN void *impi_fortran_numbers(struct room *r, const void *a, size_t size, size_t c_size, int64_t n);
HIDDEN void impi_fortran_numbers_out(void *a, size_t size, const void *c, size_t c_size, int64_t n);
HIDDEN void impi_fortran_logicals_out(Fint *a, const int *c, int64_t n);
#define NUMBERS_IN(type, a, n) \
    ((type *)(sizeof(type) == sizeof *(a) ? (void *)(a) : impi_fortran_numbers(&room, a, sizeof *(a), sizeof(type), n)))
#define NUMBERS_OUT(a, c, n) \
    do { \
        if (sizeof *(c) != sizeof *(a)) impi_fortran_numbers_out(a, sizeof *(a), c, sizeof *(c), n); \
    } while (0)
#define LOGICALS_OUT(a, c, n) impi_fortran_logicals_out(a, c, n)

/* How long arrays are of which no argument says so. */
HIDDEN int64_t impi_fortran_peers(MPI_Comm comm); /* processes that a collective call is with */
HIDDEN int64_t impi_fortran_neighbors(MPI_Comm comm, int out); /* of a topology */
HIDDEN int64_t impi_fortran_dimensions(MPI_Comm comm); /* of a grid */
#define peers impi_fortran_peers
#define neighbors impi_fortran_neighbors
#define dimensions impi_fortran_dimensions
static inline int64_t sum(const Fint *a, int64_t n)
{
    int64_t s = 0;
    for (int64_t i = 0; i < n; i++) s += at_least_0(a[i]);
    return s;
}
static inline int64_t last(const Fint *a, int64_t n) { return n > 0 ? a[n - 1] : 0; }

/* Handles, and arrays of them. */
#define HANDLES(kind) \
    static inline MPI_##kind *kind##s_in(struct room *r, const Fint *a, int64_t n) \
    { \
        MPI_##kind *c = (MPI_##kind *)allocate(r, n, sizeof *c); \
        for (int64_t i = 0; c && i < n; i++) c[i] = kind##_in(a[i]); \
        return c; \
    } \
    static inline void kind##s_out(Fint *a, const MPI_##kind *c, int64_t n) /* those that C has set */ \
    { \
        for (int64_t i = 0; c && i < n; i++) \
            if (c[i]) a[i] = kind##_out(c[i]); \
    }
HANDLE(Comm, Comm)
HANDLE(Datatype, Type)
HANDLE(Errhandler, Errhandler)
FILE_HANDLE
HANDLE(Group, Group)
HANDLE(Info, Info)
HANDLE(Message, Message)
HANDLE(Op, Op)
HANDLE(Request, Request)
HANDLE(Session, Session)
HANDLE(Win, Win)
HANDLES(Datatype)
HANDLES(Info)
HANDLES(Request)

/* Copies that an operation goes on reading lie in a room of their own, kept until its request is no more. */
#define KEPT(name) \
    ROOM(name); \
    name.used = sizeof name.here
HIDDEN extern int impi_fortran_keeps; /* requests that have some */
HIDDEN void impi_fortran_keep(const struct room *kept, int error, Fint request);
HIDDEN void impi_fortran_release(Fint request);
#define keep(kept, error, request) impi_fortran_keep(kept, error, *(request))

/* A request after a call that may have ended it, and an array of them. */
static inline Fint request_out(Fint before, MPI_Request now)
{
    if (UNLIKELY(now == MPI_REQUEST_NULL && __atomic_load_n(&impi_fortran_keeps, __ATOMIC_RELAXED)))
        impi_fortran_release(before);
    return Request_out(now);
}
static inline void requests_out(Fint *a, const MPI_Request *c, int64_t n)
{
    for (int64_t i = 0; c && i < n; i++) a[i] = request_out(a[i], c[i]);
}

/* Values that Fortran's constants have by their address. */
static inline void *buffer_in(void *p)
{
    if (UNLIKELY(is_bottom(p))) return MPI_BOTTOM;
    if (UNLIKELY(is_in_place(p))) return MPI_IN_PLACE;
#ifdef MPI_BUFFER_AUTOMATIC
    if (UNLIKELY(is_buffer_automatic(p))) return MPI_BUFFER_AUTOMATIC;
#endif
    return p;
}

#define WEIGHTS_IN(type, a, n) \
    (is_unweighted(a) ? MPI_UNWEIGHTED : is_weights_empty(a) ? MPI_WEIGHTS_EMPTY \
                                                             : NUMBERS_IN(type, a, n))

/* Statuses: STATUS_INTEGERS INTEGERs in the order of C's. */
#define SAME_STATUS(a) (sizeof *(a) == sizeof(int) && (uintptr_t)(a) % _Alignof(MPI_Status) == 0)
HIDDEN MPI_Status *impi_fortran_statuses(struct room *r, const Fint *a, int64_t n);
HIDDEN void impi_fortran_statuses_out(Fint *a, const MPI_Status *c, int64_t n);
static inline MPI_Status *status_in(struct room *r, const Fint *a, int64_t n)
{
    if (is_status_ignore(a)) return MPI_STATUS_IGNORE;
    return SAME_STATUS(a) ? (MPI_Status *)a : impi_fortran_statuses(r, a, n);
}
static inline MPI_Status *statuses_in(struct room *r, const Fint *a, int64_t n)
{
    if (is_statuses_ignore(a)) return MPI_STATUSES_IGNORE;
    return SAME_STATUS(a) ? (MPI_Status *)a : impi_fortran_statuses(r, a, n);
}
static inline void statuses_out(Fint *a, const MPI_Status *c, int64_t n)
{
    if (c && (const void *)a != (const void *)c && !is_ignored(c)) impi_fortran_statuses_out(a, c, n);
}

/* Strings: blanks behind them mean nothing. */
HIDDEN char *impi_fortran_string(struct room *r, const char *s, size_t n);
HIDDEN char *impi_fortran_trimmed(struct room *r, const char *s, size_t n); /* nor before them */
HIDDEN void impi_fortran_string_out(char *s, size_t n, const char *c);
#define string_in impi_fortran_string
#define trimmed_in impi_fortran_trimmed
#define string_out impi_fortran_string_out


#ifndef FORTRAN_OPENMPI /* which passes no descriptors */
/* Elements lie one behind the other. */
static inline int contiguous(const struct descriptor *d)
{
    int64_t bytes = (int64_t)d->elem_len;
    for (int i = 0; i < d->rank; i++) {
        int64_t n = extent(d, i);
        if (n <= 0) return 1; /* nothing, or of assumed size */
        if (n != 1 && stride(d, i) != bytes) return 0;
        bytes *= n;
    }
    return 1;
}

/* A buffer, or two that share a datatype, with the count and the datatype that describe it. Count -1 stands for as many
 * as the call says, for each process perhaps. */
struct section {
    void *base[2];
    int64_t count;
    MPI_Datatype datatype;
    int made;                           /* the datatype ends with the call */
    const struct descriptor *copied[2]; /* not NULL: base is a copy */
    int error;
};
enum { NEVER, MAY, ALWAYS }; /* whether the call may have copies: it blocks */
HIDDEN struct section impi_fortran_section(const struct descriptor *a, const struct descriptor *b, int64_t count,
                                           MPI_Datatype datatype, int copies);
HIDDEN void impi_fortran_section_end(struct section *s);
HIDDEN int impi_fortran_refuse(void);
static inline struct section section_in(const struct descriptor *a, const struct descriptor *b, int64_t count,
                                        MPI_Datatype datatype, int copies)
{
    if (UNLIKELY(!contiguous(a) || (b && !contiguous(b)))) return impi_fortran_section(a, b, count, datatype, copies);
    return (struct section){ .base = { buffer_in(a->base), b ? buffer_in(b->base) : NULL }, .count = count,
                             .datatype = datatype };
}
static inline void section_end(struct section *s)
{
    if (UNLIKELY(s->made || s->copied[0] || s->copied[1])) impi_fortran_section_end(s);
}

/* A buffer whose blocks have datatypes of their own. */
HIDDEN int impi_fortran_lays(void);
HIDDEN void impi_fortran_types(const struct descriptor *d, MPI_Datatype *types, int64_t n);
static inline struct section blocks_in(const struct descriptor *d, MPI_Datatype *types, int64_t n, int copies)
{
    if (LIKELY(contiguous(d)) || !types || !impi_fortran_lays())
        return section_in(d, NULL, -1, MPI_DATATYPE_NULL, copies ? ALWAYS : NEVER);
    impi_fortran_types(d, types, n);
    return (struct section){ .base = { buffer_in(d->base) } };
}
static inline void blocks_end(struct section *s, const Fint *types, MPI_Datatype *made, int64_t n)
{
    section_end(s);
    for (int64_t i = 0; UNLIKELY(s->count == 0) && made && i < n; i++)
        if (made[i] != Datatype_in(types[i])) PMPI_Type_free(&made[i]);
}

/* Memory as such: the address of its first element. */
static inline void *whole_in(const struct descriptor *d) { return buffer_in(d->base); }
#endif

#endif
