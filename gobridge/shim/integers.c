/* Handles as integers, for Fortran: the low half of a handle. An integer comes from no other place than here, so that
 * the handle that gave it last is the one it stands for. Those that others have pushed out are Go's to find. */
#include "shim.h"
#include "z_direct.h"
#include "z_exports.h"

enum { RECENT = 1024 };
typedef uintptr_t recent[RECENT];

/* The low halves of requests begin at 1: first is what is added to them. */
static inline int to_int(uintptr_t *recent, uintptr_t handle, uint32_t first)
{
    if (handle < IMPI_FIRST_HANDLE) return (int)handle;
    __atomic_store_n(&recent[(uint32_t)handle % RECENT], handle, __ATOMIC_RELAXED);
    return (int)((uint32_t)handle + first);
}

static inline uintptr_t from_int(uintptr_t *recent, int n, uintptr_t (*find)(int), uint32_t first)
{
    if (n < IMPI_FIRST_HANDLE) return (uintptr_t)(intptr_t)n;
    uint32_t low = (uint32_t)n - first;
    uintptr_t handle = __atomic_load_n(&recent[low % RECENT], __ATOMIC_RELAXED);
    if (__builtin_expect((uint32_t)handle == low && handle, 1)) return handle;
    return impi_forked ? (uintptr_t)n : find(n); /* no handle, which is what a child has */
}

static recent comms, errhandlers, files, groups, infos, messages, ops, requests, sessions, types, wins;

int impi_direct_Comm_toint(MPI_Comm handle) { return to_int(comms, (uintptr_t)handle, 0); }
int impi_direct_Errhandler_toint(MPI_Errhandler handle) { return to_int(errhandlers, (uintptr_t)handle, 0); }
int impi_direct_File_toint(MPI_File handle) { return to_int(files, (uintptr_t)handle, 0); }
int impi_direct_Group_toint(MPI_Group handle) { return to_int(groups, (uintptr_t)handle, 0); }
int impi_direct_Info_toint(MPI_Info handle) { return to_int(infos, (uintptr_t)handle, 0); }
int impi_direct_Message_toint(MPI_Message handle) { return to_int(messages, (uintptr_t)handle, 0); }
int impi_direct_Op_toint(MPI_Op handle) { return to_int(ops, (uintptr_t)handle, 0); }
int impi_direct_Request_toint(MPI_Request handle) { return to_int(requests, (uintptr_t)handle, IMPI_FIRST_HANDLE); }
int impi_direct_Session_toint(MPI_Session handle) { return to_int(sessions, (uintptr_t)handle, 0); }
int impi_direct_Type_toint(MPI_Datatype handle) { return to_int(types, (uintptr_t)handle, 0); }
int impi_direct_Win_toint(MPI_Win handle) { return to_int(wins, (uintptr_t)handle, 0); }

#define FROM(table, kind, first) from_int(table, n, impi_##kind##_fromint, first)
MPI_Comm impi_direct_Comm_fromint(int n) { return (MPI_Comm)FROM(comms, Comm, 0); }
MPI_Errhandler impi_direct_Errhandler_fromint(int n) { return (MPI_Errhandler)FROM(errhandlers, Errhandler, 0); }
MPI_File impi_direct_File_fromint(int n) { return (MPI_File)FROM(files, File, 0); }
MPI_Group impi_direct_Group_fromint(int n) { return (MPI_Group)FROM(groups, Group, 0); }
MPI_Info impi_direct_Info_fromint(int n) { return (MPI_Info)FROM(infos, Info, 0); }
MPI_Message impi_direct_Message_fromint(int n) { return (MPI_Message)FROM(messages, Message, 0); }
MPI_Op impi_direct_Op_fromint(int n) { return (MPI_Op)FROM(ops, Op, 0); }
MPI_Request impi_direct_Request_fromint(int n) { return (MPI_Request)FROM(requests, Request, IMPI_FIRST_HANDLE); }
MPI_Session impi_direct_Session_fromint(int n) { return (MPI_Session)FROM(sessions, Session, 0); }
MPI_Datatype impi_direct_Type_fromint(int n) { return (MPI_Datatype)FROM(types, Type, 0); }
MPI_Win impi_direct_Win_fromint(int n) { return (MPI_Win)FROM(wins, Win, 0); }
