/* What performance variables say is so: numbers of messages and bytes, lengths of queues, waits, algorithms. */
/* ranks: 1 2 4 */
#include "tool.h"

static MPI_T_pvar_session s;
static const char *classes[] = {"self", "machine", "client", "abroad"};

/* All that is counted of one direction, over the classes of peers. */
struct traffic { MPI_T_pvar_handle messages[4], bytes[4]; };

static void follow(struct traffic *t, const char *direction)
{
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "messages_%s_%s", direction, classes[i]);
        t->messages[i] = tool_started(s, name, MPI_T_PVAR_CLASS_COUNTER, NULL);
        snprintf(name, sizeof name, "bytes_%s_%s", direction, classes[i]);
        t->bytes[i] = tool_started(s, name, MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    }
}

static unsigned long long sum(const MPI_T_pvar_handle *h)
{
    unsigned long long n = 0;
    for (int i = 0; i < 4; i++) n += tool_read(s, h[i]);
    return n;
}

/* Messages around a ring, short and long, contiguous and not, by all ways of starting them. */
static void ring(void)
{
    enum { SHORT = 8, LONG = 300000, ROWS = 100 };
    static char out[LONG], in[LONG];
    const int next = (check_rank + 1) % check_size, last = (check_rank + check_size - 1) % check_size;
    struct traffic sent, received;
    MPI_Request r[2];
    MPI_Datatype column;
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Type_vector(ROWS, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Barrier(MPI_COMM_WORLD);

    OK(MPI_T_pvar_session_create(&s));
    follow(&sent, "sent");
    follow(&received, "received");
    MPI_T_pvar_handle eager = tool_started(s, "messages_eager", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle rendezvous = tool_started(s, "messages_rendezvous", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle matches = tool_started(s, "matches", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle rate = tool_started(s, "match_rate", MPI_T_PVAR_CLASS_GENERIC, NULL);
    MPI_T_pvar_handle packed = tool_started(s, "bytes_packed", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    MPI_T_pvar_handle of_dup = tool_started(s, "comm_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &dup);
    MPI_T_pvar_handle bytes_of_dup = tool_started(s, "comm_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, &dup);
    MPI_T_pvar_handle got_on_dup = tool_started(s, "comm_messages_received", MPI_T_PVAR_CLASS_COUNTER, &dup);
    MPI_T_pvar_handle bytes_on_dup = tool_started(s, "comm_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, &dup);

    for (int i = 0; i < 10; i++) {
        MPI_Irecv(in, SHORT, MPI_CHAR, last, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Send(out, SHORT, MPI_CHAR, next, 1, MPI_COMM_WORLD);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(in, LONG, MPI_CHAR, last, 2, dup, &r[0]);
        MPI_Isend(out, LONG, MPI_CHAR, next, 2, dup, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Sendrecv(out, 1, column, next, 3, in, 1, column, last, 3, dup, MPI_STATUS_IGNORE);
    MPI_Send_init(out, SHORT, MPI_CHAR, next, 4, dup, &r[0]);
    MPI_Recv_init(in, SHORT, MPI_CHAR, last, 4, dup, &r[1]);
    for (int i = 0; i < 5; i++) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);

    const unsigned long long column_bytes = ROWS * sizeof(int), on_dup = 3 * LONG + column_bytes + 5 * SHORT;
    CHECK_EQ(sum(sent.messages), 10 + 3 + 1 + 5);
    CHECK_EQ(sum(sent.bytes), 10 * SHORT + on_dup);
    CHECK_EQ(sum(received.messages), 10 + 3 + 1 + 5);
    CHECK_EQ(sum(received.bytes), 10 * SHORT + on_dup);
    CHECK_EQ(tool_read(s, of_dup), 3 + 1 + 5);
    CHECK_EQ(tool_read(s, bytes_of_dup), on_dup);
    CHECK_EQ(tool_read(s, got_on_dup), 3 + 1 + 5);
    CHECK_EQ(tool_read(s, bytes_on_dup), on_dup);
    CHECK_EQ(tool_read(s, matches), 19);
    CHECK(tool_read_double(s, rate) > 0);
    CHECK_EQ(tool_read(s, eager) + tool_read(s, rendezvous), 19);
    if (check_size > 1) {
        CHECK_EQ(tool_read(s, rendezvous), 3);
        CHECK_EQ(tool_read(s, packed), column_bytes);
        CHECK_EQ(tool_read(s, sent.messages[0]), 0);
        if (!check_spans()) CHECK_EQ(tool_read(s, sent.messages[1]), 19);
    } else {
        CHECK_EQ(tool_read(s, sent.messages[0]), 19);
        CHECK_EQ(tool_read(s, received.bytes[0]), 10 * SHORT + on_dup);
    }
    OK(MPI_T_pvar_session_free(&s));
    MPI_Type_free(&column);
    MPI_Comm_free(&dup);
}

/* Ten messages that nobody receives yet are ten unexpected ones, wherever they come from. */
static void queues(void)
{
    enum { MANY = 10 };
    const int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    int x[MANY], y;
    MPI_Request r[MANY];
    MPI_Comm dup, world = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    OK(MPI_T_pvar_session_create(&s));
    MPI_T_pvar_handle peak = tool_started(s, "unexpected_length", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    MPI_T_pvar_handle late = tool_handle(s, "unexpected_length", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    MPI_T_pvar_handle here = tool_handle(s, "comm_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &dup);
    MPI_T_pvar_handle there = tool_handle(s, "comm_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &world);
    MPI_T_pvar_handle arrivals = tool_started(s, "unexpected_arrivals", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle bytes = tool_handle(s, "unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, NULL);
    MPI_T_pvar_handle posted = tool_handle(s, "comm_posted_length", MPI_T_PVAR_CLASS_LEVEL, &dup);
    MPI_T_pvar_handle all_posted = tool_handle(s, "posted_length", MPI_T_PVAR_CLASS_LEVEL, NULL);
    MPI_T_pvar_handle active = tool_handle(s, "requests_active", MPI_T_PVAR_CLASS_LEVEL, NULL);
    unsigned long long before = tool_read(s, arrivals);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) {
        x[i] = i;
        MPI_Send(&x[i], 1, MPI_INT, to, i, dup);
    }
    MPI_Send(&y, 0, MPI_INT, to, MANY, dup);
    MPI_Recv(&y, 0, MPI_INT, from, MANY, dup, MPI_STATUS_IGNORE); /* the others were before it */
    CHECK_EQ(tool_read(s, here), MANY);
    CHECK_EQ(tool_read(s, there), 0);
    CHECK(tool_read(s, bytes) >= MANY * sizeof(int));
    CHECK(tool_read(s, arrivals) - before >= MANY);
    CHECK(tool_read(s, peak) >= MANY && tool_read(s, peak) <= MANY + 1 + (unsigned)check_size);
    OK(MPI_T_pvar_start(s, late));
    CHECK(tool_read(s, late) >= MANY);
    for (int i = 0; i < 4; i++) MPI_Recv(&y, 1, MPI_INT, from, MANY - 1 - i, dup, MPI_STATUS_IGNORE);
    CHECK_EQ(tool_read(s, here), MANY - 4);
    CHECK(tool_read(s, late) >= MANY);
    OK(MPI_T_pvar_reset(s, late));
    CHECK(tool_read(s, late) >= MANY - 4 && tool_read(s, late) < MANY);
    for (int i = 0; i < MANY - 4; i++) MPI_Recv(&y, 1, MPI_INT, from, i, dup, MPI_STATUS_IGNORE);
    CHECK_EQ(tool_read(s, here), 0);

    MPI_Barrier(MPI_COMM_WORLD);
    unsigned long long others = tool_read(s, active);
    for (int i = 0; i < MANY; i++) MPI_Irecv(&x[i], 1, MPI_INT, from, i, dup, &r[i]);
    CHECK_EQ(tool_read(s, posted), MANY);
    CHECK(tool_read(s, all_posted) >= MANY);
    CHECK_EQ(tool_read(s, active), others + MANY);
    OK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES)); /* the rest is C's again */
    CHECK_EQ(tool_read(s, posted), MANY);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) MPI_Send(&i, 1, MPI_INT, to, i, dup);
    MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
    CHECK_EQ(tool_read(s, posted), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) CHECK_EQ(x[i], i);

    /* What C posts while nobody watches is seen, too. */
    for (int i = 0; i < MANY; i++) MPI_Irecv(&x[i], 1, MPI_INT, from, i, dup, &r[i]);
    CHECK_EQ(tool_read(s, posted), MANY);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) MPI_Send(&i, 1, MPI_INT, to, i, dup);
    MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
    OK(MPI_T_pvar_session_free(&s));
    MPI_Comm_free(&dup);
}

/* Rank 0 comes late to a barrier, and the others wait for it. The machine may run one of them as late as rank 0, so
   that it waits for nobody: it all is done again then. */
static void waits(void)
{
    OK(MPI_T_pvar_session_create(&s));
    MPI_T_pvar_handle count = tool_started(s, "waits", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle waiting = tool_started(s, "time_waiting", MPI_T_PVAR_CLASS_TIMER, NULL);
    double waited = 0;
    int seen = 0;
    for (int i = 0; i < 100 && !seen; i++) {
        double start = MPI_Wtime(), before = tool_read_double(s, waiting);
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        if (check_rank == 0)
            while (MPI_Wtime() < begin + 0.05) {}
        MPI_Barrier(MPI_COMM_WORLD);
        waited = tool_read_double(s, waiting) - before;
        double took = MPI_Wtime() - start;
        CHECK_SAY(waited >= 0 && waited <= took + 1e-3, "waited %f s of %f", waited, took);
        seen = check_rank == 0 || waited > 0.03;
        MPI_Allreduce(MPI_IN_PLACE, &seen, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    }
    CHECK_SAY(seen, "waited %f s the last time", waited);
    if (check_rank > 0) CHECK(tool_read(s, count) > 0);
    OK(MPI_T_pvar_session_free(&s));
}

/* Collective operations, and the algorithms that carry them out. */
static void collectives(void)
{
    int num;
    double in = 1, out = 0;
    static double vector[100000], sums[100000];
    MPI_Comm dup;
    MPI_Request r;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Barrier(dup); /* before the first operation its ranks may find out by an allreduce who carries them out */
    OK(MPI_T_pvar_session_create(&s));
    MPI_T_pvar_handle on_dup = tool_started(s, "comm_collectives", MPI_T_PVAR_CLASS_COUNTER, &dup);
    MPI_T_pvar_handle all = tool_started(s, "collectives", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle algorithms[200];
    int many = 0;
    OK(MPI_T_pvar_get_num(&num));
    for (int i = 0; i < num; i++) {
        char name[64];
        int n = sizeof name, class_;
        OK(MPI_T_pvar_get_info(i, name, &n, NULL, &class_, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        if (!strncmp(name, "algorithm_allreduce_", 20)) algorithms[many++] = tool_started(s, name, class_, NULL);
    }
    CHECK(many > 1);
    for (int i = 0; i < 4; i++) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, dup);
    CHECK(out == check_size);
    MPI_Allreduce(vector, sums, 100000, MPI_DOUBLE, MPI_SUM, dup);
    MPI_Ibarrier(dup, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Bcast(&in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    CHECK_EQ(tool_read(s, on_dup), 6);
    CHECK_EQ(tool_read(s, all), 7);
    unsigned long long calls = 0;
    for (int i = 0; i < many; i++) calls += tool_read(s, algorithms[i]);
    if (check_size > 1 && !check_spans()) CHECK(calls >= 1 && calls <= 5);
    OK(MPI_T_pvar_session_free(&s));
    MPI_Comm_free(&dup);
}

static void memory(void)
{
    OK(MPI_T_pvar_session_create(&s));
    CHECK(tool_read(s, tool_handle(s, "memory_go", MPI_T_PVAR_CLASS_LEVEL, NULL)) > 1 << 20);
    CHECK(tool_read(s, tool_handle(s, "memory_shared", MPI_T_PVAR_CLASS_SIZE, NULL)) > 4096);
    CHECK(tool_read(s, tool_handle(s, "requests_kept", MPI_T_PVAR_CLASS_LEVEL, NULL)) > 0);
    OK(MPI_T_pvar_session_free(&s));
}

/* Packets go to other clients, or by another library, and else inside a machine there are none. */
static void network(void)
{
    int x = 0, y, next = (check_rank + 1) % check_size, last = (check_rank + check_size - 1) % check_size;
    OK(MPI_T_pvar_session_create(&s));
    MPI_T_pvar_handle out = tool_handle(s, "packets_sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle in = tool_handle(s, "packets_received", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle waits_ = tool_handle(s, "acknowledgement_waits", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle again = tool_handle(s, "retransmissions", MPI_T_PVAR_CLASS_COUNTER, NULL);
    struct traffic sent;
    follow(&sent, "sent");
    for (int i = 0; i < 20; i++)
        MPI_Sendrecv(&x, 1, MPI_INT, next, 1, &y, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    unsigned long long abroad = tool_read(s, sent.messages[3]);
    CHECK(abroad == 0 || abroad == 20);
    CHECK(tool_read(s, out) >= abroad);
    if (check_vendor()) CHECK(tool_read(s, out) >= (check_size > 1 ? 20 : 0));
    else if (!check_spans()) {
        CHECK_EQ(tool_read(s, out), 0);
        CHECK_EQ(tool_read(s, in), 0);
    }
    CHECK(tool_read(s, waits_) < 1000 && tool_read(s, again) < 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_T_pvar_session_free(&s));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    tool_start();
    ring();
    queues();
    waits();
    collectives();
    memory();
    network();
    ring(); /* once more, after all that */
    OK(MPI_T_finalize());
    return check_end();
}
