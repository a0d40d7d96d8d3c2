/* Partitioned communication: any order, other partitions on the receiver's side, several cycles and channels. */
/* ranks: 1 2 3 4 */
#include "../check.h"

#if MPI_VERSION >= 4
static int next, previous;

/* total ints in sp partitions at the sender and rp at the receiver, three cycles. */
static void cycles(int total, int sp, int rp, MPI_Datatype sendtype, int slen, MPI_Datatype recvtype, int rlen,
                   int reverse)
{
    int *out = malloc((size_t)total * sizeof *out), *in = malloc((size_t)total * sizeof *in);
    MPI_Request request[2];
    MPI_Status status;
    MPI_Precv_init(in, rp, total / rp / rlen, recvtype, previous, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    MPI_Psend_init(out, sp, total / sp / slen, sendtype, next, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    for (int cycle = 0; cycle < 3; cycle++) {
        for (int i = 0; i < total; i++) out[i] = check_rank * 100000 + cycle * 10000 + i, in[i] = -1;
        MPI_Startall(2, request);
        for (int p = 0; p < sp; p++) MPI_Pready(reverse ? sp - 1 - p : p, request[1]);
        for (int p = 0; p < rp; p++) { /* one by one */
            int flag = 0, each = total / rp;
            while (!flag) MPI_Parrived(request[0], p, &flag);
            for (int i = p * each; i < (p + 1) * each; i++) CHECK_EQ(in[i], previous * 100000 + cycle * 10000 + i);
        }
        MPI_Wait(&request[0], &status);
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        CHECK_EQ(status.MPI_SOURCE, previous);
        CHECK_EQ(status.MPI_TAG, 5);
        CHECK(request[0] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    CHECK(request[0] == MPI_REQUEST_NULL);
    free(out);
    free(in);
}

/* A partition arrives although others are not ready: the receiver asks for the next only then. */
static void in_turn(int sp, int rp)
{
    enum { TOTAL = 24 };
    int out[TOTAL], in[TOTAL], token = 0, flag;
    MPI_Request request[2];
    memset(in, 0xff, sizeof in);
    for (int i = 0; i < TOTAL; i++) out[i] = check_rank * 100 + i;
    MPI_Psend_init(out, sp, TOTAL / sp, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    MPI_Precv_init(in, rp, TOTAL / rp, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    MPI_Startall(2, request);
    for (int p = 0, ready = 0; p < rp; p++) {
        while (ready < sp && ready * (TOTAL / sp) < (p + 1) * (TOTAL / rp)) MPI_Pready(ready++, request[1]);
        do MPI_Parrived(request[0], p, &flag);
        while (!flag);
        for (int i = 0; i < (p + 1) * (TOTAL / rp); i++) CHECK_EQ(in[i], previous * 100 + i);
        if (p + 1 < rp && ready * (TOTAL / sp) <= (p + 1) * (TOTAL / rp)) {
            MPI_Parrived(request[0], p + 1, &flag);
            CHECK_EQ(flag, 0); /* nothing of it is ready */
        }
        MPI_Sendrecv_replace(&token, 1, MPI_INT, previous, 2, next, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Parrived(request[0], 0, &flag); /* inactive */
    CHECK_EQ(flag, 1);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

/* A receive with more room than there is data: it lies at the start, also where its elements are others. */
static void larger(int parts, int count, MPI_Datatype type)
{
    enum { SENT = 12, ROOM = 60 };
    int out[SENT], in[ROOM], n = -1;
    MPI_Request request[2];
    MPI_Status status;
    for (int i = 0; i < SENT; i++) out[i] = check_rank * 100 + i;
    memset(in, 0xff, sizeof in);
    MPI_Precv_init(in, parts, count, type, previous, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    MPI_Psend_init(out, 4, SENT / 4, MPI_INT, next, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    for (int cycle = 0; cycle < 2; cycle++) {
        MPI_Startall(2, request);
        MPI_Pready_range(0, 3, request[1]);
        MPI_Wait(&request[0], &status);
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        MPI_Get_count(&status, MPI_INT, &n);
        CHECK_EQ(n, SENT);
        for (int i = 0; i < ROOM; i++) CHECK_EQ(in[i], i < SENT ? previous * 100 + i : -1);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

/* Channels with the same tag are matched in the order of their creation, and never with ordinary messages. */
static void same_tag(void)
{
    enum { CHANNELS = 5, PARTS = 4 };
    int out[CHANNELS][PARTS], in[CHANNELS][PARTS], plain = 77, got = -1, list[] = {3, 0};
    MPI_Request send[CHANNELS], recv[CHANNELS], ordinary;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &ordinary);
    for (int c = 0; c < CHANNELS; c++) {
        MPI_Psend_init(out[c], PARTS, 1, MPI_INT, next, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &send[c]);
        MPI_Precv_init(in[c], PARTS, 1, MPI_INT, previous, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &recv[c]);
        for (int p = 0; p < PARTS; p++) out[c][p] = check_rank * 1000 + c * 10 + p, in[c][p] = -1;
    }
    for (int c = CHANNELS - 1; c >= 0; c--) { /* started in another order */
        MPI_Start(&send[c]);
        MPI_Pready_range(1, 2, send[c]);
        MPI_Pready_list(2, list, send[c]);
    }
    MPI_Startall(CHANNELS, recv);
    MPI_Waitall(CHANNELS, recv, MPI_STATUSES_IGNORE);
    MPI_Waitall(CHANNELS, send, MPI_STATUSES_IGNORE);
    for (int c = 0; c < CHANNELS; c++)
        for (int p = 0; p < PARTS; p++) CHECK_EQ(in[c][p], previous * 1000 + c * 10 + p);
    CHECK_EQ(got, -1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&plain, 1, MPI_INT, next, 9, MPI_COMM_WORLD);
    MPI_Wait(&ordinary, MPI_STATUS_IGNORE);
    CHECK_EQ(got, 77);
    for (int c = 0; c < CHANNELS; c++) {
        MPI_Request_free(&send[c]);
        MPI_Request_free(&recv[c]);
    }
}

static void nobody(void)
{
    int word = 3, flag = 0;
    MPI_Request request[2];
    MPI_Status status;
    MPI_Psend_init(&word, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
    MPI_Precv_init(&word, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
    MPI_Startall(2, request);
    MPI_Pready(0, request[0]);
    MPI_Parrived(request[1], 0, &flag);
    CHECK_EQ(flag, 1);
    MPI_Wait(&request[1], &status);
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    flag = 0;
    CHECK_EQ(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
}
#endif

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
#if MPI_VERSION >= 4
    MPI_Datatype three;
    if (check_library("MPICH Version:\t4.0")) return check_end(); /* which crashes in MPI_Psend_init */
    next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&three);
    cycles(8, 4, 4, MPI_INT, 1, MPI_INT, 1, 0);
    cycles(24, 6, 4, MPI_INT, 1, MPI_INT, 1, 1);
    cycles(24, 2, 8, MPI_INT, 1, MPI_INT, 1, 0);
    cycles(24, 24, 1, MPI_INT, 1, MPI_INT, 1, 1);
    cycles(24, 1, 24, MPI_INT, 1, MPI_INT, 1, 0);
    cycles(24, 6, 4, MPI_INT, 1, three, 3, 1);
    cycles(24, 4, 6, three, 3, MPI_INT, 1, 0);
    cycles(9000, 3, 2, MPI_INT, 1, three, 3, 0);
    cycles(120000, 4, 3, MPI_INT, 1, MPI_INT, 1, 1);
    if (!check_library("MPICH") && !check_library("Open MPI")) { /* MPICH asks for equal sizes */
        MPI_Datatype five;
        MPI_Type_contiguous(5, MPI_INT, &five);
        MPI_Type_commit(&five);
        larger(4, 6, MPI_INT);
        larger(1, 60, MPI_INT);
        larger(7, 5, MPI_INT);
        larger(4, 2, three);
        larger(5, 4, three);
        larger(3, 1, five); /* the data ends inside an element */
        MPI_Type_free(&five);
    }
    MPI_Type_free(&three);
    if (!check_library("MPICH")) { /* which sends when all partitions are ready */
        in_turn(4, 4);
        in_turn(12, 3);
        in_turn(3, 12);
        in_turn(6, 4);
    }
    same_tag();
    nobody();
#endif
    return check_end();
}
