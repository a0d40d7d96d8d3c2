/* Probe finds the message that a receive would get, tells its length, and leaves it there; Mprobe takes it away. */
#include "../check.h"

enum { COUNT = 60 };
static int length(int i) { return i % 13 == 12 ? 50000 : i * 3; }

/* All are under way at once: a matched message that is not yet received may hold up a blocking send. */
static void send_all(int to)
{
    MPI_Request request[COUNT];
    int *out[COUNT];
    for (int i = 0; i < COUNT; i++) {
        out[i] = malloc(sizeof(int) * (size_t)(length(i) + 1));
        for (int k = 0; k < length(i); k++) out[i][k] = i + k;
        MPI_Isend(out[i], length(i), MPI_INT, to, i, MPI_COMM_WORLD, &request[i]);
    }
    MPI_Waitall(COUNT, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COUNT; i++) free(out[i]);
}

static void check_words(const int *in, int n, int i)
{
    CHECK_EQ(n, length(i));
    for (int k = 0; k < n; k++) CHECK_EQ(in[k], i + k);
}

/* Length unknown to the receiver: probe, allocate, receive. */
static void probe_all(int blocking)
{
    int *next = calloc((size_t)check_size, sizeof(int));
    for (int i = 0; i < COUNT * (check_size - 1); i++) {
        MPI_Status seen, status;
        int flag = 0, n = -1, got = -1;
        if (blocking) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &seen);
        else while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &seen);
        MPI_Get_count(&seen, MPI_INT, &n);
        CHECK_EQ(seen.MPI_TAG, next[seen.MPI_SOURCE]);
        int *in = malloc(sizeof(int) * (size_t)(n + 1));
        MPI_Recv(in, n, MPI_INT, seen.MPI_SOURCE, seen.MPI_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK_EQ(got, n);
        check_words(in, n, next[seen.MPI_SOURCE]++);
        free(in);
    }
    free(next);
}

/* A matched message is out of reach of other receives. */
static void matched_all(int blocking)
{
    int *next = calloc((size_t)check_size, sizeof(int));
    for (int i = 0; i < COUNT / 2 * (check_size - 1); i++) {
        MPI_Message first, second;
        MPI_Status a, b, status;
        MPI_Request request;
        int n, got, flag = 0;
        if (blocking) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &first, &a);
        else while (!flag) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &first, &a);
        MPI_Mprobe(a.MPI_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &second, &b);
        int source = a.MPI_SOURCE;
        CHECK_EQ(a.MPI_TAG, next[source]);
        CHECK_EQ(b.MPI_TAG, next[source] + 1);
        /* The second is received first. */
        MPI_Get_count(&b, MPI_INT, &n);
        int *in = malloc(sizeof(int) * (size_t)(n + 1));
        MPI_Imrecv(in, n, MPI_INT, &second, &request);
        CHECK(second == MPI_MESSAGE_NULL);
        MPI_Wait(&request, &status);
        CHECK_EQ(status.MPI_SOURCE, source);
        MPI_Get_count(&status, MPI_INT, &got);
        check_words(in, got, next[source] + 1);
        free(in);
        MPI_Get_count(&a, MPI_INT, &n);
        in = malloc(sizeof(int) * (size_t)(n + 1));
        MPI_Mrecv(in, n, MPI_INT, &first, &status);
        CHECK(first == MPI_MESSAGE_NULL);
        CHECK_EQ(status.MPI_TAG, next[source]);
        check_words(in, n, next[source]);
        next[source] += 2;
        free(in);
    }
    free(next);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int flag = -1;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int way = 0; way < 4; way++) {
        if (check_rank > 0) send_all(0);
        else if (way < 2) probe_all(way);
        else matched_all(way == 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
