/* Processes that are started. What says which is of the root alone. The program `profile` makes PMPI_X of MPI_X, as it
 * does of entries that are generated. */
#include "fortran.h"

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
    for (int64_t i = 0; list && i < n; i++) list[i] = trimmed_in(r, argv + i * apart, length);
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
    char *c_command = mine ? trimmed_in(&room, command, command_len) : NULL;
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
        c_commands[i] = trimmed_in(&room, commands + i * (int64_t)commands_len, commands_len);
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
