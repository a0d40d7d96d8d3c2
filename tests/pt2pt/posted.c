/* Receives of short messages, posted and completed in every way, between messages and receives of other kinds: each
 * gets the message that MPI's order gives it.
 *
 * For one source and one communicator that is told without a clock: the first receive gets the first message that fits,
 * the second the first of the others, and so on. Sender and receiver draw the same plan and compute that. */
#include "../check.h"

enum { ROUNDS = 12, PER_PAIR = 40, COMMS = 2, TAGS = 4, LONG = 20000, NEVER = 99 };

struct plan {
    int tag[PER_PAIR], size[PER_PAIR];           /* of the messages */
    int want[PER_PAIR], gets[PER_PAIR];          /* of the receives: tag and message */
};

static uint64_t key(int round, int comm, int from, int to)
{
    return (((uint64_t)round * COMMS + (uint64_t)comm) * 64 + (uint64_t)from) * 64 + (uint64_t)to;
}

static int fits(int want, int tag) { return want == tag || want == MPI_ANY_TAG; }

static int match(struct plan *p)
{
    int taken[PER_PAIR] = {0};
    for (int i = 0; i < PER_PAIR; i++) {
        p->gets[i] = -1;
        for (int m = 0; m < PER_PAIR && p->gets[i] < 0; m++)
            if (!taken[m] && fits(p->want[i], p->tag[m])) {
                taken[m] = 1;
                p->gets[i] = m;
            }
        if (p->gets[i] < 0) { /* nothing left for it: let it be content with anything */
            p->want[i] = MPI_ANY_TAG;
            return 0;
        }
    }
    return 1;
}

static void draw(struct plan *p, uint64_t seed)
{
    check_stream s = check_seed(seed);
    for (int i = 0; i < PER_PAIR; i++) {
        p->tag[i] = check_below(&s, TAGS);
        int kind = check_below(&s, 20);
        p->size[i] = kind == 0 ? LONG : kind < 4 ? check_below(&s, 3000) : check_below(&s, 64);
        p->want[i] = check_below(&s, 6) == 0 ? MPI_ANY_TAG : check_below(&s, TAGS);
    }
    while (!match(p)) {}
}

static MPI_Comm comms[COMMS];

struct receive { int comm, source, index; unsigned char *buf; };

static void arrived(const struct receive *r, const MPI_Status *st, int round, const struct plan *p)
{
    int m = p->gets[r->index], n;
    MPI_Get_count(st, MPI_BYTE, &n);
    CHECK_SAY(st->MPI_SOURCE == r->source && st->MPI_TAG == p->tag[m] && n == p->size[m],
              "round %d, comm %d: receive %d from %d got source %d, tag %d, %d bytes, not tag %d, %d bytes", round,
              r->comm, r->index,
              r->source, st->MPI_SOURCE, st->MPI_TAG, n, p->tag[m], p->size[m]);
    CHECK_EQ(check_differs(r->buf, (size_t)n, key(round, r->comm, r->source, check_rank) * 100 + (uint64_t)m), -1);
}

/* Completes all requests in one of many ways; the statuses stand where the requests stood. */
static void finish(int way, int n, MPI_Request *q, MPI_Status *st, check_stream *s)
{
    static int at[COMMS * PER_PAIR * 8];
    static MPI_Status some[COMMS * PER_PAIR * 8];
    int flag = 0, k, left = n;
    switch (way) {
    case 0: CHECK_EQ(MPI_Waitall(n, q, st), MPI_SUCCESS); break;
    case 1:
        for (int i = 0, from = check_below(s, n); i < n; i++) {
            MPI_Wait(&q[(from + i * 7919) % n], &st[(from + i * 7919) % n]);
        }
        for (int i = 0; i < n; i++)
            if (q[i] != MPI_REQUEST_NULL) MPI_Wait(&q[i], &st[i]);
        break;
    case 2:
        while (left-- > 0) {
            MPI_Status one;
            MPI_Waitany(n, q, &k, &one);
            CHECK(k >= 0 && k < n);
            st[k] = one;
        }
        break;
    case 3:
        while (left > 0) {
            MPI_Waitsome(n, q, &k, at, some);
            CHECK(k > 0);
            for (int i = 0; i < k; i++) st[at[i]] = some[i];
            left -= k;
        }
        break;
    case 4:
        for (int i = 0; i < n; i++)
            for (flag = 0; !flag;) MPI_Test(&q[i], &flag, &st[i]);
        break;
    case 5:
        while (!flag) MPI_Testall(n, q, &flag, st);
        break;
    case 6:
        while (left > 0) {
            MPI_Status one;
            MPI_Testany(n, q, &k, &flag, &one);
            if (!flag) continue;
            CHECK(k >= 0 && k < n);
            st[k] = one;
            left--;
        }
        break;
    case 7:
        for (int i = 0; i < n; i++) {
            MPI_Status peek;
            for (flag = 0; !flag;) MPI_Request_get_status(q[i], &flag, &peek);
            MPI_Request same = MPI_Request_fromint(MPI_Request_toint(q[i]));
            CHECK(same == q[i]);
            MPI_Wait(&q[i], &st[i]);
            CHECK(peek.MPI_TAG == st[i].MPI_TAG && peek.MPI_SOURCE == st[i].MPI_SOURCE);
        }
        break;
    }
    for (int i = 0; i < n; i++) CHECK(q[i] == MPI_REQUEST_NULL);
}

enum { WAYS = 8 };

