/* Errors in each form of wait and test, statuses filled by hand, MPI_PROC_NULL in the functions that procnull.c leaves
 * out, and counts beyond 2^31 of a type without size. */
/* ranks: 1 2 3 */
#include "../check.h"

enum { N = 3, BAD = 1 };

static int next, previous;
static MPI_Comm comm;

/* Three receives, of which one is too short; all messages are here. */
static void start(MPI_Request *q, int *in)
{
    int out[2] = {5, 6}, token = 0, echo;
    MPI_Request sends[N];
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, previous, i, comm, &q[i]);
    }
    for (int i = 0; i < N; i++) MPI_Isend(out, i == BAD ? 2 : 1, MPI_INT, next, i, comm, &sends[i]);
    MPI_Waitall(N, sends, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(&token, 1, MPI_INT, next, 9, &echo, 1, MPI_INT, previous, 9, comm, MPI_STATUS_IGNORE);
}

static int class_of(int code)
{
    int class_ = -1;
    MPI_Error_class(code, &class_);
    return class_;
}

/* Of several that are done: which class the call gives, and which the statuses. */
static void seen(int code, int n, const int *at, const MPI_Status *s, int *failed)
{
    int bad = 0;
    for (int i = 0; i < n; i++) bad += at[i] == BAD;
    CHECK_EQ(class_of(code), bad ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
    for (int i = 0; s && bad && i < n; i++) {
        CHECK_EQ(class_of(s[i].MPI_ERROR), at[i] == BAD ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
    *failed += bad;
}

static void errors(int with_status)
{
    MPI_Request q[N];
    MPI_Status s[N], *all = with_status ? s : MPI_STATUSES_IGNORE;
    static const int order[N] = {0, 1, 2};
    int in[N], at[N], flag, index, n, code, failed = 0;
    memset(s, 0x55, sizeof s);
    start(q, in);
    seen(MPI_Waitall(N, q, all), N, order, with_status ? s : NULL, &failed);
    start(q, in);
    memset(s, 0x55, sizeof s);
    do code = MPI_Testall(N, q, &flag, all);
    while (!flag && code == MPI_SUCCESS);
    seen(code, N, order, with_status ? s : NULL, &failed);
    start(q, in);
    for (int left = N; left > 0; left -= n) {
        memset(s, 0x55, sizeof s);
        code = MPI_Waitsome(N, q, &n, at, all);
        CHECK(n > 0 && n <= left);
        seen(code, n, at, with_status ? s : NULL, &failed);
    }
    start(q, in);
    for (int left = N; left > 0; left -= n) {
        memset(s, 0x55, sizeof s);
        code = MPI_Testsome(N, q, &n, at, all);
        CHECK(n >= 0 && n <= left);
        seen(code, n, at, with_status ? s : NULL, &failed);
    }
    CHECK_EQ(failed, 4);
    start(q, in);
    for (int left = N; left > 0; left--) {
        code = MPI_Waitany(N, q, &index, with_status ? s : MPI_STATUS_IGNORE);
        CHECK_EQ(class_of(code), index == BAD ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
    start(q, in);
    for (int left = N; left > 0; left -= flag) {
        code = MPI_Testany(N, q, &index, &flag, with_status ? s : MPI_STATUS_IGNORE);
        CHECK_EQ(class_of(code), flag && index == BAD ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
    start(q, in);
    CHECK_EQ(class_of(MPI_Wait(&q[BAD], with_status ? s : MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    for (flag = 0; !flag;) MPI_Request_get_status(q[0], &flag, with_status ? s : MPI_STATUS_IGNORE);
    CHECK_EQ(MPI_Wait(&q[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&q[2], MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < N; i++) CHECK(q[i] == MPI_REQUEST_NULL);
    CHECK(in[0] == 5 && in[2] == 5);
}

static void by_hand(void)
{
#if MPI_VERSION > 4 || MPI_VERSION == 4 && MPI_SUBVERSION >= 1
    MPI_Status s;
    MPI_Count big = ((MPI_Count)1 << 33) + 1, wide = -1;
    int v = -1;
    memset(&s, 0, sizeof s);
    MPI_Status_set_source(&s, 11);
    MPI_Status_set_tag(&s, 12);
    MPI_Status_set_error(&s, MPI_ERR_TAG);
    MPI_Status_get_source(&s, &v);
    CHECK(v == 11 && s.MPI_SOURCE == 11);
    MPI_Status_get_tag(&s, &v);
    CHECK(v == 12 && s.MPI_TAG == 12);
    MPI_Status_get_error(&s, &v);
    CHECK(v == MPI_ERR_TAG && s.MPI_ERROR == MPI_ERR_TAG);
    MPI_Status_set_elements_c(&s, MPI_DOUBLE, big);
    MPI_Get_elements_c(&s, MPI_DOUBLE, &wide);
    CHECK_EQ(wide, big);
    MPI_Get_count_c(&s, MPI_DOUBLE, &wide);
    CHECK_EQ(wide, big);
    MPI_Get_count(&s, MPI_DOUBLE, &v);
    CHECK_EQ(v, MPI_UNDEFINED);
    MPI_Get_elements(&s, MPI_DOUBLE, &v);
    CHECK_EQ(v, MPI_UNDEFINED);
    MPI_Status_set_elements_x(&s, MPI_CHAR, 7);
    MPI_Get_count(&s, MPI_CHAR, &v);
    CHECK_EQ(v, 7);
    CHECK(s.MPI_SOURCE == 11 && s.MPI_TAG == 12 && s.MPI_ERROR == MPI_ERR_TAG); /* the count is apart */
#endif
}

static void nothing(const MPI_Status *s)
{
    int n = -1;
    CHECK_EQ(s->MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(s->MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(s, MPI_INT, &n);
    CHECK_EQ(n, 0);
}

static void nobody(void)
{
    static int (*const init[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
        MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};
    static int (*const immediate[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
        MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend};
    int word = 42, flag = 0;
    MPI_Request q;
    MPI_Status s;
    MPI_Message m = MPI_MESSAGE_NULL;
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(immediate[i](&word, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &q), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(init[i](&word, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &q), MPI_SUCCESS);
        for (int turn = 0; turn < 2; turn++) {
            CHECK_EQ(MPI_Start(&q), MPI_SUCCESS);
            CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
        MPI_Request_free(&q);
    }
    CHECK_EQ(MPI_Bsend(&word, 1, MPI_INT, MPI_PROC_NULL, 1, comm), MPI_SUCCESS);
    MPI_Recv_init(&word, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &q);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Start(&q);
        memset(&s, 0x55, sizeof s);
        MPI_Wait(&q, &s);
        nothing(&s);
    }
    MPI_Request_free(&q);
    memset(&s, 0x55, sizeof s);
    MPI_Improbe(MPI_PROC_NULL, 3, comm, &flag, &m, &s);
    CHECK(flag == 1 && m == MPI_MESSAGE_NO_PROC);
    nothing(&s);
    MPI_Imrecv(&word, 1, MPI_INT, &m, &q);
    CHECK(m == MPI_MESSAGE_NULL);
    memset(&s, 0x55, sizeof s);
    MPI_Wait(&q, &s);
    nothing(&s);
    memset(&s, 0x55, sizeof s);
    MPI_Sendrecv(&word, 1, MPI_INT, MPI_PROC_NULL, 0, &word, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &s);
    nothing(&s);
#if MPI_VERSION >= 4
    MPI_Isendrecv(&word, 1, MPI_INT, MPI_PROC_NULL, 0, &flag, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &q);
    memset(&s, 0x55, sizeof s);
    MPI_Wait(&q, &s);
    nothing(&s);
    MPI_Isendrecv_replace(&word, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, comm, &q);
    memset(&s, 0x55, sizeof s);
    MPI_Wait(&q, &s);
    nothing(&s);
#endif
    CHECK_EQ(word, 42);
}

/* As many elements as no int counts, of a type that has none. */
static void beyond_ints(void)
{
#if MPI_VERSION >= 4
    MPI_Count many = ((MPI_Count)3 << 31) + 5, n = -1;
    MPI_Datatype none;
    MPI_Request q[2];
    MPI_Status s;
    MPI_Message m;
    int buf = 42;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    MPI_Irecv_c(&buf, many, none, previous, 1, comm, &q[0]);
    MPI_Send_c(&buf, many, none, next, 1, comm);
    MPI_Wait(&q[0], &s);
    MPI_Get_count_c(&s, MPI_BYTE, &n);
    CHECK_EQ(n, 0);
    MPI_Isend_c(&buf, many, none, next, 2, comm, &q[0]);
    MPI_Issend_c(&buf, many, none, next, 2, comm, &q[1]);
    MPI_Mprobe(previous, 2, comm, &m, &s);
    MPI_Mrecv_c(&buf, many, none, &m, &s);
    MPI_Recv_c(&buf, many, none, previous, 2, comm, &s);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Sendrecv_c(&buf, many, none, next, 3, &n, many, none, previous, 3, comm, &s);
    MPI_Sendrecv_replace_c(&buf, many, none, next, 3, previous, 3, comm, &s);
    MPI_Isendrecv_c(&buf, many, none, next, 3, &n, many, none, previous, 3, comm, &q[0]);
    MPI_Wait(&q[0], &s);
    MPI_Isendrecv_replace_c(&buf, many, none, next, 3, previous, 3, comm, &q[0]);
    MPI_Wait(&q[0], &s);
    MPI_Recv_init_c(&buf, many, none, previous, 4, comm, &q[0]);
    MPI_Send_init_c(&buf, many, none, next, 4, comm, &q[1]);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Startall(2, q);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    CHECK_EQ(buf, 42);
    MPI_Type_free(&none);
#endif
}

/* Freed while they are under way: a long send, and a receive whose message comes later. */
static void freed(void)
{
    enum { LONG = 300000 };
    static unsigned char out[LONG], in[LONG];
    int token = 0, echo, late = -1;
    MPI_Request q;
    MPI_Irecv(&late, 1, MPI_INT, previous, 6, comm, &q);
    CHECK_EQ(MPI_Request_free(&q), MPI_SUCCESS);
    check_fill(out, LONG, (uint64_t)check_rank);
    MPI_Isend(out, LONG, MPI_BYTE, next, 5, comm, &q);
    CHECK_EQ(MPI_Request_free(&q), MPI_SUCCESS);
    MPI_Send(&check_rank, 1, MPI_INT, next, 6, comm);
    MPI_Recv(in, LONG, MPI_BYTE, previous, 5, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(check_differs(in, LONG, (uint64_t)previous), -1);
    MPI_Sendrecv(&token, 1, MPI_INT, next, 9, &echo, 1, MPI_INT, previous, 9, comm, MPI_STATUS_IGNORE);
    CHECK_EQ(late, previous); /* it was sent before the token, and arrived before it */
    MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (!check_library("libimpi")) return check_end(); /* the others differ in whom they tell, and in what they have */
    next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    errors(1);
    errors(0);
    by_hand();
    nobody();
    beyond_ints();
    freed();
    MPI_Comm_free(&comm);
    return check_end();
}
