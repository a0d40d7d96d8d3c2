/* Entries whose arguments say more than their kinds do. The script profile makes PMPI_X of MPI_X, as it does of entries
 * that are written from tables. */
#include "fortran.h"

void F_(init)(Fint *ierror) { done(ierror, C_(Init)(NULL, NULL)); }
NAMES(init, INIT)
ALSO_F08(init)

void F_(init_thread)(const Fint *required, Fint *provided, Fint *ierror)
{
    int c_provided = 0;
    int e = C_(Init_thread)(NULL, NULL, int_in(*required), &c_provided);
    *provided = c_provided;
    done(ierror, e);
}
NAMES(init_thread, INIT_THREAD)
ALSO_F08(init_thread)

void F_(info_create_env)(Fint *info, Fint *ierror)
{
    MPI_Info c_info;
    int e = C_(Info_create_env)(0, NULL, &c_info);
    if (e == MPI_SUCCESS) *info = Info_out(c_info);
    done(ierror, e);
}
NAMES(info_create_env, INFO_CREATE_ENV)
ALSO_F08(info_create_env)

void F_(pcontrol)(const Fint *level)
{
    C_(Pcontrol)
    (int_in(*level));
}
NAMES(pcontrol, PCONTROL)
ALSO_F08(pcontrol)

/* What only Fortran has. */

void F_(f_sync_reg)(void *buf) { (void)buf; }
NAMES(f_sync_reg, F_SYNC_REG)
#ifdef FORTRAN_OPENMPI
ALSO_F08(f_sync_reg)
#else
void F08TS_(f_sync_reg)(const struct descriptor *buf)
{
    (void)buf;
}
#endif

#if !defined FORTRAN_MPICH && !defined FORTRAN_OPENMPI
void F_(sizeof_f08ts)(const struct descriptor *x, Fint *size, Fint *ierror)
{
    *size = (Fint)x->elem_len;
    done(ierror, MPI_SUCCESS);
}
#endif

/* Statuses of all bindings are eight INTEGERs. */

void F_(status_f2f08)(const Fint *f_status, Fint *f08_status, Fint *ierror)
{
    memcpy(f08_status, f_status, STATUS_INTEGERS * sizeof(Fint));
    done(ierror, MPI_SUCCESS);
}
NAMES(status_f2f08, STATUS_F2F08)
ALSO_F08(status_f2f08)

void F_(status_f082f)(const Fint *f08_status, Fint *f_status, Fint *ierror)
{
    memcpy(f_status, f08_status, STATUS_INTEGERS * sizeof(Fint));
    done(ierror, MPI_SUCCESS);
}
NAMES(status_f082f, STATUS_F082F)
ALSO_F08(status_f082f)

#ifndef impi_fortran_true
/* The values of LOGICAL, which come as LOGICALs of the size that is given. */

void F_(abi_get_fortran_booleans)(const Fint *size, void *true_, void *false_, Fint *is_set, Fint *ierror)
{
    int c_is_set = 0;
    int e = C_(Abi_get_fortran_booleans)(int_in(*size), true_, false_, &c_is_set);
    *is_set = logical_out(c_is_set);
    done(ierror, e);
}
NAMES(abi_get_fortran_booleans, ABI_GET_FORTRAN_BOOLEANS)
ALSO_F08(abi_get_fortran_booleans)

void F_(abi_set_fortran_booleans)(const Fint *size, void *true_, void *false_, Fint *ierror)
{
    int e = C_(Abi_set_fortran_booleans)(int_in(*size), true_, false_);
    if (e == MPI_SUCCESS && *size == sizeof(Fint)) memcpy(&impi_fortran_true, true_, sizeof(Fint));
    done(ierror, e);
}
NAMES(abi_set_fortran_booleans, ABI_SET_FORTRAN_BOOLEANS)
ALSO_F08(abi_set_fortran_booleans)
#endif

/* Strings whose length comes from the caller, for C with the byte behind them. */

void F_(info_get_string)(const Fint *info, const char *key, Fint *buflen, char *value, Fint *flag, Fint *ierror,
                         size_t key_len, size_t value_len)
{
    ROOM(room);
    char *c_key = trimmed_in(&room, key, key_len);
    int n = int_in(*buflen), c_buflen = n > 0 && n < INT_MAX ? n + 1 : n, c_flag = 0;
    char *c_value = allocate(&room, c_buflen, 1);
    int e = room.full ? no_room() : C_(Info_get_string)(Info_in(*info), c_key, &c_buflen, c_value, &c_flag);
    if (e == MPI_SUCCESS && c_flag) {
        if (n > 0) string_out(value, value_len, c_value);
        *buflen = c_buflen - 1;
    }
    *flag = logical_out(c_flag);
    leave(&room);
    done(ierror, e);
}
NAMES(info_get_string, INFO_GET_STRING)
ALSO_F08(info_get_string)

