/* Packing of predefined types without gaps, and of derived ones that are loops around a block or a list (type_record.h), on
 * communicators whose members' memories are all alike: there a packed buffer is a copy, and a call into Go would cost as
 * much as copying some kilobytes. Everything else goes to Go. */
#define _GNU_SOURCE
#include "_cgo_export.h"
#include "shim.h"
#include "fast_ring.h"
#include "type_size.h"
#include "z_shim.h"
#include "z_direct.h"

/* MPI_COMM_SELF is alike in itself, from MPI_Init to MPI_Finalize. */
static inline int native(MPI_Comm comm)
{
    struct impi_fast_comm *c = find(comm);
    return LIKELY(c) ? c->native : comm == MPI_COMM_SELF && __atomic_load_n(&impi_attr.open, __ATOMIC_RELAXED)
        && __atomic_load_n(&impi_attr.comms[IMPI_ATTR_COMMS].handle, __ATOMIC_ACQUIRE) == (uintptr_t)comm;
}

/* Is there room for n bytes from position on, in a buffer that may be one? */
static inline int fits(int64_t n, const void *buffer, int64_t size, int64_t position)
{
    return LIKELY(n >= 0 && size >= 0 && position >= 0 && n <= size - position && (uintptr_t)buffer >= 4096);
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
    IN_GO(impi_Pack((uintptr_t)inbuf, incount, (uintptr_t)datatype, (uintptr_t)outbuf, outsize, (uintptr_t)position,
                    (uintptr_t)comm, 1));
}

int impi_direct_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    int64_t at = position ? *position : -1;
    if (UNLIKELY(!moved(outbuf, outcount, datatype, inbuf, insize, &at, comm, 1))) {
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
    IN_GO(impi_Unpack((uintptr_t)inbuf, insize, (uintptr_t)position, (uintptr_t)outbuf, outcount, (uintptr_t)datatype,
                      (uintptr_t)comm, 1));
}

/* The bytes that so many elements take, -1 if Go has to count: as they are in memory, or in external32. */
static inline int64_t native_size(int64_t count, MPI_Datatype datatype)
{
    int64_t size = impi_type_size((uintptr_t)datatype), n;
    return LIKELY(count >= 0 && size >= 0 && !__builtin_mul_overflow(count, size, &n)) ? n : -1;
}

static inline int64_t external_size(int64_t count, MPI_Datatype datatype)
{
    const struct impi_shape *s = impi_type_shape((uintptr_t)datatype);
    int64_t n;
    return LIKELY(s && count >= 0 && !__builtin_mul_overflow(count, s->size32, &n)) ? n : -1;
}

RARE int pack_size_in_go(int64_t count, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    int64_t n = 0;
    int err = impi_Pack_size(count, (uintptr_t)datatype, (uintptr_t)comm, size ? (uintptr_t)&n : 0);
    if (err) return impi_raise(err);
    *size = impi_narrow(n);
    return MPI_SUCCESS;
}

int impi_direct_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    int64_t n = native(comm) ? native_size(incount, datatype) : -1;
    if (UNLIKELY(n < 0 || !size)) return pack_size_in_go(incount, datatype, comm, size);
    *size = impi_narrow(n);
    return MPI_SUCCESS;
}

int impi_direct_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    int64_t n = native(comm) ? native_size(incount, datatype) : -1;
    if (UNLIKELY(n < 0 || !size)) IN_GO(impi_Pack_size(incount, (uintptr_t)datatype, (uintptr_t)comm, (uintptr_t)size));
    *size = n;
    return MPI_SUCCESS;
}

/* Is this the name of the one representation there is, and MPI in use? */
static inline int external32(const char *datarep)
{
    static const char name[] = "external32";
    return LIKELY(datarep && __atomic_load_n(&impi_attr.open, __ATOMIC_RELAXED) && strcmp(datarep, name) == 0);
}

/* As moved, from or to external32, where that has words of the type reversed and is not longer. */
static inline int converted(const char *datarep, const void *typed, int64_t count, MPI_Datatype datatype, const void *buffer, int64_t size,
                            int64_t *position, int unpack)
{
    if (UNLIKELY(!position || !external32(datarep) || count != (int)count)) return 0;
    const struct impi_shape *s = impi_type_shape((uintptr_t)datatype);
    if (UNLIKELY(!s || s->word == 0)) return 0;
    int64_t n = bytes(typed, (int)count, datatype);
    const struct impi_type_plan *p = NULL;
    if (s->word < 0) p = impi_type_planned_external(typed, (int)count, (uintptr_t)datatype, &n);
    else if (n < 0) p = impi_type_planned(typed, (int)count, (uintptr_t)datatype, &n);
    if (UNLIKELY((s->word < 0 && !p) || !fits(n, buffer, size, *position))) return 0;
    char *packed = (char *)(uintptr_t)buffer + *position;
    if (s->word < 0) impi_type_move_external(p, typed, packed, n, unpack);
    else if (p) impi_type_swap(p, typed, packed, n, s->word, unpack);
    else impi_move_words((uintptr_t)typed, (uintptr_t)packed, n, s->word, unpack);
    *position += n;
    return 1;
}

int impi_direct_Pack_external_c(const char datarep[], const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                                MPI_Count outsize, MPI_Count *position)
{
    if (LIKELY(converted(datarep, inbuf, incount, datatype, outbuf, outsize, position, 0))) return MPI_SUCCESS;
    IN_GO(impi_Pack_external((uintptr_t)datarep, (uintptr_t)inbuf, incount, (uintptr_t)datatype, (uintptr_t)outbuf, outsize,
                             (uintptr_t)position));
}

int impi_direct_Unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                                  MPI_Count outcount, MPI_Datatype datatype)
{
    if (LIKELY(converted(datarep, outbuf, outcount, datatype, inbuf, insize, position, 1))) return MPI_SUCCESS;
    IN_GO(impi_Unpack_external((uintptr_t)datarep, (uintptr_t)inbuf, insize, (uintptr_t)position, (uintptr_t)outbuf,
                               outcount, (uintptr_t)datatype));
}

int impi_direct_Pack_external_size_c(const char datarep[], MPI_Count incount, MPI_Datatype datatype, MPI_Count *size)
{
    int64_t n = external32(datarep) ? external_size(incount, datatype) : -1;
    if (UNLIKELY(n < 0 || !size))
        IN_GO(impi_Pack_external_size((uintptr_t)datarep, incount, (uintptr_t)datatype, (uintptr_t)size));
    *size = n;
    return MPI_SUCCESS;
}

/* MPI_Aint and MPI_Count are the same integer. */
int impi_direct_Pack_external(const char datarep[], const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, MPI_Aint outsize,
                              MPI_Aint *position)
{
    return impi_direct_Pack_external_c(datarep, inbuf, incount, datatype, outbuf, outsize, (MPI_Count *)position);
}

int impi_direct_Unpack_external(const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf, int outcount,
                                MPI_Datatype datatype)
{
    return impi_direct_Unpack_external_c(datarep, inbuf, insize, (MPI_Count *)position, outbuf, outcount, datatype);
}

int impi_direct_Pack_external_size(const char datarep[], int incount, MPI_Datatype datatype, MPI_Aint *size)
{
    return impi_direct_Pack_external_size_c(datarep, incount, datatype, (MPI_Count *)size);
}
