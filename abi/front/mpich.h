/* MPICH's ABI (3.1 to 5; Intel MPI, Cray MPICH and MVAPICH have the same): handles are ints whose upper bits say their
 * kind, and whether they are predefined; files are pointers. */

typedef int F_Comm, F_Datatype, F_Errhandler, F_Group, F_Info, F_Message, F_Op, F_Request, F_Session, F_Win;
typedef struct F_File_of *F_File;

typedef struct {
    int count_low, count_high; /* the marks of libimpi are the two lowest bits of count_high */
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
} F_Status;

extern int *const MPI_UNWEIGHTED, *const MPI_WEIGHTS_EMPTY;
extern void *const MPI_T_PVAR_ALL_HANDLES;
#define F_COMM_WORLD 0x44000000
#define F_COMM_SELF 0x44000001
#define FRONT_ABI "MPICH"
#define F_UNWEIGHTED MPI_UNWEIGHTED
#define F_WEIGHTS_EMPTY MPI_WEIGHTS_EMPTY
#define F_T_PVAR_ALL_HANDLES MPI_T_PVAR_ALL_HANDLES

enum front_kind { KIND_Comm,
                  KIND_Datatype,
                  KIND_Errhandler,
                  KIND_Group,
                  KIND_Info,
                  KIND_Message,
                  KIND_Op,
                  KIND_Request,
                  KIND_Session,
                  KIND_Win,
                  KIND_File,
                  KINDS };

/* The bits of a handle: 31 and 30 are 0 for null handles, 1 and 2 for predefined ones, 3 for those made at run time;
 * 29 to 26 say the kind. */
#define FRONT_KIND_BITS(kind) \
    ((kind) == KIND_Comm ? 1u : (kind) == KIND_Group    ? 2u \
                            : (kind) == KIND_Datatype   ? 3u \
                            : (kind) == KIND_Errhandler ? 5u \
                            : (kind) == KIND_Op         ? 6u \
                            : (kind) == KIND_Info       ? 7u \
                            : (kind) == KIND_Win        ? 8u \
                            : (kind) == KIND_Session    ? 14u \
                                                        : 11u)

/* Of predefined handles their lowest byte and bits 31 and 30 are different within a kind. */
#define FRONT_PLACE(h) ((uint32_t)(h) >> 30 << 8 | ((uint32_t)(h)&0xff))
typedef uint32_t front_handle;
struct front_known {
    uint32_t theirs;
    uint32_t ours; /* 0: there is none */
};
HIDDEN extern struct front_known front_known[KINDS][3 << 8];
enum { FRONT_MADE = 1 << 20 }; /* handles of libimpi that are made at run time are above this */
HIDDEN extern uint32_t front_theirs[4096]; /* of libimpi's predefined handles */
HIDDEN front_handle front_rare(uintptr_t ours); /* of those above 4095 */

/* Handles that are made at run time are kept by their place: the lower half of libimpi's, which is used again only when
 * the object has gone. Its bit 30, which some requests have, becomes bit 25 of the program's. */
enum { FRONT_CHUNK = 1024,
       FRONT_CHUNKS = (1 << 26) / FRONT_CHUNK };
HIDDEN extern uint64_t *_Atomic front_chunks[KINDS][FRONT_CHUNKS];
HIDDEN uint32_t front_keep(int kind, uint64_t ours);

static inline uintptr_t front_in(int kind, int theirs)
{
    uint32_t h = (uint32_t)theirs;
    if (h >> 30 == 3) {
        uint32_t i = h & ((1u << 26) - 1);
        uint64_t *chunk = front_chunks[kind][i / FRONT_CHUNK];
        return chunk && (h >> 26 & 15) == FRONT_KIND_BITS(kind) ? (uintptr_t)chunk[i % FRONT_CHUNK] : 0;
    }
    const struct front_known *k = &front_known[kind][FRONT_PLACE(h)];
    return k->theirs == h ? k->ours : 0;
}
static inline int front_out(int kind, uintptr_t ours)
{
    if (ours < FRONT_MADE) return (int)(ours < 4096 ? front_theirs[ours] : front_rare(ours));
    return (int)(3u << 30 | FRONT_KIND_BITS(kind) << 26 | front_keep(kind, ours));
}

#define FRONT_CONVERT(kind) \
    static inline uintptr_t front_##kind##_in(F_##kind h) { return front_in(KIND_##kind, h); } \
    static inline F_##kind front_##kind##_out(uintptr_t h) { return front_out(KIND_##kind, h); }
FRONT_KINDS(FRONT_CONVERT)
#undef FRONT_CONVERT

/* A file is a pointer, which nobody follows, and 0 is none. */
#define N_FILE_NULL 0x118
static inline uintptr_t front_File_in(F_File h)
{
    return h ? (uintptr_t)h : N_FILE_NULL;
}
static inline F_File front_File_out(uintptr_t h) { return h == N_FILE_NULL ? NULL : (F_File)h; }

static inline int front_is_status(const F_Status *s) { return s != NULL && s != (F_Status *)F_MPI_STATUS_IGNORE; }
static inline void front_status_read(struct n_status *ours, const F_Status *theirs)
{
    ours->source = front_rank_in(theirs->MPI_SOURCE), ours->tag = front_tag_in(theirs->MPI_TAG);
    ours->error = front_error_in(theirs->MPI_ERROR);
    ours->internal[0] = theirs->count_low, ours->internal[1] = theirs->count_high >> 2;
    ours->internal[2] = theirs->count_high & 3, ours->internal[3] = ours->internal[4] = 0;
}
static inline void front_status_write(F_Status *theirs, const struct n_status *ours)
{
    theirs->MPI_SOURCE = front_rank_out(ours->source), theirs->MPI_TAG = front_tag_out(ours->tag);
    if (ours->error != FRONT_UNTOUCHED) theirs->MPI_ERROR = front_error_out(ours->error);
    theirs->count_low = ours->internal[0];
    theirs->count_high = (int)((unsigned)ours->internal[1] << 2 | (ours->internal[2] & 3));
}
