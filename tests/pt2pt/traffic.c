/* Random traffic, the same plan on every rank: each message has a source, a target, a tag, a length and a mode,
 * drawn from a seeded stream. Receivers take them by exact envelope, by sender, or from anywhere, some through
 * probes; every byte is checked, and every message must come exactly once.
 *
 *   traffic [seed [messages]]
 */
#include "../check.h"

enum { MESSAGES = 1200, LONGEST = 200000, BATCH = 150, TAGS = 3 };

typedef struct { int from, to, tag, bytes, mode; } Message;

static int draw_length(check_stream *s)
{
    int bits = check_below(s, 18);
    int n = check_below(s, 2 << bits);
    return n < LONGEST ? n : LONGEST;
}

static void start_send(const Message *m, unsigned char *buf, int id, MPI_Request *request)
{
    memcpy(buf, &id, sizeof id);
    check_fill(buf + sizeof id, (size_t)m->bytes, (uint64_t)id);
    int n = m->bytes + (int)sizeof id;
    if (m->mode == 0) MPI_Issend(buf, n, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, request);
    else MPI_Isend(buf, n, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, request);
}

/* Receive one message; it names itself by its first word. wild: 1 any source and tag, 2 any source, 0 neither. */
static void take(const Message *plan, int count, int wild, char *seen, int *last, const Message *expected)
{
    static unsigned char in[LONGEST + sizeof(int) + 8];
    MPI_Status status;
    int source = wild ? MPI_ANY_SOURCE : expected->from, tag = wild == 1 ? MPI_ANY_TAG : expected->tag;
    int got = -1, id;
    if (expected->mode == 1) {
        MPI_Probe(source, tag, MPI_COMM_WORLD, &status);
        source = status.MPI_SOURCE;
        tag = status.MPI_TAG;
    }
    MPI_Recv(in, (int)sizeof in, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &got);
    memcpy(&id, in, sizeof id);
    CHECK_SAY(id >= 0 && id < count, "message calls itself %d", id);
    const Message *m = &plan[id];
    CHECK_SAY(m->to == check_rank && m->from == status.MPI_SOURCE && m->tag == status.MPI_TAG,
              "message %d came from %d with tag %d, not from %d with tag %d to %d", id,
              status.MPI_SOURCE, status.MPI_TAG, m->from, m->tag, m->to);
    CHECK_EQ(got, m->bytes + (int)sizeof id);
    CHECK_SAY(!seen[id], "message %d came twice", id);
    CHECK_SAY(id > last[m->from * TAGS + m->tag], "message %d from %d, tag %d, overtook %d",
              last[m->from * TAGS + m->tag], m->from, m->tag, id);
    last[m->from * TAGS + m->tag] = id;
    seen[id] = 1;
    long at = check_differs(in + sizeof id, (size_t)m->bytes, (uint64_t)id);
    CHECK_SAY(at < 0, "message %d of %d bytes differs at %ld", id, m->bytes, at);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    check_stream s = check_seed(argc > 1 ? strtoull(argv[1], NULL, 10) : 20100);
    int count = argc > 2 ? (int)strtol(argv[2], NULL, 10) : MESSAGES;
    Message *plan = calloc((size_t)count, sizeof *plan);
    char *seen = calloc((size_t)count, 1);
    int *last = malloc(sizeof(int) * TAGS * (size_t)check_size), mine = 0;
    for (int i = 0; i < TAGS * check_size; i++) last[i] = -1;
    for (int i = 0; i < count; i++)
        plan[i] = (Message){check_below(&s, check_size), check_below(&s, check_size), check_below(&s, TAGS),
                            draw_length(&s), check_below(&s, 3)};

    for (int begin = 0; begin < count; begin += BATCH) {
        int end = begin + BATCH < count ? begin + BATCH : count, sends = 0;
        MPI_Request request[BATCH];
        unsigned char *buf[BATCH];
        for (int i = begin; i < end; i++)
            if (plan[i].from == check_rank) {
                buf[sends] = malloc((size_t)plan[i].bytes + sizeof(int));
                start_send(&plan[i], buf[sends], i, &request[sends]);
                sends++;
            }
        /* Odd batches are received wild in the order of arrival, even ones one by one, last tag first. */
        if (begin / BATCH % 2) {
            for (int i = begin; i < end; i++)
                if (plan[i].to == check_rank) take(plan, count, 1, seen, last, &plan[i]), mine++;
        } else {
            for (int tag = TAGS - 1; tag >= 0; tag--)
                for (int i = begin; i < end; i++)
                    if (plan[i].to == check_rank && plan[i].tag == tag) {
                        take(plan, count, tag == 1 ? 2 : 0, seen, last, &plan[i]), mine++;
                    }
        }
        MPI_Waitall(sends, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < sends; i++) free(buf[i]);
        MPI_Barrier(MPI_COMM_WORLD); /* wild receives must not reach into the next batch */
    }
    int total = 0, flag = -1;
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(total, count);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0);
    free(plan);
    free(seen);
    free(last);
    return check_end();
}