static void one_round(int round)
{
    static struct plan in[COMMS][8], out[COMMS][8];
    static unsigned char sent[COMMS][8][PER_PAIR][LONG];
    static unsigned char got[COMMS * PER_PAIR * 8][LONG];
    static struct receive list[COMMS * PER_PAIR * 8];
    static MPI_Request in_req[COMMS * PER_PAIR * 8], out_req[COMMS * PER_PAIR * 8];
    static MPI_Status st[COMMS * PER_PAIR * 8];
    check_stream s = check_seed((uint64_t)round * 1000 + (uint64_t)check_rank);
    int next_in[COMMS][8] = {{0}}, next_out[COMMS][8] = {{0}}, n = 0, sends = 0, total = COMMS * check_size * PER_PAIR;
    for (int c = 0; c < COMMS; c++)
        for (int p = 0; p < check_size; p++) {
            draw(&in[c][p], key(round, c, p, check_rank));
            draw(&out[c][p], key(round, c, check_rank, p));
        }
    MPI_Request cancelled;
    int dummy, never = check_below(&s, check_size);
    MPI_Irecv(&dummy, 1, MPI_INT, never, NEVER, comms[0], &cancelled);
    while (n < total || sends < total) {
        int c = check_below(&s, COMMS), p = check_below(&s, check_size);
        if (check_below(&s, 2) && next_out[c][p] < PER_PAIR) {
            int m = next_out[c][p]++, size = out[c][p].size[m];
            check_fill(sent[c][p][m], (size_t)size, key(round, c, check_rank, p) * 100 + (uint64_t)m);
            MPI_Isend(sent[c][p][m], size, MPI_BYTE, p, out[c][p].tag[m], comms[c], &out_req[sends++]);
        } else if (next_in[c][p] < PER_PAIR) {
            int i = next_in[c][p]++;
            list[n] = (struct receive){c, p, i, got[n]};
            MPI_Irecv(got[n], check_below(&s, 3) ? LONG : in[c][p].size[in[c][p].gets[i]], MPI_BYTE, p,
                      in[c][p].want[i], comms[c], &in_req[n]);
            n++;
        }
        int flag;
        if (check_below(&s, 16) == 0) {
            MPI_Iprobe(MPI_ANY_SOURCE, NEVER, comms[check_below(&s, COMMS)], &flag, MPI_STATUS_IGNORE);
        }
    }
    finish((round + check_rank) % WAYS, n, in_req, st, &s);
    for (int i = 0; i < n; i++) arrived(&list[i], &st[i], round, &in[list[i].comm][list[i].source]);
    MPI_Waitall(sends, out_req, MPI_STATUSES_IGNORE);
    MPI_Status end;
    int was;
    MPI_Cancel(&cancelled);
    MPI_Wait(&cancelled, &end);
    MPI_Test_cancelled(&end, &was);
    CHECK(was);
}

/* A message that is too long: the error, its class in the status, and the others unharmed. */
static void truncation(int peer)
{
    int out[3] = {1, 2, 3}, in[3] = {0};
    MPI_Request q[3];
    MPI_Status st[3];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(&in[0], 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &q[1]);
    MPI_Irecv(&in[2], 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &q[2]);
    MPI_Send(&out[0], 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
    MPI_Send(out, 2, MPI_INT, peer, 5, MPI_COMM_WORLD);
    MPI_Send(&out[2], 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Waitall(3, q, st), MPI_ERR_IN_STATUS);
    CHECK_EQ(st[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_CLASS(st[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK_EQ(st[2].MPI_ERROR, MPI_SUCCESS);
    CHECK(in[0] == 1 && in[1] == 1 && in[2] == 3);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A request that is over, or that stands twice in an array, is told. */
static void stale(int peer)
{
    int out = 7, in = 0;
    MPI_Request q, old[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(&in, 1, MPI_INT, peer, 6, MPI_COMM_WORLD, &q);
    old[0] = old[1] = q;
    MPI_Send(&out, 1, MPI_INT, peer, 6, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK_EQ(in, 7);
    CHECK_CLASS(MPI_Wait(&old[0], MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&old[0]), MPI_ERR_REQUEST);
    MPI_Irecv(&in, 1, MPI_INT, peer, 6, MPI_COMM_WORLD, &q);
    MPI_Send(&out, 1, MPI_INT, peer, 6, MPI_COMM_WORLD);
    old[0] = old[1] = q;
    int code = MPI_Waitall(2, old, MPI_STATUSES_IGNORE), class_;
    MPI_Error_class(code, &class_);
    CHECK(class_ == MPI_ERR_REQUEST || class_ == MPI_ERR_IN_STATUS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* What a program gave up, or whose communicator it gave up, still arrives. */
static void given_up(int peer)
{
    static int in[3], out[3] = {1, 2, 3};
    MPI_Request q[3];
    MPI_Comm dup;
    in[0] = in[1] = in[2] = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Irecv(&in[0], 1, MPI_INT, peer, 1, dup, &q[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, peer, 2, dup, &q[1]);
    MPI_Request_free(&q[0]);
    MPI_Isend(&out[0], 1, MPI_INT, peer, 1, dup, &q[2]);
    MPI_Wait(&q[2], MPI_STATUS_IGNORE);
    MPI_Isend(&out[1], 1, MPI_INT, peer, 2, dup, &q[2]);
    MPI_Comm_free(&dup);
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    MPI_Wait(&q[2], MPI_STATUS_IGNORE);
    CHECK(in[0] == 1 && in[1] == 2);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (int round = 0; round < ROUNDS; round++) one_round(round);
    int peer = check_rank ^ 1;
    if (peer >= check_size) peer = check_rank;
    truncation(peer);
    stale(peer);
    given_up(peer);
    MPI_Comm_free(&comms[1]);
    return check_end();
}
