/* Events: described, told once each with what belongs to them, in order, with the time; dropped ones are counted; a
 * registration that is freed hears no more. */
/* ranks: 1 2 4 */
#include "tool.h"

enum { MOST = 4096 };

/* What a function has been told. */
struct told {
    int calls, dropped, freed, in_function;
    MPI_Count last, lost;
    int ints[MOST][3];
    long long bytes[MOST];
    MPI_T_event_registration registration;
};

static int elements_of(const char *name, int *index)
{
    int n = 0;
    OK(MPI_T_event_get_index(name, index));
    OK(MPI_T_event_get_info(*index, NULL, NULL, NULL, NULL, NULL, &n, NULL, NULL, NULL, NULL, NULL));
    return n;
}

/* Which element has a name, by the enumeration of the event. */
static int element(const char *event, const char *name)
{
    int index, n = elements_of(event, &index), items = 0;
    MPI_T_enum e = MPI_T_ENUM_NULL;
    OK(MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, &e, NULL, NULL, NULL, NULL));
    OK(MPI_T_enum_get_info(e, &items, NULL, NULL));
    CHECK_EQ(items, n);
    for (int i = 0; i < n; i++) {
        char item[32];
        int length = sizeof item, value;
        OK(MPI_T_enum_get_item(e, i, &value, item, &length));
        CHECK_EQ(value, i);
        if (!strcmp(item, name)) return i;
    }
    check_fail(__FILE__, __LINE__, "%s has no element %s", event, name);
}

static void note(struct told *t, MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety)
{
    MPI_Count at = -1, now = -1;
    int source = -1;
    CHECK(!t->in_function);
    t->in_function = 1;
    CHECK(r == t->registration);
    CHECK_EQ(safety, MPI_T_CB_REQUIRE_NONE);
    OK(MPI_T_event_get_timestamp(e, &at));
    OK(MPI_T_event_get_source(e, &source));
    CHECK_EQ(source, 0);
    OK(MPI_T_source_get_timestamp(source, &now));
    CHECK_SAY(at >= t->last && at <= now, "times %lld, %lld, %lld", (long long)t->last, (long long)at, (long long)now);
    t->last = at;
    CHECK(t->calls < MOST);
    t->calls++;
    t->in_function = 0;
}

static int at_source, at_tag, at_bytes, at_kind, at_peer, at_request_tag, at_request_bytes;

static void on_unexpected(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *data)
{
    struct told *t = data;
    int index;
    struct { int source, tag; uint64_t context; MPI_Count bytes; } whole;
    MPI_Count bytes = -1;
    OK(MPI_T_event_read(e, at_source, &t->ints[t->calls][0]));
    OK(MPI_T_event_read(e, at_tag, &t->ints[t->calls][1]));
    OK(MPI_T_event_read(e, at_bytes, &bytes));
    t->bytes[t->calls] = bytes;
    CHECK_EQ(MPI_T_event_read(e, elements_of("unexpected_message", &index), &bytes), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_read(e, -1, &bytes), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_read(e, 0, NULL), MPI_T_ERR_INVALID);
    OK(MPI_T_event_copy(e, &whole));
    CHECK(whole.source == t->ints[t->calls][0] && whole.tag == t->ints[t->calls][1] && whole.bytes == bytes);
    note(t, e, r, safety);
}

static void on_completed(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *data)
{
    struct told *t = data;
    MPI_Count bytes = -1;
    OK(MPI_T_event_read(e, at_kind, &t->ints[t->calls][0]));
    OK(MPI_T_event_read(e, at_peer, &t->ints[t->calls][1]));
    OK(MPI_T_event_read(e, at_request_tag, &t->ints[t->calls][2]));
    OK(MPI_T_event_read(e, at_request_bytes, &bytes));
    t->bytes[t->calls] = bytes;
    note(t, e, r, safety);
}

static void on_operation(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *data)
{
    struct told *t = data;
    OK(MPI_T_event_read(e, 0, &t->ints[t->calls][0]));
    note(t, e, r, safety);
}

