/* Messages to oneself and to the next rank by all ways that a library may have for them, mixed at random: short and
 * long, contiguous and not, expected and unexpected, nonblocking, synchronous and persistent, completed by all forms
 * of wait and test. Messages with one tag must arrive in the order in which they were sent, each with its own
 * contents. */
/* ranks: 1 2 3 8 */
#include "../check.h"

enum { ROUNDS = 150, MESSAGES = 12, TAGS = 3, UNUSED = 99, LONGEST = 40000, KINDS = 6, LENGTHS = 9 };

static const int lengths[LENGTHS] = {0, 1, 10, 11, 256, 1000, 4097, 4100, LONGEST / 4};
static unsigned state;

static unsigned draw(unsigned n) { return ((state = state * 1664525u + 1013904223u) >> 8) % n; }

struct message {
    int tag, ints, kind; /* kind: of send and of receive, as the number of both decides */
    int *out, *in, *rows;
    MPI_Request persistent_send, persistent_receive;
};

static struct message messages[MESSAGES];
static MPI_Datatype every_other;

static int value(int round, int i, int k) { return round * 1000003 + i * 1009 + k; }

static MPI_Request start_send(struct message *m, int to, int round, int i)
{
    MPI_Request r;
    for (int k = 0; k < m->ints; k++) m->out[k] = value(round, i, k);
    switch (m->kind % KINDS) {
    case 0: MPI_Issend(m->out, m->ints, MPI_INT, to, m->tag, MPI_COMM_WORLD, &r); break;
    case 1: MPI_Isend_c(m->out, m->ints, MPI_INT, to, m->tag, MPI_COMM_WORLD, &r); break;
    case 2:
        MPI_Send_init(m->out, m->ints, MPI_INT, to, m->tag, MPI_COMM_WORLD, &m->persistent_send);
        MPI_Start(&m->persistent_send);
        r = m->persistent_send;
        break;
    default: MPI_Isend(m->out, m->ints, MPI_INT, to, m->tag, MPI_COMM_WORLD, &r);
    }
    return r;
}

static MPI_Request start_receive(struct message *m, int from)
{
    MPI_Request r;
    memset(m->rows, 0xff, sizeof(int) * 2 * LONGEST / 4);
    switch (m->kind / KINDS % KINDS) {
    case 0: MPI_Irecv(m->in, m->ints, MPI_INT, MPI_ANY_SOURCE, m->tag, MPI_COMM_WORLD, &r); break;
    case 1:
        MPI_Recv_init(m->in, LONGEST / 4, MPI_INT, from, m->tag, MPI_COMM_WORLD, &m->persistent_receive);
        MPI_Startall(1, &m->persistent_receive);
        r = m->persistent_receive;
        break;
    case 2: MPI_Irecv(m->rows, m->ints, every_other, from, m->tag, MPI_COMM_WORLD, &r); break;
    case 3: MPI_Irecv_c(m->in, LONGEST / 4, MPI_INT, from, m->tag, MPI_COMM_WORLD, &r); break;
    default: MPI_Irecv(m->in, m->ints, MPI_INT, from, m->tag, MPI_COMM_WORLD, &r);
    }
    return r;
}

static void check_message(const struct message *m, const MPI_Status *status, int from, int round, int i)
{
    int n, rows = m->kind / KINDS % KINDS == 2;
    CHECK_EQ(status->MPI_SOURCE, from);
    CHECK_EQ(status->MPI_TAG, m->tag);
    MPI_Get_count(status, MPI_INT, &n);
    CHECK_EQ(n, m->ints);
    for (int k = 0; k < m->ints; k++) CHECK_EQ(rows ? m->rows[2 * k] : m->in[k], value(round, i, k));
}

/* Completes all requests in one of the ways, and keeps the status of each. */
static void complete(int n, MPI_Request requests[], MPI_Status statuses[], int way)
{
    int flag = 0, index, count, indices[2 * MESSAGES];
    MPI_Status some[2 * MESSAGES];
    switch (way) {
    case 0: MPI_Waitall(n, requests, statuses); break;
    case 1:
        while (!flag) MPI_Testall(n, requests, &flag, statuses);
        break;
    case 2:
        for (int i = 0; i < n; i++) {
            MPI_Waitany(n, requests, &index, some);
            CHECK(index >= 0 && index < n);
            statuses[index] = some[0];
        }
        break;
    case 3:
        for (int left = n; left > 0; left -= flag) {
            MPI_Testany(n, requests, &index, &flag, some);
            if (flag) statuses[index] = some[0];
        }
        break;
    case 4:
    case 5:
        for (int left = n; left > 0; left -= count) {
            if (way == 4) MPI_Waitsome(n, requests, &count, indices, some);
            else MPI_Testsome(n, requests, &count, indices, some);
            for (int i = 0; i < count; i++) statuses[indices[i]] = some[i];
        }
        break;
    case 6:
        for (int i = n - 1; i >= 0; i--) {
            MPI_Request_get_status(requests[i], &flag, some);
            MPI_Wait(&requests[i], &statuses[i]);
        }
        break;
    default:
        for (int i = 0; i < n; i++)
            for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, &statuses[i]);
    }
}

/* Messages to the next rank have other tags than those to oneself: a receive from any source must not take one that
 * is early. */
