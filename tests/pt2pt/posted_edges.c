/* Receives whose message is there before anybody asks for them: what may be done with them until they are completed,
 * with their communicator freed in between; very many of them; and what may not be done with them. */
#include "../check.h"

enum { MANY = 3000, WAYS = 7 };

static int next, previous;

/* Sends a number on a communicator with each of the tags, and returns when those of the previous rank are all here: the
 * message on the world that follows them has been received. */
static void exchange(MPI_Comm comm, int tags)
{
    int token = 0, echo = -1;
    for (int t = 0; t < tags; t++) {
        int word = check_rank * 1000 + t;
        MPI_Send(&word, 1, MPI_INT, next, t, comm);
    }
    MPI_Sendrecv(&token, 1, MPI_INT, next, 77, &echo, 1, MPI_INT, previous, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void right(const MPI_Status *s, int tag, int word)
{
    int n = -1;
    CHECK_EQ(s->MPI_SOURCE, previous);
    CHECK_EQ(s->MPI_TAG, tag);
    MPI_Get_count(s, MPI_INT, &n);
    CHECK_EQ(n, 1);
    CHECK_EQ(word, previous * 1000 + tag);
}

/* Each way to complete a request must know those whose communicator is gone. */
static void communicator_gone(int way)
{
    enum { N = 3 };
    int in[N], index = -1, n = -1, at[N], flag = 0, left = N;
    MPI_Comm comm, later;
    MPI_Request q[N];
    MPI_Status s[N], one;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int t = 0; t < N; t++) MPI_Irecv(&in[t], 1, MPI_INT, previous, t == 1 ? MPI_ANY_TAG : t, comm, &q[t]);
    exchange(comm, N);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank, 0, &later); /* a smaller one may take its place */
    switch (way) {
    case 0:
        while (left-- > 0) {
            MPI_Waitany(N, q, &index, &one);
            s[index] = one;
        }
        break;
    case 1:
        for (; left > 0; left -= n) {
            MPI_Status some[N];
            MPI_Waitsome(N, q, &n, at, some);
            for (int i = 0; i < n; i++) s[at[i]] = some[i];
        }
        break;
    case 2: MPI_Waitall(N, q, s); break;
    case 3:
        while (!flag) MPI_Testall(N, q, &flag, s);
        break;
    case 4:
        for (int t = 0; t < N; t++) {
            do MPI_Request_get_status(q[t], &flag, &one);
            while (!flag);
            right(&one, t, in[t]);
            CHECK_EQ(MPI_Cancel(&q[t]), MPI_SUCCESS);
            MPI_Wait(&q[t], &s[t]);
            MPI_Test_cancelled(&s[t], &flag);
            CHECK_EQ(flag, 0);
        }
        break;
    case 5:
        for (int t = 0; t < N; t++) {
            for (flag = 0; !flag;) MPI_Testany(1, &q[t], &index, &flag, &s[t]);
            CHECK_EQ(index, 0);
        }
        break;
    case 6:
        for (int t = 0; t < N; t++) { /* nobody asks for the result */
            do MPI_Request_get_status(q[t], &flag, &s[t]);
            while (!flag);
            CHECK_EQ(MPI_Request_free(&q[t]), MPI_SUCCESS);
        }
        break;
    }
    for (int t = 0; t < N; t++) {
        right(&s[t], t, in[t]);
        CHECK(q[t] == MPI_REQUEST_NULL);
    }
    MPI_Comm_free(&later);
}

/* More than any table may have room for, completed from the last one. */
static void very_many(void)
{
    static int in[MANY], out[MANY];
    static MPI_Request q[MANY], sends[MANY];
    MPI_Status s;
    for (int i = 0; i < MANY; i++) {
        in[i] = -1, out[i] = check_rank + i;
        MPI_Irecv(&in[i], 1, MPI_INT, previous, i % 7, MPI_COMM_WORLD, &q[i]);
    }
    for (int i = 0; i < MANY; i++) MPI_Isend(&out[i], 1, MPI_INT, next, i % 7, MPI_COMM_WORLD, &sends[i]);
    for (int i = MANY - 1; i >= 0; i--) {
        MPI_Wait(&q[i], &s);
        CHECK_EQ(s.MPI_TAG, i % 7);
        CHECK_EQ(in[i], previous + i);
    }
    MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
}

/* Cancelling every other one leaves the messages to the rest, in order. */
static void every_other(void)
{
    enum { N = 20 };
    int in[N], flag = -1, took;
    MPI_Request q[N];
    MPI_Status s;
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, previous, i % 4 < 2 ? MPI_ANY_TAG : 0, MPI_COMM_WORLD, &q[i]);
    }
    for (int i = 0; i < N; i += 2) {
        MPI_Cancel(&q[i]);
        MPI_Wait(&q[i], &s);
        MPI_Test_cancelled(&s, &flag);
        CHECK_EQ(flag, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N / 2; i++) MPI_Send(&i, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    took = 0;
    for (int i = 1; i < N; i += 2) {
        MPI_Wait(&q[i], &s);
        CHECK_EQ(in[i], took++);
        CHECK_EQ(in[i - 1], -1);
    }
}

/* A receive is not a persistent, partitioned or generalized request; being told so does it no harm. */
static void wrong_uses(int arrived)
{
    int in = -1, flag = -1;
    MPI_Request q, copy;
    MPI_Status s;
    if (!check_library("libimpi")) return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(&in, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, &q);
    if (arrived) exchange(MPI_COMM_WORLD, 1);
    CHECK_CLASS(MPI_Start(&q), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Startall(1, &q), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Pready(0, q), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Parrived(q, 0, &flag), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Grequest_complete(q), MPI_ERR_REQUEST);
    CHECK(MPI_Request_fromint(MPI_Request_toint(q)) == q);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(q)) == q);
    copy = q;
    if (!arrived) exchange(MPI_COMM_WORLD, 1);
    MPI_Wait(&q, &s);
    right(&s, 0, in);
    CHECK_CLASS(MPI_Start(&copy), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_get_status(copy, &flag, &s), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Request_free(&copy), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Test(&copy, &flag, &s), MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    for (int way = 0; way < WAYS; way++) communicator_gone(way);
    very_many();
    every_other();
    wrong_uses(0);
    wrong_uses(1);
    return check_end();
}
