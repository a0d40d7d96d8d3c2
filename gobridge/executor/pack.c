/* Packing on communicators whose members' memories are all alike: there a packed buffer is a copy, and a call into Go
 * would cost as much as copying some kilobytes. */
#define _GNU_SOURCE
#include "fast_ring.h"

/* Moves count elements from or to a buffer of so many bytes, if it is one, from *pos on, which it advances. */
static inline int moved(const void *typed, int64_t count, MPI_Datatype datatype, const void *buffer, int64_t size,
                        MPI_Count *pos, MPI_Comm comm, int unpack)
{
    const struct impi_fast_comm *c = find(comm);
    if (UNLIKELY(!pos || !c || !c->native)) return IMPI_IN_GO;
    const struct impi_plan *p;
    const void *at = typed;
    int64_t n = laid_out(&at, count, datatype, &p);
    if (UNLIKELY(n < 0 || size < 0 || *pos < 0 || n > size - *pos || (uintptr_t)buffer < 4096)) return IMPI_IN_GO;
    char *packed = (char *)(uintptr_t)buffer + *pos;
    if (p) impi_plan_move(p, at, packed, n, unpack);
    else impi_move_loops((uintptr_t)at, (uintptr_t)packed, NULL, 0, n, unpack);
    *pos += n;
    return MPI_SUCCESS;
}

int impi_exec_Pack(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
                   MPI_Count *position, MPI_Comm comm)
{
    return moved(inbuf, incount, datatype, outbuf, outsize, position, comm, 0);
}

int impi_exec_Unpack(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
                     MPI_Datatype datatype, MPI_Comm comm)
{
    return moved(outbuf, outcount, datatype, inbuf, insize, position, comm, 1);
}