static void on_dropped(MPI_Count count, MPI_T_event_registration r, int source, MPI_T_cb_safety safety, void *data)
{
    struct told *t = data;
    CHECK(r == t->registration && count > 0);
    CHECK_EQ(source, 0);
    CHECK_EQ(safety, MPI_T_CB_REQUIRE_NONE);
    t->dropped++;
    t->lost += count;
}

static void on_freed(MPI_T_event_registration r, MPI_T_cb_safety safety, void *data)
{
    struct told *t = data;
    CHECK(r == t->registration);
    CHECK_EQ(safety, MPI_T_CB_REQUIRE_NONE);
    t->freed++;
}

static struct told *listen(const char *event, void *object, MPI_T_event_cb_function *f)
{
    struct told *t = calloc(1, sizeof *t);
    int index;
    OK(MPI_T_event_get_index(event, &index));
    OK(MPI_T_event_handle_alloc(index, object, MPI_INFO_NULL, &t->registration));
    OK(MPI_T_event_register_callback(t->registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, t, f));
    return t;
}

static void forget(struct told *t)
{
    int calls = t->calls;
    OK(MPI_T_event_handle_free(t->registration, t, on_freed));
    CHECK_EQ(t->freed, 1);
    CHECK_EQ(MPI_T_event_handle_free(t->registration, t, on_freed), MPI_T_ERR_INVALID_HANDLE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(t->calls, calls);
    CHECK_EQ(t->freed, 1);
    free(t);
}

/* Descriptions. */
static void all(void)
{
    int num = -1, sources = -1;
    OK(MPI_T_event_get_num(&num));
    CHECK(num > 4);
    for (int i = 0; i < num; i++) {
        char name[64], about[1024];
        int n = sizeof name, m = sizeof about, elements = 16, verbosity, bind, index, some = 1, keys;
        MPI_Datatype types[16];
        MPI_Aint places[16], end = 0;
        MPI_T_enum e;
        MPI_Info info;
        OK(MPI_T_event_get_info(i, name, &n, &verbosity, types, places, &elements, &e, &info, about, &m, &bind));
        CHECK(n > 1 && m > 1 && m <= (int)sizeof about && elements > 0 && elements <= 16);
        CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM);
        OK(MPI_Info_get_nkeys(info, &keys));
        CHECK_EQ(keys, 0);
        MPI_Info_free(&info);
        for (int k = 0; k < elements; k++) {
            CHECK(types[k] == MPI_INT || types[k] == MPI_UINT64_T || types[k] == MPI_COUNT);
            MPI_Aint size = types[k] == MPI_INT ? 4 : 8;
            CHECK(k ? places[k] >= end : places[k] == 0);
            CHECK(places[k] % size == 0);
            end = places[k] + size;
        }
        types[1] = MPI_DATATYPE_NULL;
        OK(MPI_T_event_get_info(i, NULL, NULL, NULL, types, NULL, &some, NULL, NULL, NULL, NULL, NULL));
        CHECK(some == elements && types[1] == MPI_DATATYPE_NULL);
        OK(MPI_T_event_get_index(name, &index));
        CHECK_EQ(index, i);
    }
    CHECK_EQ(MPI_T_event_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_get_index("no such event", &num), MPI_T_ERR_INVALID_NAME);

    OK(MPI_T_source_get_num(&sources));
    CHECK(sources > 0);
    for (int i = 0; i < sources; i++) {
        char name[64], about[256];
        int n = sizeof name, m = sizeof about;
        MPI_T_source_order order;
        MPI_Count a, b, rate, most;
        MPI_Info info;
        OK(MPI_T_source_get_info(i, name, &n, about, &m, &order, &rate, &most, &info));
        MPI_Info_free(&info);
        CHECK(n > 1 && m > 1 && (order == MPI_T_SOURCE_ORDERED || order == MPI_T_SOURCE_UNORDERED));
        CHECK(rate > 0 && most > rate);
        double before = MPI_Wtime();
        OK(MPI_T_source_get_timestamp(i, &a));
        while (MPI_Wtime() < before + 0.01) {}
        OK(MPI_T_source_get_timestamp(i, &b));
        CHECK((double)(b - a) / (double)rate > 0.005 && (double)(b - a) / (double)rate < 30);
    }
    CHECK_EQ(MPI_T_source_get_info(sources, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    MPI_Count t;
    CHECK_EQ(MPI_T_source_get_timestamp(sources, &t), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_source_get_timestamp(0, NULL), MPI_T_ERR_INVALID);
}

static void mistakes(void)
{
    int index, of_comm, n = 0;
    MPI_T_event_registration r, none = NULL;
    MPI_Info info;
    MPI_Comm null = MPI_COMM_NULL;
    OK(MPI_T_event_get_index("unexpected_message", &index));
    OK(MPI_T_event_get_index("comm_unexpected_message", &of_comm));
    CHECK_EQ(MPI_T_event_handle_alloc(-1, NULL, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_event_handle_alloc(of_comm, NULL, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_event_handle_alloc(of_comm, &null, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_event_handle_free(none, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_set_dropped_handler(none, on_dropped), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_read(NULL, 0, &n), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_copy(NULL, &n), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_get_source(NULL, &n), MPI_T_ERR_INVALID_HANDLE);
    MPI_Count t;
    CHECK_EQ(MPI_T_event_get_timestamp(NULL, &t), MPI_T_ERR_INVALID_HANDLE);
    MPI_Info_create(&info);
    MPI_Info_set(info, "some_hint", "that nobody knows");
    OK(MPI_T_event_handle_alloc(index, NULL, info, &r));
    CHECK_EQ(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID);
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, info, NULL, on_unexpected));
    CHECK_EQ(MPI_T_event_register_callback(r, (MPI_T_cb_safety)5, info, NULL, on_unexpected), MPI_T_ERR_INVALID);
    OK(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_THREAD_SAFE, info));
    CHECK_EQ(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, info), MPI_T_ERR_INVALID);
    OK(MPI_T_event_handle_set_info(r, info));
    MPI_Info_free(&info);
    OK(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_THREAD_SAFE, &info));
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK_EQ(n, 0); /* a hint that is not known is ignored */
    MPI_Info_free(&info);
    OK(MPI_T_event_handle_get_info(r, &info));
    MPI_Info_free(&info);
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, NULL));
    OK(MPI_T_event_handle_free(r, NULL, NULL));
    CHECK_EQ(MPI_T_event_handle_get_info(r, &info), MPI_T_ERR_INVALID_HANDLE);
}

