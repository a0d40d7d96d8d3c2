// The calls of a library, compiled once for each ABI: standard.c, mpich.c and openmpi.c. These define
//
//   handle, status   the types of a handle and of MPI_Status
//   V_...            constants (z_*.h)
//   HANDLE(there)    the predefined handle that V_HANDLES calls there; 0: the library, whose name is that, has none
//   CALLS            the table

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include "../../mpi.h"
#include "calls.h"

// The entry points have the names of the profiling interface, so that tools see the calls of the program only.
#define ENTRIES(X) \
    X(Get_library_version, char *, int *) \
    X(Init_thread, int *, char ***, int, int *) \
    X(Initialized, int *) \
    X(Finalized, int *) \
    X(Finalize, void) \
    X(Abort, handle, int) \
    X(Error_string, int, char *, int *) \
    X(Comm_set_errhandler, handle, handle) \
    X(Comm_dup, handle, handle *) \
    X(Comm_free, handle *) \
    X(Comm_rank, handle, int *) \
    X(Comm_size, handle, int *) \
    X(Comm_get_attr, handle, int, void *, int *) \
    X(Isend, const void *, int, handle, int, int, handle, handle *) \
    X(Irecv, void *, int, handle, int, int, handle, handle *) \
    X(Testany, int, handle *, int *, int *, status *) \
    X(Cancel, handle *) \
    X(Improbe, int, int, handle, int *, handle *, status *) \
    X(Imrecv, void *, int, handle, handle *, handle *) \
    X(Get_count, const status *, handle, int *) \
    X(Test, handle *, int *, status *) \
    X(Ibarrier, handle, handle *) \
    X(Ibcast, void *, int, handle, int, handle, handle *) \
    X(Ireduce, const void *, void *, int, handle, handle, int, handle, handle *) \
    X(Iallreduce, const void *, void *, int, handle, handle, handle, handle *) \
    X(Allgather, const void *, int, handle, void *, int, handle, handle)

#define FIELD(name, ...) int (*name)(__VA_ARGS__);
#define NAMED(name, ...) {"PMPI_" #name, (void **)&mpi.name},
static struct {
    ENTRIES(FIELD)
} mpi;
static const struct {
    const char *name;
    void **at;
} entries[] = {ENTRIES(NAMED)};

// known are the predefined handles that libimpi passes, by their numbers in the ABI of MPI 5.0, which are below 1024.
enum { KNOWN = 1024 };
static handle known[KNOWN];
#define THERE(standard) known[(uintptr_t)(standard) & (KNOWN - 1)]

static handle byte, comm, together[COMMUNICATORS]; // ours alone: for messages, and for collective operations
static handle posts[POSTS]; // receives that are posted ahead

static const char *find(void *library)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (!(*entries[i].at = dlsym(library, entries[i].name))) return entries[i].name;
#define KNOW(standard, there) \
    if (!(THERE(standard) = HANDLE(there))) return #there;
    V_HANDLES(KNOW)
    byte = THERE(MPI_BYTE);
    return NULL;
}

static int init(int *provided)
{
    int code = mpi.Init_thread(NULL, NULL, V_THREAD_SERIALIZED, provided);
    if (code) return code;
    mpi.Comm_set_errhandler(THERE(MPI_COMM_WORLD), THERE(MPI_ERRORS_RETURN)); // duplicates have it, too
    code = mpi.Comm_dup(THERE(MPI_COMM_WORLD), &comm);
    for (int i = 0; !code && i < COMMUNICATORS; i++) code = mpi.Comm_dup(THERE(MPI_COMM_WORLD), &together[i]);
    return code;
}

static int finalize(void)
{
    int code = mpi.Comm_free(&comm);
    for (int i = 0; !code && i < COMMUNICATORS; i++) code = mpi.Comm_free(&together[i]);
    return code ? code : mpi.Finalize();
}

// LOOKS is how often a collective operation is looked at when it begins: others begin theirs at about the same time. A
// library may need some calls to cancel a receive.
enum { LOOKS = 32,
       CANCEL_LOOKS = 1 << 16 };