void F_(session_get_nth_pset)(const Fint *session, const Fint *info, const Fint *n, Fint *pset_len, char *pset_name,
                              Fint *ierror, size_t pset_name_len)
{
    ROOM(room);
    int most = int_in(*pset_len), c_len = most > 0 && most < INT_MAX ? most + 1 : most;
    char *c_name = allocate(&room, c_len, 1);
    int e = room.full ? no_room()
                      : C_(Session_get_nth_pset)(Session_in(*session), Info_in(*info), int_in(*n), &c_len, c_name);
    if (e == MPI_SUCCESS) {
        if (most > 0) string_out(pset_name, pset_name_len, c_name);
        *pset_len = c_len - 1;
    }
    leave(&room);
    done(ierror, e);
}
NAMES(session_get_nth_pset, SESSION_GET_NTH_PSET)
ALSO_F08(session_get_nth_pset)

/* Bounds of datatypes, for which MPI-1 had a function each. */
#define BOUND(lower, UPPER, value) \
    void F_(lower)(const Fint *datatype, Fint *bound, Fint *ierror) \
    { \
        MPI_Aint lb = 0, extent = 0; \
        int e = C_(Type_get_extent)(Datatype_in(*datatype), &lb, &extent); \
        if (e == MPI_SUCCESS) *bound = (Fint)(value); \
        done(ierror, e); \
    } \
    NAMES(lower, UPPER)
BOUND(type_extent, TYPE_EXTENT, extent)
BOUND(type_lb, TYPE_LB, lb)
BOUND(type_ub, TYPE_UB, lb + extent)

/* Attached buffers. Only mpi_f08 says where the buffer was: the others pass one of the program's variables. */

#define DETACH(lower, UPPER, LEADING, call, wide_call) \
    void F_(lower)(LEADING void *buffer_addr, Fint *size, Fint *ierror) \
    { \
        int c_size = 0; \
        void *at; \
        (void)buffer_addr; \
        int e = call; \
        if (e == MPI_SUCCESS) *size = c_size; \
        done(ierror, e); \
    } \
    NAMES(lower, UPPER) \
    void F08_(lower)(LEADING void **buffer_addr, Fint *size, Fint *ierror) \
    { \
        int c_size = 0; \
        void *at; \
        int e = call; \
        if (e == MPI_SUCCESS) *size = c_size, *buffer_addr = at; \
        done(ierror, e); \
    } \
    LARGE_DETACH(lower, wide_call, LEADING)
#ifdef HAVE_LARGE
#define LARGE_DETACH(lower, wide_call, ...) \
    void LARGE_(lower)(__VA_ARGS__ void **buffer_addr, MPI_Count *size, Fint *ierror) \
    { \
        MPI_Count c_size = 0; \
        void *at; \
        int e = wide_call; \
        if (e == MPI_SUCCESS) *size = c_size, *buffer_addr = at; \
        done(ierror, e); \
    }
#else
#define LARGE_DETACH(lower, wide_call, ...)
#endif
#define NONE
#define OF_COMM const Fint *comm,
#define OF_SESSION const Fint *session,
DETACH(buffer_detach, BUFFER_DETACH, NONE, C_(Buffer_detach)(&at, &c_size), C_(Buffer_detach_c)(&at, &c_size))
DETACH(comm_detach_buffer, COMM_DETACH_BUFFER, OF_COMM, C_(Comm_detach_buffer)(Comm_in(*comm), &at, &c_size),
       C_(Comm_detach_buffer_c)(Comm_in(*comm), &at, &c_size))
DETACH(session_detach_buffer, SESSION_DETACH_BUFFER, OF_SESSION,
       C_(Session_detach_buffer)(Session_in(*session), &at, &c_size),
       C_(Session_detach_buffer_c)(Session_in(*session), &at, &c_size))

/* Processes that are started. What says which is of the root alone. */

/* Strings up to a blank one, n apart; NULL if it is the constant. */
static char **arguments(struct room *r, const char *argv, size_t length, int64_t apart)
{
    if (is_argv_null(argv) || is_argvs_null(argv)) return NULL;
    int64_t n = 0;
    for (const char *s = argv;; s += apart, n++) {
        size_t i = 0;
        while (i < length && s[i] == ' ') i++;
        if (i == length) break;
    }
    char **list = (char **)allocate(r, n + 1, sizeof *list);
    for (int64_t i = 0; list && i < n; i++) list[i] = string_in(r, argv + i * apart, length);
    return list;
}

