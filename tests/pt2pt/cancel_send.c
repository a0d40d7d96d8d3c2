/* Cancelling sends: either the message is gone, and nothing of it is ever received, or it arrives whole. */
/* ranks: 1 2 3 4 */
#include "../check.h"

enum { SHORT = 16, LONG = 300000, RACES = 40 };
static int next, before;

/* Nobody has received it: the send can be cancelled, and what is sent behind it takes its place. */
static void unreceived(int n)
{
    unsigned char *out = malloc((size_t)n), *in = calloc((size_t)n, 1);
    MPI_Request request;
    MPI_Status status;
    int flag = -1, count = -1;
    check_fill(out, (size_t)n, 1);
    MPI_Issend(out, n, MPI_BYTE, next, 3, MPI_COMM_WORLD, &request);
    CHECK_EQ(MPI_Cancel(&request), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_EQ(MPI_Test_cancelled(&status, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(before, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    check_fill(out, (size_t)n, 2);
    MPI_Sendrecv(out, n, MPI_BYTE, next, 3, in, n, MPI_BYTE, before, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQ(count, n);
    CHECK_EQ(memcmp(in, out, (size_t)n), 0);
    free(out);
    free(in);
}

/* It has been received before: it cannot be cancelled. */
static void received(int n)
{
    unsigned char *out = malloc((size_t)n), *in = calloc((size_t)n, 1);
    MPI_Request send, receive;
    MPI_Status status;
    int flag = -1;
    check_fill(out, (size_t)n, 3);
    MPI_Irecv(in, n, MPI_BYTE, before, 4, MPI_COMM_WORLD, &receive);
    MPI_Issend(out, n, MPI_BYTE, next, 4, MPI_COMM_WORLD, &send);
    do MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE); while (!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Cancel(&send);
    MPI_Wait(&send, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK_EQ(flag, 0);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK_EQ(memcmp(in, out, (size_t)n), 0);
    free(out);
    free(in);
}

/* The receive is under way while the send is cancelled: both outcomes are right, and both sides must see the same. */
static void race(int n, int tag, int delay)
{
    unsigned char *out = malloc((size_t)n), *in = calloc((size_t)n, 1);
    MPI_Request send, receive;
    MPI_Status sent, got;
    int cancelled = -1, gone = -1, flag = 0;
    check_fill(out, (size_t)n, 5);
    MPI_Issend(out, n, MPI_BYTE, next, tag, MPI_COMM_WORLD, &send);
    for (int i = 0; i < delay; i++) MPI_Iprobe(before, 6, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Irecv(in, n, MPI_BYTE, before, tag, MPI_COMM_WORLD, &receive);
    MPI_Cancel(&send);
    MPI_Wait(&send, &sent); /* whatever the receiver does */
    MPI_Test_cancelled(&sent, &cancelled);
    MPI_Sendrecv(&cancelled, 1, MPI_INT, next, 7, &gone, 1, MPI_INT, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (gone) { /* the receive is still there, for another message */
        int other = -1;
        MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, 0);
        MPI_Cancel(&receive);
        MPI_Wait(&receive, &got);
        MPI_Test_cancelled(&got, &other);
        CHECK_EQ(other, 1);
        for (int i = 0; i < n; i++) CHECK_EQ(in[i], 0);
    } else {
        int count = -1;
        MPI_Wait(&receive, &got);
        MPI_Get_count(&got, MPI_BYTE, &count);
        CHECK_EQ(count, n);
        CHECK_EQ(got.MPI_SOURCE, before);
        CHECK_EQ(memcmp(in, out, (size_t)n), 0);
    }
    free(out);
    free(in);
}

/* Of many sends every other one is cancelled: just the others arrive, in order. */
static void every_other(void)
{
    enum { MANY = 50 };
    int out[MANY], in = -1, gone[MANY], lost[MANY];
    MPI_Request r[MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = i;
        MPI_Issend(&out[i], 1, MPI_INT, next, 8, MPI_COMM_WORLD, &r[i]);
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Status s;
        gone[i] = 0;
        if (i % 2 == 0) continue;
        MPI_Cancel(&r[i]);
        MPI_Wait(&r[i], &s);
        MPI_Test_cancelled(&s, &gone[i]);
        CHECK_EQ(gone[i], 1); /* nobody receives yet */
    }
    MPI_Sendrecv(gone, MANY, MPI_INT, next, 9, lost, MANY, MPI_INT, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MANY; i++) {
        if (lost[i]) continue;
        MPI_Recv(&in, 1, MPI_INT, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(in, i);
    }
    MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    before = (check_rank + check_size - 1) % check_size;
    unreceived(SHORT);
    unreceived(LONG);
    received(SHORT);
    received(LONG);
    for (int i = 0; i < RACES; i++) race(i % 2 ? SHORT : LONG, 100 + i, i % 8);
    every_other();
    return check_end();
}
