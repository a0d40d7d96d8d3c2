/* Every send mode delivers the message and its envelope to every receive. */
#include "../check.h"

enum { STANDARD, SYNCHRONOUS, READY, BUFFERED, MODES };

static int send(int mode, const int *buf, int n, int to, int tag)
{
    switch (mode) {
    case STANDARD: return MPI_Send(buf, n, MPI_INT, to, tag, MPI_COMM_WORLD);
    case SYNCHRONOUS: return MPI_Ssend(buf, n, MPI_INT, to, tag, MPI_COMM_WORLD);
    case READY: return MPI_Rsend(buf, n, MPI_INT, to, tag, MPI_COMM_WORLD);
    default: return MPI_Bsend(buf, n, MPI_INT, to, tag, MPI_COMM_WORLD);
    }
}

static int isend(int mode, const int *buf, int n, int to, int tag, MPI_Request *request)
{
    switch (mode) {
    case STANDARD: return MPI_Isend(buf, n, MPI_INT, to, tag, MPI_COMM_WORLD, request);
    case SYNCHRONOUS: return MPI_Issend(buf, n, MPI_INT, to, tag, MPI_COMM_WORLD, request);
    case READY: return MPI_Irsend(buf, n, MPI_INT, to, tag, MPI_COMM_WORLD, request);
    default: return MPI_Ibsend(buf, n, MPI_INT, to, tag, MPI_COMM_WORLD, request);
    }
}

/* The receive is posted before the barrier, so that a ready send is allowed. */
static void once(int mode, int immediate, int n, int wild)
{
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, tag = mode * 2 +
        immediate, got = -1;
    int *out = malloc(sizeof(int) * (size_t)(n + 1)), *in = malloc(sizeof(int) * (size_t)(n + 1));
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status = {.MPI_ERROR = 12345};
    for (int i = 0; i < n; i++) out[i] = check_rank * 100000 + i;
    in[n] = 4711;
    CHECK_EQ(MPI_Irecv(in, n, MPI_INT, wild ? MPI_ANY_SOURCE : previous, wild ? MPI_ANY_TAG : tag, MPI_COMM_WORLD,
        &request[0]), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (immediate) CHECK_EQ(isend(mode, out, n, next, tag, &request[1]), MPI_SUCCESS);
    else CHECK_EQ(send(mode, out, n, next, tag), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&request[0], &status), MPI_SUCCESS);
    CHECK(request[0] == MPI_REQUEST_NULL);
    CHECK_EQ(MPI_Wait(&request[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(request[1] == MPI_REQUEST_NULL);
    CHECK_EQ(status.MPI_SOURCE, previous);
    CHECK_EQ(status.MPI_TAG, tag);
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK_EQ(got, n);
    for (int i = 0; i < n; i++) CHECK_EQ(in[i], previous * 100000 + i);
    CHECK_EQ(in[n], 4711);
    MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 100, 20000};
    check_start(&argc, &argv);
    int room = 20000 * 4 + MPI_BSEND_OVERHEAD + 1024;
    void *buffer = malloc((size_t)room);
    MPI_Buffer_attach(buffer, room);
    for (int mode = 0; mode < MODES; mode++)
        for (int s = 0; s < 4; s++)
            for (int wild = 0; wild < 2; wild++) {
                /* A blocking synchronous send to oneself works, too: the receive is posted. */
                once(mode, 0, sizes[s], wild);
                once(mode, 1, sizes[s], wild);
            }
    MPI_Buffer_detach(&buffer, &room);
    free(buffer);
    return check_end();
}
