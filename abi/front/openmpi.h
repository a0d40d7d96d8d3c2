/* Open MPI's ABI (4 and 5): handles are pointers; predefined ones are the addresses of data symbols, which a program
 * may have copied into its own memory: only the loader knows them. Handles that are made at run time are libimpi's own
 * numbers. */

typedef struct F_Comm_of *F_Comm;
typedef struct F_Datatype_of *F_Datatype;
typedef struct F_Errhandler_of *F_Errhandler;
typedef struct F_File_of *F_File;
typedef struct F_Group_of *F_Group;
typedef struct F_Info_of *F_Info;
typedef struct F_Message_of *F_Message;
typedef struct F_Op_of *F_Op;
typedef struct F_Request_of *F_Request;
typedef struct F_Session_of *F_Session;
typedef struct F_Win_of *F_Win;

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, marks; /* marks of libimpi */
    size_t bytes;
} F_Status;

/* The data symbols, of which the addresses count. */
#define X(symbol, size) extern char symbol[size];
FRONT_SYMBOLS(X)
#undef X

#define F_COMM_WORLD ((F_Comm)ompi_mpi_comm_world)
#define F_COMM_SELF ((F_Comm)ompi_mpi_comm_self)
#define FRONT_ABI "Open MPI"
#define F_UNWEIGHTED ((int *)F_MPI_UNWEIGHTED)
#define F_WEIGHTS_EMPTY ((int *)F_MPI_WEIGHTS_EMPTY)
#define F_T_PVAR_ALL_HANDLES ((void *)F_MPI_T_PVAR_ALL_HANDLES)

/* Predefined handles: of libimpi's by number, of the program's in a table by their addresses. */
enum { FRONT_SLOTS = 1024,
       FRONT_MADE = 1 << 20 /* handles that are made at run time are above this */ };
struct front_known {
    const void *theirs;
    uintptr_t ours;
};
HIDDEN extern struct front_known front_known[FRONT_SLOTS];
HIDDEN extern const void *front_theirs[4096];
typedef const void *front_handle;
HIDDEN front_handle front_rare(uintptr_t ours); /* of those above 4095 */

static inline uint32_t front_slot(const void *p) { return (uint32_t)((uintptr_t)p >> 6) * 2654435761u >> 22; }

/* What is no predefined handle is a number of libimpi's. One of a request may look like an address, but like that of a
 * predefined handle only if 2^32 requests have had its place. */
static inline uintptr_t front_in(const void *h)
{
    if ((uintptr_t)h >> 56) return (uintptr_t)h;
    for (uint32_t i = front_slot(h); front_known[i].theirs; i = (i + 1) % FRONT_SLOTS)
        if (front_known[i].theirs == h) return front_known[i].ours;
    return (uintptr_t)h < FRONT_MADE ? 0 : (uintptr_t)h;
}
static inline const void *front_out(uintptr_t h)
{
    if (h >= FRONT_MADE) return (const void *)h;
    return h < 4096 ? front_theirs[h] : front_rare(h);
}

HIDDEN void front_fortran(void); /* prepares the numbers that predefined handles have in Fortran */

#define FRONT_CONVERT(kind) \
    static inline uintptr_t front_##kind##_in(F_##kind h) { return front_in(h); } \
    static inline F_##kind front_##kind##_out(uintptr_t h) { return (F_##kind)front_out(h); }
FRONT_KINDS(FRONT_CONVERT)
FRONT_CONVERT(File)
#undef FRONT_CONVERT

static inline int front_is_status(const F_Status *s)
{
    return s != (F_Status *)F_MPI_STATUS_IGNORE;
}
static inline void front_status_read(struct n_status *ours, const F_Status *theirs)
{
    ours->source = front_rank_in(theirs->MPI_SOURCE), ours->tag = front_tag_in(theirs->MPI_TAG);
    ours->error = front_error_in(theirs->MPI_ERROR);
    ours->internal[0] = (int)(uint32_t)theirs->bytes;
    ours->internal[1] = (int)(uint32_t)((uint64_t)theirs->bytes >> 32);
    ours->internal[2] = theirs->marks, ours->internal[3] = ours->internal[4] = 0;
}
static inline void front_status_write(F_Status *theirs, const struct n_status *ours)
{
    theirs->MPI_SOURCE = front_rank_out(ours->source), theirs->MPI_TAG = front_tag_out(ours->tag);
    if (ours->error != FRONT_UNTOUCHED) theirs->MPI_ERROR = front_error_out(ours->error);
    theirs->bytes = (uint32_t)ours->internal[0] | (uint64_t)(uint32_t)ours->internal[1] << 32;
    theirs->marks = ours->internal[2];
}
