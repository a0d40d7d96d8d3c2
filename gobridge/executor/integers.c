/* Handles as integers, for Fortran: the low half of a handle. The way back from those that calls have most,
 * communicators and datatypes, is found in the tables here; Go has those of all kinds. */
#include "fast.h"
#include "types.h"

static inline int to_int(uintptr_t handle) { return (int)(uint32_t)handle; }

int impi_direct_Comm_toint(MPI_Comm handle) { return to_int((uintptr_t)handle); }
int impi_direct_Errhandler_toint(MPI_Errhandler handle) { return to_int((uintptr_t)handle); }
int impi_direct_File_toint(MPI_File handle) { return to_int((uintptr_t)handle); }
int impi_direct_Group_toint(MPI_Group handle) { return to_int((uintptr_t)handle); }
int impi_direct_Info_toint(MPI_Info handle) { return to_int((uintptr_t)handle); }
int impi_direct_Message_toint(MPI_Message handle) { return to_int((uintptr_t)handle); }
int impi_direct_Op_toint(MPI_Op handle) { return to_int((uintptr_t)handle); }
int impi_direct_Session_toint(MPI_Session handle) { return to_int((uintptr_t)handle); }
int impi_direct_Type_toint(MPI_Datatype handle) { return to_int((uintptr_t)handle); }
int impi_direct_Win_toint(MPI_Win handle) { return to_int((uintptr_t)handle); }

/* The low halves of requests begin at 1. */
int impi_direct_Request_toint(MPI_Request handle)
{
    return to_int((uintptr_t)handle) + ((uintptr_t)handle < IMPI_FIRST_HANDLE ? 0 : IMPI_FIRST_HANDLE);
}

static inline int is(uintptr_t handle, int n) { return handle != 0 && (uint32_t)handle == (uint32_t)n; }

MPI_Comm impi_direct_Comm_fromint(int n)
{
    uint32_t slot = (uint32_t)n - IMPI_FIRST_HANDLE;
    if (n < IMPI_FIRST_HANDLE) return (MPI_Comm)(intptr_t)n;
    if (LIKELY(slot + 2 < IMPI_FAST_COMMS)) {
        uintptr_t handle = __atomic_load_n(&impi_fast.comms[slot + 2].handle, __ATOMIC_ACQUIRE);
        if (LIKELY(is(handle, n))) return (MPI_Comm)handle;
    }
    return impi_mode & IMPI_FORKED ? MPI_COMM_NULL : (MPI_Comm)impi_Comm_fromint(n);
}

MPI_Datatype impi_direct_Type_fromint(int n)
{
    uint32_t slot = (uint32_t)n - IMPI_FIRST_HANDLE;
    if (n < IMPI_FIRST_HANDLE) return (MPI_Datatype)(intptr_t)n;
    if (LIKELY(slot / IMPI_TYPE_CHUNK < IMPI_TYPE_CHUNKS)) {
        struct impi_type *chunk = __atomic_load_n(&impi_types.chunks[slot / IMPI_TYPE_CHUNK], __ATOMIC_ACQUIRE);
        uintptr_t handle = chunk ? __atomic_load_n(&chunk[slot % IMPI_TYPE_CHUNK].handle, __ATOMIC_ACQUIRE) : 0;
        if (LIKELY(is(handle, n))) return (MPI_Datatype)handle;
    }
    return impi_mode & IMPI_FORKED ? MPI_DATATYPE_NULL : (MPI_Datatype)impi_Type_fromint(n);
}
