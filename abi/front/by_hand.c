/* Functions whose arguments say more than their types do. */
#include <stdio.h>

#include "front.h"

/* libimpi's codes lie between its last class and MPI_ERR_LASTCODE, those that the program adds above, as in every ABI.
 * Programs for MPICH expect codes, of which they ask the class: these are ours, moved behind all classes. With Open MPI
 * a code is its class, and programs compare it with classes. */
enum { CODES = 1 << 16 };

int front_code_in(int theirs)
{
    if (theirs < 0) return theirs;
    if (theirs > F_MPI_ERR_LASTCODE) return theirs - F_MPI_ERR_LASTCODE + N_MPI_ERR_LASTCODE;
    /* A class that libimpi has not is no other that happens to have its number here. */
    return theirs >= CODES && theirs <= CODES + N_MPI_ERR_LASTCODE ? theirs - CODES : N_MPI_ERR_UNKNOWN;
}

int front_code_out(int ours)
{
    if (ours < 0) return ours;
    if (ours >= N_MPI_ERR_LASTCODE) return ours - N_MPI_ERR_LASTCODE + F_MPI_ERR_LASTCODE;
#ifdef FRONT_MPICH
    return ours + CODES;
#else
    int class = N_MPI_ERR_OTHER;
    if (ours == N_MPI_ERR_ERRHANDLER) return F_MPI_ERR_ARG;
    /* What is its own class, and comes here, is a class that Open MPI has not. */
    if (front_native.Error_class(ours, &class) || class == ours) return F_MPI_ERR_OTHER;
    return front_error_out(class);
#endif
}

/* The processes whose ranks messages on a communicator name. */
int64_t front_ranks(F_Comm comm)
{
    uintptr_t c = front_Comm_in(comm);
    int inter = 0, n = 0;
    if (c < 4096 && c != front_Comm_in(F_COMM_WORLD) && c != front_Comm_in(F_COMM_SELF)) return 0;
    if (front_native.Comm_test_inter(c, &inter)) return 0;
    if (inter ? front_native.Comm_remote_size(c, &n) : front_native.Comm_size(c, &n)) return 0;
    return n;
}

/* The neighbors to which a process sends (out), or from which it receives. */
int64_t front_edges(F_Comm comm, int out)
{
    uintptr_t c = front_Comm_in(comm);
    int kind = 0, n = 0, in = 0, weighted;
    if (front_ranks(comm) == 0 || front_native.Topo_test(c, &kind)) return 0;
    if (front_topology_out(kind) == F_MPI_CART) return front_native.Cartdim_get(c, &n) ? 0 : 2 * (int64_t)n;
    if (front_topology_out(kind) == F_MPI_GRAPH) {
        int rank;
        return front_native.Comm_rank(c, &rank) || front_native.Graph_neighbors_count(c, rank, &n) ? 0 : n;
    }
    if (front_topology_out(kind) != F_MPI_DIST_GRAPH) return 0;
    return front_native.Dist_graph_neighbors_count(c, &in, &n, &weighted) ? 0 : out ? n
                                                                                    : in;
}

/* An array that counts at the root alone. */
int64_t front_at_root(int root, F_Comm comm, int count)
{
    int rank;
    return front_ranks(comm) && !front_native.Comm_rank(front_Comm_in(comm), &rank) && rank == root ? count : 0;
}

/* A call spawns at most this many (libimpi's limit). A code that no call sets stands behind the last. */
enum { MOST_SPAWNED = 1 << 16,
       NO_CODE = INT32_MIN };

int *front_codes_for(const int *theirs)
{
    int *ours = theirs ? malloc((MOST_SPAWNED + 1) * sizeof *ours) : NULL;
    for (int i = 0; ours && i <= MOST_SPAWNED; i++) ours[i] = NO_CODE;
    return ours;
}

void front_codes_out(int *theirs, int *ours)
{
    for (int i = 0; ours && ours[i] != NO_CODE; i++) theirs[i] = front_error_out(ours[i]);
    free(ours);
}

void front_text_out(char *theirs, const char *ours, int limit, int *length)
{
    if (!theirs) return;
    size_t n = strnlen(ours, (size_t)limit - 1);
    memcpy(theirs, ours, n);
    theirs[n] = 0;
    if (length) *length = (int)n;
}

