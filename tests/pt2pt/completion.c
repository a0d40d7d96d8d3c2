/* Wait and Test, for one, any, some and all requests: what completes, what stays, what the statuses say. */
#include "../check.h"

enum { N = 8 };
static int next, previous, in[N];
static MPI_Request request[N];

static void post(void)
{
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &request[i]);
    }
}

static void send_tag(int tag)
{
    int word = check_rank * 100 + tag;
    MPI_Send(&word, 1, MPI_INT, next, tag, MPI_COMM_WORLD);
}

static void right(const MPI_Status *s, int i)
{
    int n = -1;
    CHECK_EQ(s->MPI_SOURCE, previous);
    CHECK_EQ(s->MPI_TAG, i);
    MPI_Get_count(s, MPI_INT, &n);
    CHECK_EQ(n, 1);
    CHECK_EQ(in[i], previous * 100 + i);
    CHECK(request[i] == MPI_REQUEST_NULL);
}

static void empty(const MPI_Status *s)
{
    int n = -1, flag = -1;
    CHECK_EQ(s->MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(s->MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(s, MPI_INT, &n);
    CHECK_EQ(n, 0);
    MPI_Test_cancelled(s, &flag);
    CHECK_EQ(flag, 0);
}

static void null_requests(void)
{
    MPI_Status status[N];
    int flag = -1, index = -1, count = -1, indices[N];
    for (int i = 0; i < N; i++) request[i] = MPI_REQUEST_NULL;
    memset(status, 0x55, sizeof status);
    CHECK_EQ(MPI_Wait(&request[0], &status[0]), MPI_SUCCESS);
    empty(&status[0]);
    memset(status, 0x55, sizeof status);
    MPI_Test(&request[0], &flag, &status[0]);
    CHECK_EQ(flag, 1);
    empty(&status[0]);
    MPI_Waitany(N, request, &index, &status[1]);
    CHECK_EQ(index, MPI_UNDEFINED);
    empty(&status[1]);
    flag = -1;
    MPI_Testany(N, request, &index, &flag, &status[2]);
    CHECK(flag == 1 && index == MPI_UNDEFINED);
    empty(&status[2]);
    MPI_Waitsome(N, request, &count, indices, status);
    CHECK_EQ(count, MPI_UNDEFINED);
    MPI_Testsome(N, request, &count, indices, status);
    CHECK_EQ(count, MPI_UNDEFINED);
    memset(status, 0x55, sizeof status);
    MPI_Waitall(N, request, status);
    for (int i = 0; i < N; i++) empty(&status[i]);
    flag = -1;
    MPI_Testall(N, request, &flag, status);
    CHECK_EQ(flag, 1);
    CHECK_EQ(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE);
    CHECK_EQ(index, MPI_UNDEFINED);
}

/* Send one message when everybody is done with the one before: a rank that runs ahead must not disturb. */
static void step(int tag)
{
    MPI_Barrier(MPI_COMM_WORLD);
    send_tag(tag);
}

/* Nothing is sent yet: no test may succeed. Then one message, and only that request completes. */
static void tests_wait_for_messages(void)
{
    MPI_Status status[N];
    int flag, index, count, indices[N];
    post();
    for (int k = 0; k < 10; k++) {
        MPI_Test(&request[0], &flag, status);
        CHECK_EQ(flag, 0);
        index = k;
        MPI_Testany(N, request, &index, &flag, status);
        CHECK_EQ(flag, 0);
        CHECK_EQ(index, MPI_UNDEFINED);
        MPI_Testsome(N, request, &count, indices, status);
        CHECK_EQ(count, 0);
        MPI_Testall(N, request, &flag, status);
        CHECK_EQ(flag, 0);
        MPI_Request_get_status(request[1], &flag, status);
        CHECK_EQ(flag, 0);
    }
    step(5);
    do MPI_Request_get_status(request[5], &flag, &status[5]); while (!flag);
    CHECK(request[5] != MPI_REQUEST_NULL);
    MPI_Test(&request[5], &flag, &status[5]);
    CHECK_EQ(flag, 1);
    right(&status[5], 5);
    step(2);
    do MPI_Testany(N, request, &index, &flag, &status[0]); while (!flag);
    CHECK_EQ(index, 2);
    right(&status[0], 2);
    step(7);
    do MPI_Testsome(N, request, &count, indices, status); while (count == 0);
    CHECK_EQ(count, 1);
    CHECK_EQ(indices[0], 7);
    right(&status[0], 7);
    step(0);
    MPI_Waitany(N, request, &index, &status[0]);
    CHECK_EQ(index, 0);
    right(&status[0], 0);
    step(6);
    MPI_Waitsome(N, request, &count, indices, status);
    CHECK_EQ(count, 1);
    CHECK_EQ(indices[0], 6);
    right(&status[0], 6);
    MPI_Testall(N, request, &flag, status);
    CHECK_EQ(flag, 0);
    step(1);
    send_tag(3);
    send_tag(4);
    do MPI_Testall(N, request, &flag, status); while (!flag);
    for (int i = 0; i < N; i++)
        if (i == 1 || i == 3 || i == 4) right(&status[i], i);
        else empty(&status[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_at_once(void)
{
    MPI_Status status[N];
    int done[N] = {0}, left = N, count, index, indices[N];
    post();
    for (int i = N - 1; i >= 0; i--) send_tag(i);
    CHECK_EQ(MPI_Waitall(N, request, status), MPI_SUCCESS);
    for (int i = 0; i < N; i++) right(&status[i], i);
    MPI_Barrier(MPI_COMM_WORLD);
    post();
    for (int i = N - 1; i >= 0; i--) send_tag(i);
    while (left > 0) {
        MPI_Waitsome(N, request, &count, indices, status);
        CHECK(count > 0 && count <= left);
        for (int k = 0; k < count; k++) {
            CHECK_EQ(done[indices[k]]++, 0);
            right(&status[k], indices[k]);
        }
        left -= count;
    }
    MPI_Waitsome(N, request, &count, indices, status);
    CHECK_EQ(count, MPI_UNDEFINED);
    MPI_Barrier(MPI_COMM_WORLD);
    post();
    for (int i = 0; i < N; i++) send_tag(i);
    for (int i = 0; i < N; i++) {
        MPI_Waitany(N, request, &index, &status[0]);
        CHECK(index >= 0 && index < N);
        CHECK_EQ(done[index]++, 1);
        right(&status[0], index);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A request freed while its message is under way: the message arrives all the same. */
static void freed(void)
{
    static int word[2];
    int got[2] = {-1, -1};
    MPI_Request r;
    word[0] = check_rank;
    word[1] = 77;
    MPI_Isend(word, 2, MPI_INT, next, 1, MPI_COMM_WORLD, &r);
    CHECK_EQ(MPI_Request_free(&r), MPI_SUCCESS);
    CHECK(r == MPI_REQUEST_NULL);
    MPI_Recv(got, 2, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got[0] == previous && got[1] == 77);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An array in which all is done is answered from its first request on, whatever another array has had. The requests of
 * long messages are not completed by the same code as those of short ones. */
static void in_order(int bytes)
{
    char *out = calloc(1, (size_t)bytes), *back = malloc((size_t)bytes);
    for (int round = 0; round < 3; round++) {
        MPI_Request r[4];
        for (int i = 0; i < 4; i++) MPI_Isend(out, bytes, MPI_CHAR, next, i, MPI_COMM_WORLD, &r[i]);
        for (int i = 0; i < 4; i++) MPI_Recv(back, bytes, MPI_CHAR, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        int flag = 0;
        while (!flag) MPI_Request_get_status(r[3], &flag, MPI_STATUS_IGNORE);
        for (int i = 0; i < 4; i++) {
            int index = -1, done = 1;
            if (i % 2) MPI_Waitany(4, r, &index, MPI_STATUS_IGNORE);
            else MPI_Testany(4, r, &index, &done, MPI_STATUS_IGNORE);
            CHECK_EQ(done, 1);
            CHECK_EQ(index, i);
        }
    }
    free(out);
    free(back);
}

/* The status of no operation has MPI_SUCCESS as its error, whichever function answers it. */
static void no_operation(void)
{
    enum { BEFORE = 12345 };
    MPI_Request none = MPI_REQUEST_NULL, still, both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[2];
    int flag, index, word = 1;
    MPI_Recv_init(&word, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, &still);
    MPI_Request *one[] = {&none, &still};
    for (int i = 0; i < 2; i++) {
        for (int way = 0; way < 9; way++) {
            s[0].MPI_ERROR = s[1].MPI_ERROR = BEFORE;
            if (way == 0) MPI_Wait(one[i], s);
            if (way == 1) MPI_Test(one[i], &flag, s);
            if (way == 2) MPI_Waitany(1, one[i], &index, s);
            if (way == 3) MPI_Testany(1, one[i], &index, &flag, s);
            if (way == 4) MPI_Waitall(1, one[i], s);
            if (way == 5) MPI_Testall(1, one[i], &flag, s);
            if (way == 6) MPI_Request_get_status(*one[i], &flag, s);
#if MPI_VERSION > 4 || MPI_VERSION == 4 && MPI_SUBVERSION >= 1
            if (way == 7) MPI_Request_get_status_any(1, one[i], &index, &flag, s);
            if (way == 8) MPI_Request_get_status_all(1, one[i], &flag, s);
#else
            if (way > 6) continue;
#endif
            CHECK_SAY(s->MPI_ERROR == MPI_SUCCESS, "way %d leaves error %d", way, s->MPI_ERROR);
            CHECK(s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG);
        }
    }
    s[0].MPI_ERROR = s[1].MPI_ERROR = BEFORE;
    MPI_Waitall(2, both, s);
    CHECK(s[0].MPI_ERROR == MPI_SUCCESS && s[1].MPI_ERROR == MPI_SUCCESS);
    MPI_Request_free(&still);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    null_requests();
    tests_wait_for_messages();
    all_at_once();
    freed();
    if (!check_library("Open MPI")) {
        in_order(4);
        in_order(300000);
    }
    no_operation();
    return check_end();
}
