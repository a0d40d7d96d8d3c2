/* One of several tools that are preloaded at once, TOOL by name. It counts sends and reductions, passes every call on
 * to the next tool (RTLD_NEXT), the last of them to the library, and says in MPI_Finalize what it has seen. With
 * VARIABLES it also reads performance variables there, as the library has counted the same calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int sends, reductions, reads;

#ifdef VARIABLES
static MPI_T_pvar_session session;
static MPI_T_pvar_handle messages, collectives;

static MPI_T_pvar_handle start(const char *name, int class_, void *object)
{
    int index, count;
    MPI_T_pvar_handle h;
    if (MPI_T_pvar_get_index(name, class_, &index) || MPI_T_pvar_handle_alloc(session, index, object, &h, &count)
        || MPI_T_pvar_start(session, h)) abort();
    return h;
}

static unsigned long long value(MPI_T_pvar_handle h)
{
    unsigned long long v;
    if (MPI_T_pvar_read(session, h, &v)) abort();
    return v;
}
#endif

int MPI_Init(int *argc, char ***argv)
{
    int err = NEXT(MPI_Init)(argc, argv);
#ifdef VARIABLES
    int provided;
    MPI_Comm world = MPI_COMM_WORLD;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) || MPI_T_pvar_session_create(&session)) abort();
    messages = start("comm_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &world);
    collectives = start("comm_collectives", MPI_T_PVAR_CLASS_COUNTER, &world);
#endif
    return err;
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return NEXT(MPI_Send)(buf, count, type, dest, tag, comm);
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    reductions++;
    return NEXT(MPI_Allreduce)(in, out, count, type, op, comm);
}

/* Tools may stand between other tools and the library, too. */
int MPI_T_pvar_read(MPI_T_pvar_session s, MPI_T_pvar_handle handle, void *buf)
{
    reads++;
    return NEXT(MPI_T_pvar_read)(s, handle, buf);
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef VARIABLES
    unsigned long long sent = value(messages), called = value(collectives);
    if (rank == 0) printf("%s: counted %llu messages, %llu collectives\n", TOOL, sent, called);
    if (MPI_T_pvar_session_free(&session) || MPI_T_finalize()) abort();
#endif
    if (rank == 0) printf("%s: %d sends, %d reductions, %d reads\n", TOOL, sends, reductions, reads);
    fflush(stdout);
    return NEXT(MPI_Finalize)();
}