static begun complete_or(int code, handle r, int looks)
{
    int done = 0;
    for (; !code && !done && looks > 0; looks--) code = mpi.Test(&r, &done, (status *)(intptr_t)V_STATUS_IGNORE);
    return (begun){code, done || code ? 0 : (uintptr_t)r};
}

static begun move(int send, void *b, int n, int peer, int tag)
{
    handle r = 0;
    int code = send ? mpi.Isend(b, n, byte, peer, tag, comm, &r) : mpi.Irecv(b, n, byte, peer, tag, comm, &r);
    return complete_or(code, r, 1);
}

static probed improbe(int from, int tag)
{
    handle m = 0;
    status s;
    probed p = {0};
    p.code = mpi.Improbe(from < 0 ? V_ANY_SOURCE : from, tag, comm, &p.there, &m, &s);
    if (p.code || !p.there) return p;
    p.code = mpi.Get_count(&s, byte, &p.bytes);
    p.from = s.MPI_SOURCE;
    p.message = (uintptr_t)m;
    return p;
}

static begun imrecv(void *b, int n, uintptr_t message)
{
    handle m = (handle)message, r = 0;
    int code = mpi.Imrecv(b, n, byte, &m, &r);
    return complete_or(code, r, 1);
}

static int post(int at, void *b, int n, int from, int tag)
{
    return mpi.Irecv(b, n, byte, from, tag, comm, &posts[at]);
}

static probed testany(int n)
{
    status s;
    probed p = {0};
    p.code = mpi.Testany(n, posts, &p.from, &p.there, &s);
    p.there = p.there && p.from >= 0; // none of them is posted
    if (!p.code && p.there) p.code = mpi.Get_count(&s, byte, &p.bytes);
    return p;
}

static begun withdraw(int at) { return complete_or(mpi.Cancel(&posts[at]), posts[at], CANCEL_LOOKS); }

static begun test(uintptr_t request) { return complete_or(0, (handle)request, 1); }

static begun begin(int kind, int at, int root, const void *send, void *recv, int n, int type, int op)
{
    handle r = 0, on = together[at], of = THERE(type), by = THERE(op);
    const void *own = send ? send : (const void *)(intptr_t)V_IN_PLACE;
    int code = 0;
    switch (kind) {
    case BARRIER: code = mpi.Ibarrier(on, &r); break;
    case BCAST: code = mpi.Ibcast(recv, n, byte, root, on, &r); break;
    case REDUCE: code = mpi.Ireduce(own, recv, n, of, by, root, on, &r); break;
    case ALLREDUCE: code = mpi.Iallreduce(own, recv, n, of, by, on, &r);
    }
    return complete_or(code, r, LOOKS);
}

static int allgather(const void *mine, int n, void *all) { return mpi.Allgather(mine, n, byte, all, n, byte, comm); }

static int attribute(int key, int otherwise)
{
    int *value = NULL, there = 0;
    return !mpi.Comm_get_attr(THERE(MPI_COMM_WORLD), key, &value, &there) && there ? *value : otherwise;
}

static int rank(int *rank, int *size)
{
    int code = mpi.Comm_rank(comm, rank);
    return code ? code : mpi.Comm_size(comm, size);
}

static int state(int *initialized, int *finalized)
{
    int code = mpi.Initialized(initialized);
    return code ? code : mpi.Finalized(finalized);
}

static int version(char *text, int *n) { return mpi.Get_library_version(text, n); }
static int text(int code, char *text, int *n) { return mpi.Error_string(code, text, n); }
static int stop(int code) { return mpi.Abort(THERE(MPI_COMM_WORLD), code); }

_Static_assert(V_MAX_LIBRARY_VERSION_STRING <= VERSION_LENGTH && V_MAX_ERROR_STRING <= TEXT_LENGTH, "texts do not fit");

const calls CALLS = {
    V_ABI, V_THREAD_SERIALIZED, V_APPNUM, V_UNIVERSE_SIZE, find, init, finalize, state, rank,
    attribute, version, text, stop, allgather, move, post, testany, withdraw,
    improbe, imrecv, test, begin};
