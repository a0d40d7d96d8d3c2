/* Packing of predefined types without gaps, and of derived ones that are loops around a block or a list (type_record.h), on
 * communicators whose members' memories are all alike: there a packed buffer is a copy, and a call into Go would cost as
 * much as copying some kilobytes. Everything else goes to Go. */
#define _GNU_SOURCE
#include "_cgo_export.h"
#include "shim.h"
#include "fast_ring.h"
#include "type_record.h"
#include "z_shim.h"
#include "z_direct.h"

static inline int native(MPI_Comm comm)
{
    struct impi_fast_comm *c = find(comm);
    return LIKELY(c && c->native && !impi_forked);
}

/* Is there room for n bytes from *position on, in a buffer that may be one? */
static inline int fits(int64_t n, const void *buffer, int size, const int *position)
{
    return LIKELY(n >= 0 && position && *position >= 0 && n <= (int64_t)size - *position && (uintptr_t)buffer >= 4096);
}

int impi_direct_Pack(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm comm)
{
    if (native(comm)) {
        int64_t n = bytes(inbuf, incount, datatype);
        const struct impi_type_plan *p = n < 0 ? impi_type_planned(inbuf, incount, (uintptr_t)datatype, &n) : NULL;
        if (LIKELY(fits(n, outbuf, outsize, position))) {
            char *to = (char *)outbuf + *position;
            if (p) impi_type_move(p, inbuf, to, n, 0);
            else copy_payload(to, inbuf, (uint64_t)n);
            *position += (int)n;
            return MPI_SUCCESS;
        }
    }
    int64_t at = position ? *position : 0;
    if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_Pack");
    int err = impi_Pack((uintptr_t)inbuf, incount, (uintptr_t)datatype, (uintptr_t)outbuf, outsize, position ? (uintptr_t)&at : 0,
                        (uintptr_t)comm, 0);
    if (UNLIKELY(err)) return impi_raise(err);
    *position = (int)at;
    return MPI_SUCCESS;
}

int impi_direct_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    if (native(comm)) {
        int64_t n = bytes(outbuf, outcount, datatype);
        const struct impi_type_plan *p = n < 0 ? impi_type_planned(outbuf, outcount, (uintptr_t)datatype, &n) : NULL;
        if (LIKELY(fits(n, inbuf, insize, position))) {
            const char *from = (const char *)inbuf + *position;
            if (p) impi_type_move(p, outbuf, from, n, 1);
            else copy_payload(outbuf, from, (uint64_t)n);
            *position += (int)n;
            return MPI_SUCCESS;
        }
    }
    int64_t at = position ? *position : 0;
    if (UNLIKELY(impi_forked)) return impi_after_fork("MPI_Unpack");
    int err = impi_Unpack((uintptr_t)inbuf, insize, position ? (uintptr_t)&at : 0, (uintptr_t)outbuf, outcount, (uintptr_t)datatype,
                          (uintptr_t)comm, 0);
    if (UNLIKELY(err)) return impi_raise(err);
    *position = (int)at;
    return MPI_SUCCESS;
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
