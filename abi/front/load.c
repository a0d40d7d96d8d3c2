/* Finds libimpi's functions, and makes the tables of predefined handles, before the program's main. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "front.h"

struct front_native front_native;

/* Predefined handles of libimpi's own, which are above the standard's: markers of MPI-1. */
static struct front_known rare[4];

front_handle front_rare(uintptr_t ours)
{
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++)
        if (rare[i].ours == ours) return rare[i].theirs;
    return 0;
}

static void keep_rare(struct front_known handle)
{
    size_t i = 0;
    while (rare[i].ours) i++;
    rare[i] = handle;
}

#ifdef FRONT_MPICH
static int unweighted, weights_empty, all_handles;
int *const MPI_UNWEIGHTED = &unweighted, *const MPI_WEIGHTS_EMPTY = &weights_empty;
void *const MPI_T_PVAR_ALL_HANDLES = &all_handles;

/* Fortran's sentinels in C: addresses that the status conversions know. */
static int fortran_ignore[2];
int *MPI_F_STATUS_IGNORE = &fortran_ignore[0], *MPI_F_STATUSES_IGNORE = &fortran_ignore[1];
F_Status *MPI_F08_STATUS_IGNORE = (F_Status *)&fortran_ignore[0];
F_Status *MPI_F08_STATUSES_IGNORE = (F_Status *)&fortran_ignore[1];

struct front_known front_known[KINDS][3 << 8];
uint32_t front_theirs[4096];
uint64_t *_Atomic front_chunks[KINDS][FRONT_CHUNKS];

/* Of two of their handles for one of ours, the first is the answer. */
static void know(int kind, uint32_t ours, uint32_t theirs)
{
    front_known[kind][FRONT_PLACE(theirs)] = (struct front_known){theirs, ours};
    if (ours >= 4096) keep_rare((struct front_known){theirs, ours});
    else if (!front_theirs[ours]) front_theirs[ours] = theirs;
}

static void prepare(void)
{
#define X(kind, ours, theirs) know(KIND_##kind, ours, theirs);
    FRONT_PREDEFINED(X)
#undef X
}

/* front_keep notes one of our handles, and answers where. A chunk that cannot be allocated ends the program: the object
 * exists, and there is no name for it. */
uint32_t front_keep(int kind, uint64_t ours)
{
    uint32_t low = (uint32_t)ours, i = (low & ((1u << 25) - 1)) | (low >> 30 & 1) << 25, at = i / FRONT_CHUNK;
    uint64_t *chunk = front_chunks[kind][at];
    if (!chunk) {
        uint64_t *fresh = calloc(FRONT_CHUNK, sizeof *fresh), *none = NULL;
        if (!fresh) {
            fprintf(stderr, "libimpi: no memory for a handle\n");
            abort();
        }
        if (atomic_compare_exchange_strong(&front_chunks[kind][at], &none, fresh))
            chunk = fresh;
        else
            free(fresh), chunk = none;
    }
    chunk[i % FRONT_CHUNK] = ours;
    return i;
}
#else
/* The symbols have the sizes that programs reserve for copies of them; nobody reads them. */
#define X(symbol, size) char symbol[size] __attribute__((aligned(32)));
FRONT_SYMBOLS(X)
/* Datatypes that compilers for Fortran may have, and libimpi has not. */
X(ompi_mpi_2cplex, 512)
X(ompi_mpi_2dblcplex, 512)
X(ompi_mpi_integer16, 512)
X(ompi_mpi_ldblcplex, 512)
X(ompi_mpi_real2, 512)
#undef X

/* Fortran's sentinels in C: a program in Fortran has them in common blocks (abi/fortran/names.go). */
extern int mpi_fortran_status_ignore_[], mpi_fortran_statuses_ignore_[];
int *MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_, *MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;

struct front_known front_known[FRONT_SLOTS];
const void *front_theirs[4096];
static void know(uintptr_t ours, const void *theirs)
{
    uint32_t i = front_slot(theirs);
    while (front_known[i].theirs && front_known[i].theirs != theirs) i = (i + 1) % FRONT_SLOTS;
    if (!front_known[i].theirs) front_known[i] = (struct front_known){theirs, ours};
    if (ours >= 4096) keep_rare((struct front_known){theirs, ours});
    else if (!front_theirs[ours]) front_theirs[ours] = theirs;
}

static void prepare(void)
{
#define X(kind, ours, theirs) know(ours, theirs);
    FRONT_PREDEFINED(X)
#undef X
    front_fortran();
}
#endif

/* find looks the functions up in the library that this one is linked with. Its own names hide them from every other
 * search. */
static void find(void *library)
{
#define X(member, name) \
    { \
        void *f = dlsym(library, "P" #name); \
        memcpy(&front_native.member, &f, sizeof f); \
        if (!f) fprintf(stderr, "libimpi: the library %s has no function %s: it is of another release\n", \
                        FRONT_LIBRARY, #name), \
                _exit(1); \
    }
    FRONT_NATIVE(X)
#undef X
}

static void __attribute__((constructor)) load(void)
{
    void *library = dlopen(FRONT_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    if (!library) library = dlopen(FRONT_LIBRARY, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "libimpi: %s\n", dlerror());
        _exit(1);
    }
    find(library);
    prepare();
}
