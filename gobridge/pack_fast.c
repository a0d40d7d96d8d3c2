/* Packing of predefined types without gaps, on communicators whose members' memories are all alike: there a packed
 * buffer is a copy, and a call into Go would cost several times as much as a short one. Everything else goes to Go. */
#define _GNU_SOURCE
#include "_cgo_export.h"
#include "shim.h"
#include "fast_ring.h"
#include "z_shim.h"
#include "z_direct.h"

/* The bytes that count elements take in a packed buffer; -1 if Go has to say. */
static inline int64_t packed(const void *typed, int count, MPI_Datatype datatype, MPI_Comm comm)
{
    struct impi_fast_comm *c = find(comm);
    return LIKELY(c && c->native && !impi_forked) ? bytes(typed, count, datatype) : -1;
}

/* Is there room for n bytes from *position on, in a buffer that may be one? */
static inline int fits(int64_t n, const void *buffer, int size, const int *position)
{
    return LIKELY(n >= 0 && position && *position >= 0 && n <= (int64_t)size - *position && (uintptr_t)buffer >= 4096);
}

int impi_direct_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm comm)
{
    int64_t n = packed(inbuf, incount, datatype, comm), at;
    if (LIKELY(fits(n, outbuf, outsize, position))) {
        copy_payload((char *)outbuf + *position, inbuf, (uint64_t)n);
        *position += (int)n;
        return MPI_SUCCESS;
    }
    at = position ? *position : 0;
    if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_Pack");
    int err = impi_Pack((uintptr_t)inbuf, incount, (uintptr_t)datatype, (uintptr_t)outbuf, outsize, position ? (uintptr_t)&at : 0,
                        (uintptr_t)comm, 0);
    if (UNLIKELY(err)) return impi_raise(err);
    *position = (int)at;
    return MPI_SUCCESS;
}

int impi_direct_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    int64_t n = packed(outbuf, outcount, datatype, comm), at;
    if (LIKELY(fits(n, inbuf, insize, position))) {
        copy_payload(outbuf, (const char *)inbuf + *position, (uint64_t)n);
        *position += (int)n;
        return MPI_SUCCESS;
    }
    at = position ? *position : 0;
    if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_Unpack");
    int err = impi_Unpack((uintptr_t)inbuf, insize, position ? (uintptr_t)&at : 0, (uintptr_t)outbuf, outcount, (uintptr_t)datatype,
                          (uintptr_t)comm, 0);
    if (UNLIKELY(err)) return impi_raise(err);
    *position = (int)at;
    return MPI_SUCCESS;
}

int impi_direct_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    int64_t n = packed(&impi_fast, incount, datatype, comm);
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