/* What predefined attributes point at, where the value means something else in libimpi. */
static const int *attribute(int keyval, const int *ours)
{
    static int host, io, last, flavors[4], models[4];
    int *to;
    switch (keyval) {
    case N_MPI_HOST: to = &host, *to = front_rank_out(*ours); break;
    case N_MPI_IO: to = &io, *to = front_rank_out(*ours); break;
    case N_MPI_LASTUSEDCODE: to = &last, *to = front_code_out(*ours); break;
    case N_MPI_WIN_CREATE_FLAVOR: to = &flavors[*ours & 3], *to = front_flavor_out(*ours); break; /* windows differ */
    case N_MPI_WIN_MODEL: to = &models[*ours & 3], *to = front_model_out(*ours); break;
    default: return ours;
    }
    return to;
}

#define GET(name, kind) \
    int PMPI_##name(F_##kind on, int keyval, void *value, int *flag) \
    { \
        int key = front_keyval_in(keyval), err = front_native.name(front_##kind##_in(on), key, value, flag); \
        if (!err && *flag) { \
            const int *p; \
            memcpy(&p, value, sizeof p); \
            p = attribute(key, p); \
            memcpy(value, &p, sizeof p); \
        } \
        return front_error_out(err); \
    } \
    WEAK(MPI_##name)
GET(Comm_get_attr, Comm);
GET(Attr_get, Comm);
GET(Win_get_attr, Win);

/* contents converts what a constructor was given: orders and distributions are among the integers. */
static void contents(uintptr_t type, int max, int *integers, int64_t maxtypes, const uintptr_t *ours,
                     F_Datatype *theirs)
{
    int n_integers, n_addresses, n_types, combiner;
    if (front_native.Type_get_envelope(type, &n_integers, &n_addresses, &n_types, &combiner)) return;
    for (int i = 0; i < n_types && i < maxtypes; i++) theirs[i] = front_Datatype_out(ours[i]);
    if (n_integers > max || !integers) return;
    if (combiner == N_MPI_COMBINER_SUBARRAY) integers[n_integers - 1] = front_order_out(integers[n_integers - 1]);
    if (combiner != N_MPI_COMBINER_DARRAY) return;
    /* size, rank, ndims, and for each dimension: sizes, distributions, arguments, processes; order */
    int dims = integers[2];
    for (int i = 0; i < dims; i++) {
        integers[3 + dims + i] = front_distribution_out(integers[3 + dims + i]);
        integers[3 + 2 * dims + i] = front_argument_out(integers[3 + 2 * dims + i]);
    }
    integers[n_integers - 1] = front_order_out(integers[n_integers - 1]);
}

int PMPI_Type_get_contents(F_Datatype type, int maxints, int maxaddrs, int maxtypes, int integers[],
                           intptr_t addresses[], F_Datatype types[])
{
    uintptr_t n = front_Datatype_in(type);
    FRONT_ARRAY(uintptr_t, ours, types, maxtypes);
    int err = front_native.Type_get_contents(n, maxints, maxaddrs, maxtypes, integers, addresses, ours);
    if (!err) contents(n, maxints, integers, types ? maxtypes : 0, ours, types);
    FRONT_DROP(ours);
    return front_error_out(err);
}
WEAK(MPI_Type_get_contents);

int PMPI_Type_get_contents_c(F_Datatype type, int64_t maxints, int64_t maxaddrs, int64_t maxcounts, int64_t maxtypes,
                             int integers[], intptr_t addresses[], int64_t counts[], F_Datatype types[])
{
    uintptr_t n = front_Datatype_in(type);
    FRONT_ARRAY(uintptr_t, ours, types, maxtypes);
    int err =
        front_native.Type_get_contents_c(n, maxints, maxaddrs, maxcounts, maxtypes, integers, addresses, counts, ours);
    int64_t n_integers, n_addresses, n_counts, n_types;
    int combiner;
    if (!err) err = front_native.Type_get_envelope_c(n, &n_integers, &n_addresses, &n_counts, &n_types, &combiner);
    if (!err) {
        for (int64_t i = 0; i < n_types && i < maxtypes; i++) types[i] = front_Datatype_out(ours[i]);
        if (integers && combiner == N_MPI_COMBINER_SUBARRAY && n_counts)
            integers[n_integers - 1] = front_order_out(integers[n_integers - 1]);
        else if (integers && combiner == N_MPI_COMBINER_DARRAY && n_counts)
            /* size, rank, ndims, and per dimension: distributions, arguments, processes; order. Sizes are counts. */
            for (int i = 0, dims = integers[2]; i <= dims; i++) {
                if (i == dims) integers[n_integers - 1] = front_order_out(integers[n_integers - 1]);
                else integers[3 + i] = front_distribution_out(integers[3 + i]),
                                  integers[3 + dims + i] = front_argument_out(integers[3 + dims + i]);
            }
        else if (!n_counts)
            contents(n, (int)maxints, integers, 0, NULL, NULL);
    }
    FRONT_DROP(ours);
    return front_error_out(err);
}
WEAK(MPI_Type_get_contents_c);

/* Handles as integers, Fortran's and MPI 5.0's: where they are integers anyway, these; else those of libimpi. */
#define INTEGERS(kind, type) \
    int PMPI_##type##_toint(F_##kind h) { return PMPI_##type##_c2f(h); } \
    F_##kind PMPI_##type##_fromint(int h) { return PMPI_##type##_f2c(h); } \
    WEAK(MPI_##type##_c2f); \
    WEAK(MPI_##type##_f2c); \
    WEAK(MPI_##type##_toint); \
    WEAK(MPI_##type##_fromint)
#ifdef FRONT_MPICH
#define FORTRAN(kind, type) \
    int PMPI_##type##_c2f(F_##kind h) { return h; } \
    F_##kind PMPI_##type##_f2c(int h) { return h; } \
    INTEGERS(kind, type)
#else
/* Numbers of libimpi's own begin above those that predefined handles have in Open MPI's Fortran. */
enum { FORTRAN_MOST = 128 };
#define X(kind) static const void *fortran_##kind[FORTRAN_MOST];
FRONT_KINDS(X)
X(File)
#undef X
static int fortran_number[4096]; /* of libimpi's predefined handles, and one more */

void front_fortran(void)
{
#define X(kind, symbol, number) \
    fortran_##kind[number] = symbol; \
    if (front_in(symbol) < 4096 && !fortran_number[front_in(symbol)]) fortran_number[front_in(symbol)] = number + 1;
    FRONT_FORTRAN(X)
#undef X
}

/* Of handles that libimpi has above its other predefined ones: few, and rare. */
static int fortran_rare(const void *const *table, const void *h)
{
    int i = 0;
    while (i < FORTRAN_MOST && table[i] != h) i++;
    return i < FORTRAN_MOST ? i : -1;
}

#define FORTRAN(kind, type) \
    int PMPI_##type##_c2f(F_##kind h) \
    { \
        uintptr_t n = front_##kind##_in(h); \
        if (n < 4096 && fortran_number[n]) return fortran_number[n] - 1; \
        int rare = n < FRONT_MADE ? fortran_rare(fortran_##kind, h) : -1; \
        return rare >= 0 ? rare : front_native.type##_toint(n); \
    } \
    F_##kind PMPI_##type##_f2c(int f) \
    { \
        if (f >= 0 && f < FORTRAN_MOST) return (F_##kind)fortran_##kind[f]; \
        return front_##kind##_out(front_native.type##_fromint(f)); \
    } \
    INTEGERS(kind, type)
#endif
FORTRAN(Comm, Comm);
FORTRAN(Datatype, Type);
FORTRAN(Errhandler, Errhandler);
FORTRAN(Group, Group);
FORTRAN(Info, Info);
FORTRAN(Message, Message);
FORTRAN(Op, Op);
FORTRAN(Request, Request);
FORTRAN(Session, Session);
FORTRAN(Win, Win);
#ifdef FRONT_MPICH
int PMPI_File_c2f(F_File h) { return h ? front_native.File_toint(front_File_in(h)) : 0; }
F_File PMPI_File_f2c(int h) { return h ? front_File_out(front_native.File_fromint(h)) : NULL; }
INTEGERS(File, File);
#else
FORTRAN(File, File);
#endif

/* The error of a status is what the program has put there, a code of MPI or not. */
int PMPI_Status_set_error(F_Status *status, int err)
{
    if (!status) return F_MPI_ERR_ARG;
    status->MPI_ERROR = err;
    return 0;
}
WEAK(MPI_Status_set_error);
int PMPI_Status_get_error(const F_Status *status, int *err)
{
    if (!status || !err) return F_MPI_ERR_ARG;
    *err = status->MPI_ERROR;
    return 0;
}
WEAK(MPI_Status_get_error);

/* Fortran's status is C's as an array of integers. */
#define STATUS(name, from, to) \
    int PMPI_Status_##name(const from *a, to *b) \
    { \
        if (!a || !b) return F_MPI_ERR_ARG; \
        memcpy(b, a, sizeof(F_Status)); \
        return 0; \
    } \
    WEAK(MPI_Status_##name)
STATUS(c2f, F_Status, int);
STATUS(f2c, int, F_Status);
STATUS(c2f08, F_Status, F_Status);
STATUS(f082c, F_Status, F_Status);
STATUS(f082f, F_Status, int);
STATUS(f2f08, int, F_Status);

/* The object that a variable or an event belongs to is behind a pointer, and the binding says of which kind it is. */
static uintptr_t object(int bind, const void *theirs)
{
    if (!theirs) return 0;
#define KIND(which, kind) \
    case N_MPI_T_BIND_MPI_##which: { \
        F_##kind h; \
        memcpy(&h, theirs, sizeof h); \
        return front_##kind##_in(h); \
    }
    switch (bind) {
        KIND(COMM, Comm)
        KIND(DATATYPE, Datatype)
        KIND(ERRHANDLER, Errhandler)
        KIND(FILE, File)
        KIND(GROUP, Group)
        KIND(OP, Op)
        KIND(REQUEST, Request)
        KIND(WIN, Win)
        KIND(MESSAGE, Message)
        KIND(INFO, Info)
        KIND(SESSION, Session)
    }
#undef KIND
    return 0;
}

int PMPI_T_cvar_handle_alloc(int index, void *of, void **handle, int *count)
{
    int bind = N_MPI_T_BIND_NO_OBJECT;
    front_native.T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL);
    uintptr_t ours = object(bind, of);
    return front_error_out(front_native.T_cvar_handle_alloc(index, ours ? &ours : NULL, handle, count));
}
WEAK(MPI_T_cvar_handle_alloc);

int PMPI_T_pvar_handle_alloc(void *session, int index, void *of, void **handle, int *count)
{
    int bind = N_MPI_T_BIND_NO_OBJECT;
    front_native.T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL, NULL);
    uintptr_t ours = object(bind, of);
    return front_error_out(front_native.T_pvar_handle_alloc(session, index, ours ? &ours : NULL, handle, count));
}
WEAK(MPI_T_pvar_handle_alloc);

int PMPI_T_event_handle_alloc(int index, void *of, F_Info info, void **registration)
{
    int bind = N_MPI_T_BIND_NO_OBJECT;
    front_native.T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind);
    uintptr_t ours = object(bind, of);
    return front_error_out(
        front_native.T_event_handle_alloc(index, ours ? &ours : NULL, front_Info_in(info), registration));
}
WEAK(MPI_T_event_handle_alloc);

/* The version says which ABI this is: programs look for the name of the MPI that they know. */
int PMPI_Get_library_version(char *version, int *length)
{
    char ours[N_MPI_MAX_LIBRARY_VERSION_STRING], text[N_MPI_MAX_LIBRARY_VERSION_STRING + 64];
    int n = 0, err = front_native.Get_library_version(ours, &n);
    if (err || !version) return front_error_out(err);
    snprintf(text, sizeof text, "%s, with the ABI of " FRONT_ABI, ours);
    front_text_out(version, text, F_MPI_MAX_LIBRARY_VERSION_STRING, length);
    return 0;
}
WEAK(MPI_Get_library_version);

int PMPI_Pcontrol(const int level, ...)
{
    return front_error_out(front_native.Pcontrol(level));
}
WEAK(MPI_Pcontrol);

/* This library is not that of the standard ABI (MPI 5.0, 20.2.2). */
int PMPI_Abi_get_version(int *major, int *minor)
{
    *major = *minor = -1;
    return 0;
}
WEAK(MPI_Abi_get_version);
