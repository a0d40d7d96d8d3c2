/* Packing of predefined types without gaps, and of derived ones that are loops around a block (type_record.h), on
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

/* The plan by which so many elements at an address can be moved here, and their bytes; NULL if Go has to do it. One element
 * goes through the loops of its type; several are one block, or Go finds the best order of the loops. */
static const struct impi_type_plan *planned(const void *typed, int count, MPI_Datatype datatype, int64_t *n)
{
    int64_t size;
    const struct impi_type_plan *p = impi_type_planned((uintptr_t)datatype, &size);
    if (!p || (uintptr_t)typed < 4096 || count < 1) return NULL; /* the address may be MPI_BOTTOM, or a sentinel */
    if (count > 1 && (p->nest.depth != 0 || p->nest.block != p->extent || size > INT64_MAX / count)) return NULL;
    *n = count * size;
    return p;
}

/* Moves n bytes, those of one element or of several that are one block, between typed memory and a packed buffer. */
static void move(const struct impi_type_plan *p, const void *typed, const void *packed, int64_t n, int unpack)
{
    struct impi_nest nest = p->nest;
    if (nest.depth == 0) nest.block = n;
    nest.unpack = unpack;
    impi_move_nest((uintptr_t)typed + (uintptr_t)p->at, (uintptr_t)packed, &nest);
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
        const struct impi_type_plan *p = n < 0 ? planned(inbuf, incount, datatype, &n) : NULL;
        if (LIKELY(fits(n, outbuf, outsize, position))) {
            char *to = (char *)outbuf + *position;
            if (p) move(p, inbuf, to, n, 0);
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
        const struct impi_type_plan *p = n < 0 ? planned(outbuf, outcount, datatype, &n) : NULL;
        if (LIKELY(fits(n, inbuf, insize, position))) {
            const char *from = (const char *)inbuf + *position;
            if (p) move(p, outbuf, from, n, 1);
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