static void run(int round, int distance)
{
    int to = (check_rank + distance) % check_size, from = (check_rank + check_size - distance) % check_size;
    MPI_Request requests[2 * MESSAGES];
    MPI_Status statuses[2 * MESSAGES];
    int n = 1 + (int)draw(MESSAGES), sent = 0, received = 0, way = (int)draw(8);
    for (int i = 0; i < n; i++) {
        struct message *m = &messages[i];
        m->tag = (int)draw(TAGS) + distance * TAGS;
        m->ints = lengths[draw(LENGTHS)];
        m->kind = (int)draw(KINDS * KINDS);
        m->persistent_send = m->persistent_receive = MPI_REQUEST_NULL;
    }
    while (sent < n || received < n) {
        if (received == n || (sent < n && draw(2))) {
            requests[sent] = start_send(&messages[sent], to, round, sent);
            sent++;
        } else {
            requests[n + received] = start_receive(&messages[received], from);
            received++;
        }
        if (draw(4) == 0) {
            int flag;
            MPI_Iprobe(from, UNUSED, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
    }
    complete(2 * n, requests, statuses, way);
    for (int i = 0; i < n; i++) {
        struct message *m = &messages[i];
        check_message(m, &statuses[n + i], from, round, i);
        if (m->persistent_send != MPI_REQUEST_NULL) MPI_Request_free(&m->persistent_send);
        else CHECK(requests[i] == MPI_REQUEST_NULL);
        if (m->persistent_receive != MPI_REQUEST_NULL) MPI_Request_free(&m->persistent_receive);
        else CHECK(requests[n + i] == MPI_REQUEST_NULL);
    }
}

/* Many messages to oneself, of all of which the first receive comes after the last send; then each way of taking
 * them. */
static void flood(void)
{
    enum { MANY = 3000 };
    static int out[200], in[200];
    MPI_Status st;
    for (int i = 0; i < MANY; i++) {
        MPI_Request r;
        for (int k = 0; k < 200; k++) out[k] = i + k;
        MPI_Isend(out, i % 200, MPI_INT, check_rank, 7, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < MANY; i++) {
        int n;
        if (i % 3 == 0) {
            MPI_Probe(check_rank, 7, MPI_COMM_WORLD, &st);
            MPI_Get_count(&st, MPI_INT, &n);
            CHECK_EQ(n, i % 200);
        }
        MPI_Recv(in, 200, MPI_INT, i % 2 ? MPI_ANY_SOURCE : check_rank, i % 5 ? 7 : MPI_ANY_TAG, MPI_COMM_WORLD, &st);
        MPI_Get_count(&st, MPI_INT, &n);
        CHECK_EQ(n, i % 200);
        for (int k = 0; k < n; k++) CHECK_EQ(in[k], i + k);
    }
}

/* Persistent requests that are started and then meet what only the whole of the library can do. */
static void persistent_ends(void)
{
    int in = 0, out = 5, flag;
    MPI_Request r, s;
    MPI_Status st;
    MPI_Recv_init(&in, 1, MPI_INT, check_rank, 8, MPI_COMM_WORLD, &r);
    MPI_Send_init(&out, 1, MPI_INT, check_rank, 8, MPI_COMM_WORLD, &s);

    MPI_Wait(&r, &st); /* inactive */
    CHECK_EQ(st.MPI_SOURCE, MPI_ANY_SOURCE);

    MPI_Start(&r); /* taken back */
    MPI_Cancel(&r);
    MPI_Wait(&r, &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK(flag);

    MPI_Start(&r); /* looked at, then started twice */
    MPI_Request_get_status(r, &flag, &st);
    CHECK(!flag);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Start(&r) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Start(&s);
    MPI_Request_get_status(s, &flag, &st);
    CHECK(flag);
    MPI_Wait(&s, &st);
    MPI_Wait(&r, &st);
    CHECK_EQ(in, 5);
    CHECK_EQ(st.MPI_SOURCE, check_rank);

    MPI_Start(&r); /* given up while active: what it does goes on */
    MPI_Request_free(&r);
    CHECK(r == MPI_REQUEST_NULL);
    out = 6;
    MPI_Start(&s);
    MPI_Wait(&s, &st);
    MPI_Iprobe(check_rank, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    CHECK_EQ(in, 6);
    MPI_Start(&s); /* given up when over; the message is there */
    MPI_Request_free(&s);
    MPI_Recv(&in, 1, MPI_INT, check_rank, 8, MPI_COMM_WORLD, &st);
    CHECK_EQ(in, 6);
}

/* A persistent receive of a communicator that is freed before its message comes. */
static void freed_communicator(void)
{
    int in = 0, out = 9;
    MPI_Comm c;
    MPI_Request r, s;
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    MPI_Recv_init(&in, 1, MPI_INT, 0, 1, c, &r);
    MPI_Send_init(&out, 1, MPI_INT, 0, 1, c, &s);
    MPI_Start(&r);
    MPI_Comm_free(&c);
    MPI_Start(&s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(in, 9);
    MPI_Request_free(&r);
    MPI_Request_free(&s);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
    MPI_Type_commit(&every_other);
    for (int i = 0; i < MESSAGES; i++) {
        messages[i].out = malloc(LONGEST);
        messages[i].in = malloc(LONGEST);
        messages[i].rows = malloc(2 * LONGEST);
    }
    state = 12345; /* the same at all ranks: one's receives are its predecessor's sends */
    for (int round = 0; round < ROUNDS; round++) run(round, (int)draw(2));
    MPI_Barrier(MPI_COMM_WORLD);
    flood();
    persistent_ends();
    freed_communicator();
    MPI_Type_free(&every_other);
    return check_end();
}
