/* The fast path of persistent requests (fast.h): the engine has made them, and C starts those of short messages. */
#define _GNU_SOURCE
#include "fast_match.h"

struct impi_persistent impi_persistent[IMPI_PERSISTENT_SLOTS];

/* Starts a request; 0 if Go has to. */
static inline int start(MPI_Request request)
{
    uint32_t n = (uint32_t)(uintptr_t)request - 1;
    struct impi_persistent *p = &impi_persistent[n < IMPI_PERSISTENT_SLOTS ? n : 0];
    if (UNLIKELY(!request || p->request != (uintptr_t)request || p->state != IMPI_PERSISTENT_INACTIVE)) return 0;
    void *buf = (void *)(uintptr_t)p->buf;
    MPI_Datatype datatype = (MPI_Datatype)(uintptr_t)p->datatype;
    MPI_Comm comm = (MPI_Comm)(uintptr_t)p->comm;
    if (!p->receives) {
        if (impi_exec_Send(buf, p->count, datatype, p->peer, p->tag, comm)) return 0;
        __atomic_store_n(&p->state, IMPI_PERSISTENT_SENT, __ATOMIC_RELAXED);
        return 1;
    }
    return impi_fast_post(buf, p->count, datatype, p->peer, p->tag, comm, p);
}

int impi_exec_Start(MPI_Request *request) { return LIKELY(request && start(*request)) ? MPI_SUCCESS : IMPI_IN_GO; }

int impi_direct_Startall(int count, MPI_Request requests[])
{
    int n = 0;
    while (LIKELY(requests && n < count) && start(requests[n])) n++;
    if (LIKELY(n == count && count > 0)) return MPI_SUCCESS;
    IN_GO(impi_startall_rest(count, (uintptr_t)requests, n));
}
