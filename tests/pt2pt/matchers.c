/* One random sequence of receives and messages, run in several ways: with buffers that a library may handle beside its
 * matching engine (a predefined type at an address), with buffers for which it has to use the engine (absolute
 * addresses, from MPI_BOTTOM on), and with a mixture, so that what one of the two has begun the other ends. Which
 * receive gets which message follows from the order of the calls alone (MPI 5.0, 3.5): each way must give what that
 * rule gives. */
/* ranks: 2 3 */
#include "../check.h"

enum { SEEDS = 60, STEPS = 80, TAGS = 3, ROOM = 300, NONE = -1 };
enum way { PLAIN, ABSOLUTE, MIXED, WAYS };
enum kind { POST, SEND, MEET, COMPLETE };

struct step {
    enum kind kind;
    int source, tag; /* of a receive either may be any; the sender of a message */
    int index;       /* of the receive or message */
    int match;       /* of a receive: its message; of a message: its receive */
    int in[ROOM], out[ROOM];
    MPI_Request request;
    int over;
};

static struct step script[STEPS];
static unsigned state;

static unsigned draw(unsigned n) { return ((state = state * 1664525u + 1013904223u) >> 8) % n; }

static int ints(const struct step *message) { return 1 + message->index * 37 % (ROOM - 1); }

static int takes(const struct step *receive, const struct step *message)
{
    return (receive->source == MPI_ANY_SOURCE || receive->source == message->source)
        && (receive->tag == MPI_ANY_TAG || receive->tag == message->tag);
}

/* The rule: a message goes to the receive that was posted first, and a receive takes the message that was sent first,
 * of those that go together. */
static void match(int last)
{
    struct step *s = &script[last];
    for (int i = 0; i < last && (s->kind == POST || s->kind == SEND); i++) {
        struct step *o = &script[i];
        if ((o->kind != POST && o->kind != SEND) || o->kind == s->kind || o->match != NONE) continue;
        if (!takes(s->kind == POST ? s : o, s->kind == POST ? o : s)) continue;
        s->match = i;
        o->match = last;
        return;
    }
}

/* All ranks draw the same sequence. With several senders a receive names its source: which of two is faster is open. */
static void draw_script(unsigned seed)
{
    state = seed * 2654435761u + 1;
    for (int i = 0; i < STEPS; i++) {
        struct step *s = &script[i];
        unsigned kind = draw(10), any = draw(4);
        memset(s, 0, sizeof *s);
        s->kind = kind < 4 ? POST : kind < 8 ? SEND : kind < 9 ? MEET : COMPLETE;
        s->source = 1 + (int)draw((unsigned)check_size - 1);
        s->tag = (int)draw(TAGS);
        s->index = i;
        s->match = NONE;
        if (s->kind == POST && any == 0) s->tag = MPI_ANY_TAG;
        if (s->kind == POST && any == 1 && check_size == 2) s->source = MPI_ANY_SOURCE;
        match(i);
    }
}

static int is_absolute(enum way way) { return way == ABSOLUTE || (way == MIXED && draw(2)); }

/* So many integers at an address, as one element at MPI_BOTTOM. */
static MPI_Datatype at_bottom(const int *at, int n)
{
    MPI_Datatype type;
    MPI_Aint address;
    MPI_Get_address(at, &address);
    MPI_Type_create_hindexed(1, &n, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void post(struct step *s, enum way way)
{
    if (!is_absolute(way)) {
        MPI_Irecv(s->in, ROOM, MPI_INT, s->source, s->tag, MPI_COMM_WORLD, &s->request);
        return;
    }
    MPI_Datatype type = at_bottom(s->in, ROOM);
    MPI_Irecv(MPI_BOTTOM, 1, type, s->source, s->tag, MPI_COMM_WORLD, &s->request);
    MPI_Type_free(&type);
}

static void send(struct step *s, enum way way)
{
    int n = ints(s);
    for (int k = 0; k < n; k++) s->out[k] = s->index * 1000 + k;
    if (!is_absolute(way)) {
        MPI_Isend(s->out, n, MPI_INT, 0, s->tag, MPI_COMM_WORLD, &s->request);
        return;
    }
    MPI_Datatype type = at_bottom(s->out, n);
    MPI_Isend(MPI_BOTTOM, 1, type, 0, s->tag, MPI_COMM_WORLD, &s->request);
    MPI_Type_free(&type);
}

static void is_message(const struct step *m, const int *in, const MPI_Status *st)
{
    int n;
    MPI_Get_count(st, MPI_INT, &n);
    CHECK_EQ(st->MPI_SOURCE, m->source);
    CHECK_EQ(st->MPI_TAG, m->tag);
    CHECK_EQ(in[0], m->index * 1000);
    CHECK_EQ(n, ints(m));
    CHECK_EQ(in[n - 1], m->index * 1000 + n - 1);
}

/* Ends a receive whose message is, or will be, there. */
static void complete(struct step *s)
{
    MPI_Status st;
    int done = 0;
    if (draw(2)) MPI_Wait(&s->request, &st);
    else while (!done) MPI_Test(&s->request, &done, &st);
    is_message(&script[s->match], s->in, &st);
    s->over = 1;
}

/* Some receive before a step that has its message by then, and is not over. */
static struct step *completable(int before)
{
    for (int i = 0; i < before; i++) {
        struct step *s = &script[i];
        if (s->kind == POST && !s->over && s->match != NONE && s->match < before) return s;
    }
    return NULL;
}

static void receive_all(enum way way)
{
    for (int i = 0; i < STEPS; i++) {
        struct step *s = &script[i], *ready = completable(i);
        if (s->kind == POST) post(s, way);
        if (s->kind == MEET) MPI_Barrier(MPI_COMM_WORLD);
        if (s->kind == COMPLETE && ready) complete(ready);
    }
    for (struct step *s; (s = completable(STEPS));) complete(s);
    for (int i = 0; i < STEPS; i++) {
        struct step *s = &script[i];
        MPI_Status st;
        int cancelled = 0;
        if (s->kind == POST && s->match == NONE) { /* nothing was for it */
            MPI_Cancel(&s->request);
            MPI_Wait(&s->request, &st);
            MPI_Test_cancelled(&st, &cancelled);
            CHECK(cancelled);
        } else if (s->kind == SEND && s->match == NONE) { /* nobody has taken it */
            int in[ROOM];
            MPI_Recv(in, ROOM, MPI_INT, s->source, s->tag, MPI_COMM_WORLD, &st);
            is_message(s, in, &st);
        }
    }
}

static void send_all(enum way way)
{
    for (int i = 0; i < STEPS; i++) {
        struct step *s = &script[i];
        if (s->kind == SEND && s->source == check_rank) send(s, way);
        if (s->kind == MEET) MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < STEPS; i++)
        if (script[i].kind == SEND && script[i].source == check_rank) MPI_Wait(&script[i].request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (unsigned seed = 0; seed < SEEDS; seed++)
        for (enum way way = PLAIN; way < WAYS; way++) {
            draw_script(seed);
            state += (unsigned)check_rank * 77 + (unsigned)way;
            if (check_rank == 0) receive_all(way);
            else send_all(way);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    return check_end();
}