static int is_root(MPI_Comm comm, int root)
{
    int rank;
    return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

/* Where codes go, of so many processes. */
static int *codes_in(struct room *r, Fint *codes, int64_t n)
{
    if (is_errcodes_ignore(codes)) return MPI_ERRCODES_IGNORE;
    return (int *)(sizeof *codes == sizeof(int) ? (void *)codes : allocate(r, n, sizeof(int)));
}

static void codes_out(Fint *codes, const int *c, int64_t n)
{
    if (c && (const void *)c != (const void *)codes)
        impi_fortran_numbers_out(codes, sizeof *codes, c, sizeof *c, n);
}

/* Processes that are asked for, which only the root knows. Others need it where codes come as INTEGERs of 8 bytes. */
static int asked_for(const Fint *maxprocs, int64_t n, int root, MPI_Comm comm, int64_t *processes)
{
    *processes = sum(maxprocs, n);
    return sizeof(Fint) == sizeof(int) ? MPI_SUCCESS : PMPI_Bcast(processes, 1, MPI_INT64_T, root, comm);
}

void F_(comm_spawn)(const char *command, const char *argv, const Fint *maxprocs, const Fint *info, const Fint *root,
                    const Fint *comm, Fint *intercomm, Fint *codes, Fint *ierror, size_t command_len, size_t argv_len)
{
    ROOM(room);
    MPI_Comm c_comm = Comm_in(*comm), c_intercomm = MPI_COMM_NULL;
    int mine = is_root(c_comm, int_in(*root));
    char *c_command = mine ? string_in(&room, command, command_len) : NULL;
    char **c_argv = mine ? arguments(&room, argv, argv_len, (int64_t)argv_len) : NULL;
    int64_t processes;
    int e = asked_for(maxprocs, mine, int_in(*root), c_comm, &processes);
    int *c_codes = codes_in(&room, codes, processes);
    if (room.full) e = no_room();
    if (e == MPI_SUCCESS)
        e = C_(Comm_spawn)(c_command, c_argv, int_in(*maxprocs), mine ? Info_in(*info) : MPI_INFO_NULL, int_in(*root),
                           c_comm, &c_intercomm, c_codes);
    if (e == MPI_SUCCESS || c_intercomm != MPI_COMM_NULL) *intercomm = Comm_out(c_intercomm);
    codes_out(codes, c_codes, processes);
    leave(&room);
    done(ierror, e);
}
NAMES(comm_spawn, COMM_SPAWN)
ALSO_F08(comm_spawn)

void F_(comm_spawn_multiple)(const Fint *count, const char *commands, const char *argvs, const Fint *maxprocs,
                             const Fint *infos, const Fint *root, const Fint *comm, Fint *intercomm, Fint *codes,
                             Fint *ierror, size_t commands_len, size_t argvs_len)
{
    ROOM(room);
    MPI_Comm c_comm = Comm_in(*comm), c_intercomm = MPI_COMM_NULL;
    int64_t n = is_root(c_comm, int_in(*root)) ? at_least_0(*count) : 0;
    char **c_commands = (char **)allocate(&room, n, sizeof *c_commands);
    char ***c_argvs = is_argvs_null(argvs) ? MPI_ARGVS_NULL
                                           : (char ***)allocate(&room, n, sizeof *c_argvs);
    for (int64_t i = 0; i < n && !room.full; i++) {
        c_commands[i] = string_in(&room, commands + i * (int64_t)commands_len, commands_len);
        if (c_argvs) c_argvs[i] = arguments(&room, argvs + i * (int64_t)argvs_len, argvs_len, n * (int64_t)argvs_len);
    }
    int *c_maxprocs = NUMBERS_IN(int, maxprocs, n);
    MPI_Info *c_infos = Infos_in(&room, infos, n);
    int64_t processes;
    int e = asked_for(maxprocs, n, int_in(*root), c_comm, &processes);
    int *c_codes = codes_in(&room, codes, processes);
    if (room.full) e = no_room();
    if (e == MPI_SUCCESS)
        e = C_(Comm_spawn_multiple)(int_in(*count), c_commands, c_argvs, c_maxprocs, c_infos, int_in(*root), c_comm,
                                    &c_intercomm, c_codes);
    if (e == MPI_SUCCESS || c_intercomm != MPI_COMM_NULL) *intercomm = Comm_out(c_intercomm);
    codes_out(codes, c_codes, processes);
    leave(&room);
    done(ierror, e);
}
NAMES(comm_spawn_multiple, COMM_SPAWN_MULTIPLE)
ALSO_F08(comm_spawn_multiple)
