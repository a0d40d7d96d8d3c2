/* Packing of predefined types without gaps, and of derived ones that are loops around a block or a list (type_record.h), on
 * communicators whose members' memories are all alike: there a packed buffer is a copy, and a call into Go would cost as
 * much as copying some kilobytes. Everything else goes to Go. */
#define _GNU_SOURCE
#include "_cgo_export.h"
#include "shim.h"
#include "fast_ring.h"
#include "attr_fast.h"
#include "z_shim.h"
#include "z_direct.h"

/* MPI_COMM_SELF is alike in itself, from MPI_Init to MPI_Finalize. */
static inline int native(MPI_Comm comm)
{
    struct impi_fast_comm *c = find(comm);
    int alike = LIKELY(c) ? c->native : comm == MPI_COMM_SELF && __atomic_load_n(&impi_attr.open, __ATOMIC_RELAXED)
        && __atomic_load_n(&impi_attr.comms[IMPI_ATTR_COMMS].handle, __ATOMIC_ACQUIRE) == (uintptr_t)comm;
    return LIKELY(alike && !impi_forked);
}

/* Is there room for n bytes from position on, in a buffer that may be one? */
static inline int fits(int64_t n, const void *buffer, int64_t size, int64_t position)
{
    return LIKELY(n >= 0 && position >= 0 && n <= size - position && (uintptr_t)buffer >= 4096);
}

/* Moves count elements from or to `buffer` from *position on, which it advances; 0 if Go has to. */
static inline int moved(const void *typed, int64_t count, MPI_Datatype datatype, const void *buffer, int64_t size, int64_t *position,
                        MPI_Comm comm, int unpack)
{
    if (!native(comm) || count != (int)count) return 0;
    int64_t n = bytes(typed, (int)count, datatype);
    const struct impi_type_plan *p = n < 0 ? impi_type_planned(typed, (int)count, (uintptr_t)datatype, &n) : NULL;
    if (UNLIKELY(!fits(n, buffer, size, *position))) return 0;
    char *packed = (char *)(uintptr_t)buffer + *position;
    if (p) impi_type_move(p, typed, packed, n, unpack);
    else if (unpack) impi_move_run((void *)(uintptr_t)typed, packed, n, 1);
    else impi_move_run(packed, typed, n, 0);
    *position += n;
    return 1;
}

int impi_direct_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm comm)
{
    int64_t at = position ? *position : -1;
    if (UNLIKELY(!moved(inbuf, incount, datatype, outbuf, outsize, &at, comm, 0))) {
        if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_Pack");
        int err = impi_Pack((uintptr_t)inbuf, incount, (uintptr_t)datatype, (uintptr_t)outbuf, outsize, position ? (uintptr_t)&at : 0,
                            (uintptr_t)comm, 0);
        if (UNLIKELY(err)) return impi_raise(err);
    }
    *position = (int)at;
    return MPI_SUCCESS;
}

int impi_direct_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position,
                       MPI_Comm comm)
{
    if (LIKELY(position && moved(inbuf, incount, datatype, outbuf, outsize, position, comm, 0))) return MPI_SUCCESS;
    IN_GO("Pack_c", impi_Pack((uintptr_t)inbuf, incount, (uintptr_t)datatype, (uintptr_t)outbuf, outsize, (uintptr_t)position,
                              (uintptr_t)comm, 1));
}

int impi_direct_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    int64_t at = position ? *position : -1;
    if (UNLIKELY(!moved(outbuf, outcount, datatype, inbuf, insize, &at, comm, 1))) {
        if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_Unpack");
        int err = impi_Unpack((uintptr_t)inbuf, insize, position ? (uintptr_t)&at : 0, (uintptr_t)outbuf, outcount, (uintptr_t)datatype,
                              (uintptr_t)comm, 0);
        if (UNLIKELY(err)) return impi_raise(err);
    }
    *position = (int)at;
    return MPI_SUCCESS;
}

int impi_direct_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype,
                         MPI_Comm comm)
{
    if (LIKELY(position && moved(outbuf, outcount, datatype, inbuf, insize, position, comm, 1))) return MPI_SUCCESS;
    IN_GO("Unpack_c", impi_Unpack((uintptr_t)inbuf, insize, (uintptr_t)position, (uintptr_t)outbuf, outcount, (uintptr_t)datatype,
                                  (uintptr_t)comm, 1));
}

int impi_direct_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    int64_t n = native(comm) ? bytes(&impi_fast, incount, datatype) : -1;
    if (LIKELY(n >= 0 && size)) {
        *size = impi_narrow(n);
        return MPI_SUCCESS;
    }
    if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_Pack_size");
    int err = impi_Pack_size(incount, (uintptr_t)datatype, (uintptr_t)comm, size ? (uintptr_t)&n : 0);
    if (UNLIKELY(err)) return impi_raise(err);
    *size = impi_narrow(n);
    return MPI_SUCCESS;
}
