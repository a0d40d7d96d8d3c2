/* collectives.c - steps in which all members take part: each operation blocking, nonblocking, and persistent. */
#include "survive.h"

/* The code of an operation, in one of its three forms. */
#define EITHER(name, Iname, ...) \
    (way == 0   ? MPI_##name(__VA_ARGS__) \
     : way == 1 ? completed(w, MPI_##Iname(__VA_ARGS__, &request), &request) \
                : repeated(w, MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request), &request))

#define FORM \
    int way = below(r, 3); \
    MPI_Request request = MPI_REQUEST_NULL

static int repeated(const Where *w, int code, MPI_Request *request)
{
    for (int i = 0; i < 2 && code == MPI_SUCCESS; i++) {
        code = MPI_Start(request);
        if (code == MPI_SUCCESS) code = finish(w, 1, request);
    }
    if (*request != MPI_REQUEST_NULL) MPI_Request_free(request);
    return code;
}

/* The sum over ranks below end of what fill gives each. */
static void check_sum(const int *data, int n, int end, const char *what)
{
    for (int i = 0; i < n; i++) {
        unsigned sum = 0;
        for (int k = 0; k < end; k++) sum += (unsigned)k * 7919u + (unsigned)p.tag * 31u + (unsigned)i;
        if ((unsigned)data[i] != sum) wrong("%s: number %d of %d is %d, not %u", what, i, n, data[i], sum);
    }
}

static int barrier(const Where *w, Random *r)
{
    FORM;
    return EITHER(Barrier, Ibarrier, w->comm);
}

static int bcast(const Where *w, Random *r)
{
    FORM;
    int n = length(r), root = below(r, w->size), *data = numbers(n);
    if (w->rank == root) fill(data, n, root);
    int code = EITHER(Bcast, Ibcast, data, n, MPI_INT, root, w->comm);
    if (code == MPI_SUCCESS) check(data, n, root, "bcast");
    return code;
}

static int reduce(const Where *w, Random *r)
{
    FORM;
    int n = length(r), root = below(r, w->size), *data = numbers(n), *sum = numbers(n);
    fill(data, n, w->rank);
    int code = EITHER(Reduce, Ireduce, data, sum, n, MPI_INT, MPI_SUM, root, w->comm);
    if (code == MPI_SUCCESS && w->rank == root) check_sum(sum, n, w->size, "reduce");
    return code;
}

static int allreduce(const Where *w, Random *r)
{
    FORM;
    int n = length(r), *data = numbers(n), *sum = numbers(n);
    fill(data, n, w->rank);
    int code = EITHER(Allreduce, Iallreduce, data, sum, n, MPI_INT, MPI_SUM, w->comm);
    if (code == MPI_SUCCESS) check_sum(sum, n, w->size, "allreduce");
    return code;
}

static int scan(const Where *w, Random *r)
{
    FORM;
    int n = length(r) / 4, *data = numbers(n), *sum = numbers(n);
    fill(data, n, w->rank);
    int code = EITHER(Scan, Iscan, data, sum, n, MPI_INT, MPI_SUM, w->comm);
    if (code == MPI_SUCCESS) check_sum(sum, n, w->rank + 1, "scan");
    return code;
}

static int gather(const Where *w, Random *r)
{
    FORM;
    int n = length(r) / 4, root = below(r, w->size), *data = numbers(n), *all = numbers(n * w->size);
    fill(data, n, w->rank);
    int code = EITHER(Gather, Igather, data, n, MPI_INT, all, n, MPI_INT, root, w->comm);
    for (int i = 0; i < w->size && code == MPI_SUCCESS && w->rank == root; i++) check(all + n * i, n, i, "gather");
    return code;
}

static int scatter(const Where *w, Random *r)
{
    FORM;
    int n = length(r) / 4, root = below(r, w->size), *data = numbers(n), *all = numbers(n * w->size);
    for (int i = 0; i < w->size; i++) fill(all + n * i, n, i);
    int code = EITHER(Scatter, Iscatter, all, n, MPI_INT, data, n, MPI_INT, root, w->comm);
    if (code == MPI_SUCCESS) check(data, n, w->rank, "scatter");
    return code;
}

static int allgather(const Where *w, Random *r)
{
    FORM;
    int n = length(r) / 4, *data = numbers(n), *all = numbers(n * w->size);
    fill(data, n, w->rank);
    int code = EITHER(Allgather, Iallgather, data, n, MPI_INT, all, n, MPI_INT, w->comm);
    for (int i = 0; i < w->size && code == MPI_SUCCESS; i++) check(all + n * i, n, i, "allgather");
    return code;
}

static int alltoall(const Where *w, Random *r)
{
    FORM;
    int n = length(r) / 8, *to = numbers(n * w->size), *from = numbers(n * w->size);
    for (int i = 0; i < w->size; i++) fill(to + n * i, n, w->rank * MOST_RANKS + i);
    int code = EITHER(Alltoall, Ialltoall, to, n, MPI_INT, from, n, MPI_INT, w->comm);
    for (int i = 0; i < w->size && code == MPI_SUCCESS; i++)
        check(from + n * i, n, i * MOST_RANKS + w->rank, "alltoall");
    return code;
}

static int reduce_scatter(const Where *w, Random *r)
{
    FORM;
    int n = 1 + length(r) / 8, *data = numbers(n * w->size), *sum = numbers(n);
    for (int i = 0; i < w->size; i++) fill(data + n * i, n, w->rank);
    int code = EITHER(Reduce_scatter_block, Ireduce_scatter_block, data, sum, n, MPI_INT, MPI_SUM, w->comm);
    if (code == MPI_SUCCESS) check_sum(sum, n, w->size, "reduce_scatter");
    return code;
}

const Named collectives[] = {{"barrier", barrier}, {"bcast", bcast}, {"reduce", reduce}, {"allreduce", allreduce},
    {"scan", scan}, {"gather", gather}, {"scatter", scatter}, {"allgather", allgather}, {"alltoall", alltoall},
    {"reduce_scatter", reduce_scatter}, {0}};
