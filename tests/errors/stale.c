/* Handles that were freed, or never were, are errors and not crashes, and never name another object. Only libimpi
 * promises that; elsewhere nothing is tested. */
/* ranks: 1 2 3 8 */
#include "stale_kinds.h"

/* The handle names nothing, for whoever asks and for whoever frees, who leave it as it is. */
static void names_nothing(const struct kind *k, uintptr_t h, const char *why)
{
    uintptr_t copy = h;
    int asked = k->ask ? class_of(k->ask(h)) : k->class, ended = class_of(k->end(&copy));
    CHECK_SAY(asked == k->class, "%s %#lx, %s: a question gives %s", k->name, (long)h, why, check_class_name(asked));
    CHECK_SAY(ended == k->class, "%s %#lx, %s: freeing it gives %s", k->name, (long)h, why, check_class_name(ended));
    CHECK_SAY(copy == h, "%s %#lx, %s: freeing it, an error, makes it %#lx", k->name, (long)h, why, (long)copy);
}

static void lives(const struct kind *k, uintptr_t h, const char *when)
{
    CHECK_SAY(!k->ask || k->ask(h) == MPI_SUCCESS, "%s handle %#lx is no good %s", k->name, (long)h, when);
}

static void ends(const struct kind *k, uintptr_t h)
{
    uintptr_t old = h;
    CHECK_SAY(k->end(&h) == MPI_SUCCESS, "%s handle %#lx cannot be freed", k->name, (long)old);
    CHECK_SAY(h == k->null, "%s handle %#lx is %#lx once it is freed", k->name, (long)old, (long)h);
}

static void freed(const struct kind *k)
{
    uintptr_t h = k->make();
    lives(k, h, "when it was made");
    ends(k, h);
    names_nothing(k, h, "freed");
    names_nothing(k, h, "freed, and refused before");
    if (k->class != MPI_ERR_REQUEST) names_nothing(k, k->null, "null"); /* MPI_REQUEST_NULL is a request that is over */
}

/* Others come and go, more than a chunk of a table, so that places are used again. */
static void after_many(const struct kind *k)
{
    enum { MANY = 1500, STALE = 8 };
    static uintptr_t other[MANY];
    uintptr_t stale[STALE];
    int n = k->make == make_comm ? 200 : MANY;
    for (int i = 0; i < STALE; i++) ends(k, stale[i] = k->make());
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < n; i++) {
            other[i] = k->make();
            for (int j = 0; j < STALE; j++)
                CHECK_SAY(other[i] != stale[j], "%s handle %#lx comes again", k->name, (long)stale[j]);
        }
        for (int j = 0; j < STALE; j++) names_nothing(k, stale[j], "freed long ago");
        for (int i = 0; i < n; i++) {
            lives(k, other[i], "after a stale one was tried");
            ends(k, other[i]);
        }
        names_nothing(k, other[n / 2], "freed with others");
    }
}

/* Handles that are close to one that lives. */
static void made_up(const struct kind *k)
{
    uintptr_t h = k->make();
    if (k->make != make_key) {
        const uintptr_t generation = (uintptr_t)1 << 32;
        const uintptr_t near[] = {
            h + generation, h - generation, h ^ generation << 31, h % generation,
            h + (1 << 22), h | (generation - 1), ~(uintptr_t)0,
        };
        for (size_t i = 0; i < sizeof near / sizeof *near; i++) names_nothing(k, near[i], "made up");
        for (uintptr_t junk = 4096; junk < generation << 8; junk = junk * 3 + 1) names_nothing(k, junk, "a number");
    }
    lives(k, h, "after others were made up");
    ends(k, h);
}

/* Handles of all kinds, passed where each of them is expected. */
static void of_another_kind(void)
{
    uintptr_t live[KINDS];
    for (int i = 0; i < KINDS; i++) live[i] = kinds[i].make();
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < KINDS; j++)
            if (kinds[i].class != kinds[j].class && kinds[i].make != make_key)
                names_nothing(&kinds[i], live[j], kinds[j].name);
    for (int i = 0; i < KINDS; i++) {
        lives(&kinds[i], live[i], "after it was taken for others");
        ends(&kinds[i], live[i]);
    }
    for (int i = 0; i < KINDS; i++) /* the small numbers of predefined handles */
        if (kinds[i].class != MPI_ERR_TYPE && kinds[i].make != make_key)
            names_nothing(&kinds[i], (uintptr_t)MPI_INT, "MPI_INT");
    names_nothing(&kinds[2], (uintptr_t)MPI_COMM_WORLD, "MPI_COMM_WORLD");
}

/* An integer stands for a handle as long as that lives. */
static void integers(void)
{
    MPI_Info info = (MPI_Info)make_info();
    MPI_Errhandler handler = (MPI_Errhandler)make_handler();
    MPI_Message message = (MPI_Message)make_message();
    int i = MPI_Info_toint(info), h = MPI_Errhandler_toint(handler), m = MPI_Message_toint(message);
    CHECK(i >= 4096 && MPI_Info_fromint(i) == info);
    CHECK(h >= 4096 && MPI_Errhandler_fromint(h) == handler);
    CHECK(m >= 4096 && MPI_Message_fromint(m) == message);
    MPI_Info_free(&info);
    MPI_Errhandler_free(&handler);
    end_message((uintptr_t *)&message);
    CHECK(MPI_Info_fromint(i) == MPI_INFO_NULL);
    CHECK(MPI_Errhandler_fromint(h) == MPI_ERRHANDLER_NULL);
    CHECK(MPI_Message_fromint(m) == MPI_MESSAGE_NULL);
}

