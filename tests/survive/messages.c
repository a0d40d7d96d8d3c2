/* messages.c - steps of messages between two ranks, or between neighbors, or from all to one. */
#include "survive.h"
#include <stdlib.h>

static int room[16 * LONGEST], used;

int *numbers(int n)
{
    int *at = room + used;
    used += n;
    if (used > 16 * LONGEST) wrong("no room");
    return at;
}

void release(void) { used = 0; }

int length(Random *r)
{
    static const int of[] = {0, 1, 2, 30, 500, 3000, LONGEST};
    return of[below(r, 7)];
}

void fill(int *data, int n, int key)
{
    for (int i = 0; i < n; i++) data[i] = key * 7919 + p.tag * 31 + i;
}

void check(const int *data, int n, int key, const char *what)
{
    for (int i = 0; i < n; i++)
        if (data[i] != key * 7919 + p.tag * 31 + i)
            wrong("%s: number %d of %d is %d, not %d", what, i, n, data[i], key * 7919 + p.tag * 31 + i);
}

static int ring(const Where *w, Random *r)
{
    int n = length(r), *out = numbers(n), *in = numbers(n), left = (w->rank + w->size - 1) % w->size;
    fill(out, n, w->rank);
    int code = MPI_Sendrecv(out, n, MPI_INT, (w->rank + 1) % w->size, p.tag, in, n, MPI_INT, left, p.tag, w->comm,
                            MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) check(in, n, left, "ring");
    return code;
}

static int send_by(int way, const int *data, int n, int to, const Where *w)
{
    MPI_Request q = MPI_REQUEST_NULL;
    int code;
    switch (way) {
    case 0: return MPI_Send(data, n, MPI_INT, to, p.tag, w->comm);
    case 1: return MPI_Ssend(data, n, MPI_INT, to, p.tag, w->comm);
    case 2: code = MPI_Isend(data, n, MPI_INT, to, p.tag, w->comm, &q); break;
    case 3: code = MPI_Issend(data, n, MPI_INT, to, p.tag, w->comm, &q); break;
    default:
        code = MPI_Send_init(data, n, MPI_INT, to, p.tag, w->comm, &q);
        if (code == MPI_SUCCESS) code = MPI_Start(&q);
        if (code == MPI_SUCCESS) code = finish(w, 1, &q);
        if (q != MPI_REQUEST_NULL) MPI_Request_free(&q);
        return code;
    }
    return code == MPI_SUCCESS ? finish(w, 1, &q) : code;
}