static void messages(void)
{
    enum { MANY = 10 };
    const int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    int x = 0;
    MPI_Comm dup, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    struct told *here = listen("comm_unexpected_message", &dup, on_unexpected);
    struct told *there = listen("comm_unexpected_message", &other, on_unexpected);
    struct told *all_of = listen("unexpected_message", NULL, on_unexpected);
    struct told *done = listen("comm_request_completed", &dup, on_completed);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) MPI_Send(&x, 1, MPI_INT, to, i, dup);
    MPI_Send(NULL, 0, MPI_INT, to, MANY, dup);
    MPI_Recv(NULL, 0, MPI_INT, from, MANY, dup, MPI_STATUS_IGNORE);
    CHECK(here->calls >= MANY && here->calls <= MANY + 1);
    for (int i = 0; i < here->calls; i++) {
        CHECK_EQ(here->ints[i][0], from);
        CHECK_EQ(here->ints[i][1], i);
        CHECK_EQ(here->bytes[i], i < MANY ? (int)sizeof x : 0);
    }
    CHECK_EQ(there->calls, 0);
    CHECK(all_of->calls >= here->calls);
    for (int i = 0; i < MANY; i++) MPI_Recv(&x, 1, MPI_INT, from, i, dup, MPI_STATUS_IGNORE);
    int sends = 0, receives = 0;
    for (int i = 0; i < done->calls; i++) {
        int sends_it = done->ints[i][0] == 0;
        CHECK(sends_it || done->ints[i][0] == 1);
        CHECK_EQ(done->ints[i][1], sends_it ? to : from);
        sends += sends_it;
        receives += !sends_it;
        CHECK_EQ(done->bytes[i], done->ints[i][2] < MANY ? (int)sizeof x : 0);
    }
    CHECK_EQ(sends, MANY + 1);
    CHECK_EQ(receives, MANY + 1);
    forget(here);
    forget(there);
    forget(all_of);
    forget(done);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&other);
}