/* A stale info is not the one that was made after it. */
static void infos(void)
{
    MPI_Info stale = (MPI_Info)make_info(), old = stale, next;
    char value[8];
    int flag;
    MPI_Info_free(&stale);
    MPI_Info_create(&next);
    MPI_Info_set(next, "key", "new");
    CHECK_CLASS(MPI_Info_set(old, "key", "old"), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Info_get(old, "key", 7, value, &flag), MPI_ERR_INFO);
    CHECK_CLASS(MPI_Comm_set_info(MPI_COMM_SELF, old), MPI_ERR_INFO);
    CHECK_EQ(MPI_Info_get(next, "key", 7, value, &flag), MPI_SUCCESS);
    CHECK(flag && !strcmp(value, "new"));
    MPI_Info_free(&next);
}

/* A handler is freed as often as its handle was given. Who keeps it has it afterwards, too, by another handle. */
static void handlers(void)
{
    MPI_Comm comm;
    MPI_Errhandler handler = (MPI_Errhandler)make_handler(), got, old = handler;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == handler);
    CHECK_EQ(MPI_Errhandler_free(&got), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_set_errhandler(comm, handler), MPI_SUCCESS);
    CHECK_EQ(MPI_Errhandler_free(&handler), MPI_SUCCESS);
    CHECK(handler == MPI_ERRHANDLER_NULL);
    handled = 0;
    CHECK_CLASS(MPI_Comm_set_errhandler(comm, old), MPI_ERR_ERRHANDLER);
    CHECK_EQ(handled, 1); /* the error is the communicator's, and its handler is still the same */
    CHECK_CLASS(MPI_Errhandler_free(&old), MPI_ERR_ERRHANDLER);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got != old && got != MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Errhandler_free(&old), MPI_ERR_ERRHANDLER);
    CHECK_EQ(MPI_Errhandler_free(&got), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    /* The predefined ones stay however often they are freed. */
    for (int i = 0; i < 3; i++) {
        MPI_Comm_get_errhandler(MPI_COMM_SELF, &got);
        CHECK(got == MPI_ERRORS_RETURN);
        CHECK_EQ(MPI_Errhandler_free(&got), MPI_SUCCESS);
        CHECK(got == MPI_ERRHANDLER_NULL);
        CHECK_EQ(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), MPI_SUCCESS);
    }
}

/* A message is received once, and each handle receives its own. */
static void messages(void)
{
    MPI_Message first = (MPI_Message)make_message(), second = (MPI_Message)make_message(), old = first, copy = first;
    MPI_Request request = MPI_REQUEST_NULL;
    int sent = last_sent;
    CHECK_CLASS(MPI_Mrecv(&word, -1, MPI_INT, &first, MPI_STATUS_IGNORE), MPI_ERR_COUNT); /* that has not received it */
    CHECK_EQ(MPI_Mrecv(&word, 1, MPI_INT, &first, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(first == MPI_MESSAGE_NULL);
    CHECK_EQ(word, sent - 1);
    CHECK_CLASS(MPI_Imrecv(&word, 1, MPI_INT, &copy, &request), MPI_ERR_ARG);
    CHECK(copy == old && request == MPI_REQUEST_NULL);
    CHECK_EQ(MPI_Imrecv(&word, 1, MPI_INT, &second, &request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Mrecv(&word, 1, MPI_INT, &copy, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(word, sent);
}

/* Requests that messages have completed, of all that can be asked about them. */
static void requests(void)
{
    MPI_Request request, old, both[2];
    MPI_Status status;
    int flag, index, n = 5;
    for (int receive = 0; receive < 2; receive++) {
        if (receive) {
            MPI_Irecv(&word, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
            old = request;
            MPI_Send(&n, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
        } else {
            MPI_Issend(&n, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
            old = request;
            MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        both[0] = MPI_REQUEST_NULL;
        both[1] = old;
        CHECK_CLASS(MPI_Test(&old, &flag, &status), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Wait(&old, &status), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Cancel(&old), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Start(&old), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Request_free(&old), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Waitall(2, both, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Testall(2, both, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Waitany(2, both, &index, &status), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Grequest_complete(old), MPI_ERR_REQUEST);
    }
}

/* In communication, where most handles go. */
static void used(void)
{
    MPI_Comm comm = (MPI_Comm)make_comm(), old_comm = comm;
    MPI_Datatype type = (MPI_Datatype)make_type(), old_type = type;
    MPI_Op op = (MPI_Op)make_op(), old_op = op;
    int in = 1, out;
    MPI_Type_commit(&type);
    MPI_Comm_free(&comm);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    CHECK_CLASS(MPI_Send(&in, 1, MPI_INT, 0, 0, old_comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Barrier(old_comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Send(&in, 1, old_type, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Allreduce(&in, &out, 1, MPI_INT, old_op, MPI_COMM_SELF), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF), MPI_ERR_OP);
    CHECK_CLASS(MPI_Type_commit(&old_type), MPI_ERR_TYPE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (!check_library("libimpi")) return check_end();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int i = 0; i < KINDS; i++) {
        freed(&kinds[i]);
        after_many(&kinds[i]);
        made_up(&kinds[i]);
    }
    of_another_kind();
    integers();
    infos();
    handlers();
    messages();
    requests();
    used();
    return check_end();
}