/* A request whose message will not come ends when its communicator is revoked. */
static int withdraw(const Where *w, MPI_Request *q, int code)
{
    MPIX_Comm_revoke(w->comm);
    if (check_code(MPI_Wait(q, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED_PENDING)
        wrong("a request pends after revoke");
    return code;
}

/* A receive from any source may pend. It is waited for again when the loss is acknowledged, if its sender lives. */
static int wait_for_any(const Where *w, MPI_Request *q, int from)
{
    for (;;) {
        MPI_Group lost, all;
        int n, acknowledged, rank;
        int code = MPI_Wait(q, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS || check_code(code) != MPIX_ERR_PROC_FAILED_PENDING) return code;
        if (*q == MPI_REQUEST_NULL) wrong("a request that pends is gone");
        MPIX_Comm_get_failed(w->comm, &lost);
        MPI_Group_size(lost, &n);
        MPIX_Comm_ack_failed(w->comm, n, &acknowledged);
        if (acknowledged < n) wrong("%d of %d losses acknowledged", acknowledged, n);
        MPI_Comm_group(w->comm, &all);
        MPI_Group_translate_ranks(all, 1, &from, lost, &rank);
        MPI_Group_free(&all);
        MPI_Group_free(&lost);
        if (rank != MPI_UNDEFINED) return withdraw(w, q, code);
    }
}

static int receive_by(int way, int *data, int n, int from, const Where *w)
{
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Message message;
    int code, flag;
    switch (way) {
    case 0: return MPI_Recv(data, n, MPI_INT, from, p.tag, w->comm, MPI_STATUS_IGNORE);
    case 1: return MPI_Recv(data, n, MPI_INT, MPI_ANY_SOURCE, p.tag, w->comm, MPI_STATUS_IGNORE);
    case 2:
        code = MPI_Probe(from, p.tag, w->comm, MPI_STATUS_IGNORE);
        return code == MPI_SUCCESS ? MPI_Recv(data, n, MPI_INT, from, p.tag, w->comm, MPI_STATUS_IGNORE) : code;
    case 3:
        code = MPI_Mprobe(from, p.tag, w->comm, &message, MPI_STATUS_IGNORE);
        return code == MPI_SUCCESS ? MPI_Mrecv(data, n, MPI_INT, &message, MPI_STATUS_IGNORE) : code;
    case 4:
        code = MPI_Irecv(data, n, MPI_INT, MPI_ANY_SOURCE, p.tag, w->comm, &q);
        return code == MPI_SUCCESS ? wait_for_any(w, &q, from) : code;
    case 5:
        code = MPI_Irecv(data, n, MPI_INT, from, p.tag, w->comm, &q);
        for (flag = 0; code == MPI_SUCCESS && !flag;) code = MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
        return code;
    default:
        code = MPI_Irecv(data, n, MPI_INT, from, p.tag, w->comm, &q);
        return code == MPI_SUCCESS ? finish(w, 1, &q) : code;
    }
}

static int one(const Where *w, Random *r)
{
    int n = length(r), from = below(r, w->size), to = below(r, w->size), way = below(r, 5), other = below(r, 7), code;
    if (from == to || (w->rank != from && w->rank != to)) return MPI_SUCCESS;
    int *data = numbers(n);
    if (w->rank == from) {
        fill(data, n, from);
        return send_by(way, data, n, to, w);
    }
    code = receive_by(other, data, n, from, w);
    if (code == MPI_SUCCESS) check(data, n, from, "message");
    return code;
}

/* Every rank swaps with that of the same half, then tells all others. */
static int everybody(const Where *w, Random *r)
{
    int n = length(r) / 20, *out = numbers(n), *in = numbers(n * w->size), code = MPI_SUCCESS, count = 0;
    MPI_Request q[2 * MOST_RANKS];
    fill(out, n, w->rank);
    for (int i = 0; i < 2 * w->size && code == MPI_SUCCESS; i++) {
        int other = (w->rank + i / 2) % w->size;
        code = i % 2 ? MPI_Isend(out, n, MPI_INT, other, p.tag, w->comm, &q[count])
                     : MPI_Irecv(in + n * other, n, MPI_INT, other, p.tag, w->comm, &q[count]);
        count += code == MPI_SUCCESS;
    }
    if (code != MPI_SUCCESS) MPIX_Comm_revoke(w->comm);
    int late = finish(w, count, q);
    if (code != MPI_SUCCESS || late != MPI_SUCCESS) return code != MPI_SUCCESS ? code : late;
    for (int i = 0; i < w->size; i++) check(in + n * i, n, i, "everybody");
    return MPI_SUCCESS;
}

/* All send to one, which takes what comes from any of them. */
static int to_one(const Where *w, Random *r)
{
    int n = 1 + below(r, 400), root = below(r, w->size), *data = numbers(n), seen = 0;
    if (w->rank != root) {
        fill(data, n, w->rank);
        return MPI_Send(data, n, MPI_INT, root, p.tag, w->comm);
    }
    for (int i = 1; i < w->size; i++) {
        MPI_Status status;
        int code = MPI_Recv(data, n, MPI_INT, MPI_ANY_SOURCE, p.tag, w->comm, &status);
        if (code != MPI_SUCCESS) return code;
        check(data, n, status.MPI_SOURCE, "from any");
        if (seen >> status.MPI_SOURCE & 1) wrong("two messages of rank %d", status.MPI_SOURCE);
        seen |= 1 << status.MPI_SOURCE;
    }
    return MPI_SUCCESS;
}

const Named messages[] = {{"ring", ring}, {"one", one}, {"one", one}, {"everybody", everybody}, {"to one", to_one},
    {0}};