static void operations(void)
{
    int x = 1, y;
    MPI_Comm dup;
    MPI_Request r;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    struct told *begun = listen("comm_collective_started", &dup, on_operation);
    struct told *over = listen("collective_ended", NULL, on_operation);
    MPI_Barrier(dup);
    MPI_Bcast(&x, 1, MPI_INT, 0, dup);
    CHECK_EQ(begun->calls, 2);
    CHECK_EQ(over->calls, 2);
    MPI_Ibarrier(dup, &r);
    CHECK_EQ(begun->calls, 3);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(over->calls, 3);
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(begun->calls, 3);
    CHECK_EQ(over->calls, 4);
    CHECK(begun->ints[0][0] == begun->ints[2][0] && begun->ints[0][0] != begun->ints[1][0]);
    forget(begun);
    forget(over);
    MPI_Comm_free(&dup);
}

/* More events than find room, within one call: those that are lost are told before the next. */
static void dropped(void)
{
    enum { FLOOD = 3000 };
    int x = 0;
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    struct told *t = listen("comm_unexpected_message", &dup, on_unexpected);
    OK(MPI_T_event_set_dropped_handler(t->registration, on_dropped));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_size > 1 && check_rank < 2) {
        if (check_rank == 0) {
            MPI_Request r;
            for (int i = 0; i < FLOOD; i++) {
                MPI_Isend(&x, 1, MPI_INT, 1, 1, dup, &r);
                MPI_Request_free(&r);
            }
            MPI_Send(&x, 1, MPI_INT, 1, 2, dup);
        } else {
            MPI_Recv(&x, 1, MPI_INT, 0, 2, dup, MPI_STATUS_IGNORE);
            CHECK(t->calls + t->lost >= FLOOD && t->calls + t->lost <= FLOOD + 1);
            CHECK_EQ(t->dropped > 0, t->lost > 0);
            CHECK(t->dropped > 0);
            for (int i = 0; i < FLOOD; i++) MPI_Recv(&x, 1, MPI_INT, 0, 1, dup, MPI_STATUS_IGNORE);
        }
    }
    forget(t);
    MPI_Comm_free(&dup);
}

/* A function may use MPI, which does not call functions again from there, and may free its own registration. */
static MPI_Comm callers;
static int nested;

static void on_any(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *data)
{
    struct told *t = data;
    int x = 0, y = 0;
    (void)e;
    CHECK(!nested);
    nested = 1;
    CHECK_EQ(safety, MPI_T_CB_REQUIRE_NONE);
    MPI_Sendrecv(&x, 1, MPI_INT, 0, 9, &y, 1, MPI_INT, 0, 9, callers, MPI_STATUS_IGNORE);
    if (++t->calls == 3) {
        OK(MPI_T_event_handle_free(r, t, on_freed));
        CHECK_EQ(t->freed, 0); /* this call is not over */
    }
    nested = 0;
}

static void from_functions(void)
{
    int x = 0, y;
    MPI_Comm_dup(MPI_COMM_SELF, &callers);
    struct told *t = listen("comm_request_completed", &callers, on_any);
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv(&x, 1, MPI_INT, 0, 8, &y, 1, MPI_INT, 0, 8, callers, MPI_STATUS_IGNORE);
    CHECK_EQ(t->calls, 3);
    CHECK_EQ(t->freed, 1);
    free(t);
    MPI_Comm_free(&callers);
}

int main(int argc, char **argv)
{
    tool_start();
    all();
    check_start(&argc, &argv);
    at_source = element("unexpected_message", "source");
    at_tag = element("unexpected_message", "tag");
    at_bytes = element("unexpected_message", "bytes");
    at_kind = element("request_completed", "kind");
    at_peer = element("request_completed", "peer");
    at_request_tag = element("request_completed", "tag");
    at_request_bytes = element("request_completed", "bytes");
    all();
    mistakes();
    messages();
    operations();
    dropped();
    from_functions();
    messages();
    OK(MPI_T_finalize());
    return check_end();
}
