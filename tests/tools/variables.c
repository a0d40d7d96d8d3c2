/* Performance variables: all can be described, allocated and read; every mistake has its code; sessions do not touch
 * each other. */
/* ranks: 1 2 4 */
#include "tool.h"

static int is_unsigned(MPI_Datatype type)
{
    return type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG;
}

/* The datatypes that a class may have. */
static int fits(int class_, MPI_Datatype type)
{
    switch (class_) {
    case MPI_T_PVAR_CLASS_STATE: return type == MPI_INT;
    case MPI_T_PVAR_CLASS_COUNTER: return is_unsigned(type);
    case MPI_T_PVAR_CLASS_PERCENTAGE: return type == MPI_DOUBLE;
    case MPI_T_PVAR_CLASS_GENERIC: return 1;
    default: return is_unsigned(type) || type == MPI_DOUBLE;
    }
}

static void all(int up)
{
    int num = -1;
    MPI_T_pvar_session s;
    OK(MPI_T_pvar_session_create(&s));
    OK(MPI_T_pvar_get_num(&num));
    CHECK(num > 30);
    for (int i = 0; i < num; i++) {
        char name[128], about[512], cut[4];
        int n = sizeof name, m = sizeof about, verbosity, class_, bind, readonly, continuous, atomic, index = -1, count;
        union { int state; unsigned long long number; double real; } value = {0};
        MPI_Datatype type;
        MPI_T_enum e = MPI_T_ENUM_NULL;
        MPI_T_pvar_handle h;
        MPI_Comm world = MPI_COMM_WORLD;
        OK(MPI_T_pvar_get_info(i, name, &n, &verbosity, &class_, &type, &e, about, &m, &bind, &readonly, &continuous,
                               &atomic));
        CHECK_SAY(n > 1 && m > 1 && m <= (int)sizeof about, "%s: lengths %d and %d", name, n, m);
        CHECK_SAY(fits(class_, type), "%s: class %d does not have its datatype", name, class_);
        CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        CHECK((readonly == 0 || readonly == 1) && (continuous == 0 || continuous == 1) && atomic == !readonly);
        OK(MPI_T_pvar_get_index(name, class_, &index));
        CHECK_EQ(index, i);
        m = 3;
        OK(MPI_T_pvar_get_info(i, cut, &m, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        CHECK(m == n && !strncmp(cut, name, 2) && cut[2] == 0);
        if (bind == MPI_T_BIND_MPI_COMM && !up) {
            CHECK_EQ(MPI_T_pvar_handle_alloc(s, i, &world, &h, &count), MPI_T_ERR_INVALID);
            continue;
        }
        if (bind == MPI_T_BIND_MPI_COMM)
            CHECK_EQ(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count), MPI_T_ERR_INVALID);
        OK(MPI_T_pvar_handle_alloc(s, i, &world, &h, &count));
        CHECK_EQ(count, 1);
        OK(MPI_T_pvar_read(s, h, &value));
        if (type == MPI_DOUBLE) CHECK(value.real == 0.0);
        else if (class_ == MPI_T_PVAR_CLASS_COUNTER || class_ == MPI_T_PVAR_CLASS_AGGREGATE)
            CHECK_SAY(value.number == 0, "%s begins with %llu", name, value.number);
        CHECK_EQ(MPI_T_pvar_start(s, h), continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
        CHECK_EQ(MPI_T_pvar_stop(s, h), continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
        CHECK_EQ(MPI_T_pvar_reset(s, h), readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
        CHECK_EQ(MPI_T_pvar_write(s, h, &value), readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
        CHECK_EQ(MPI_T_pvar_readreset(s, h, &value), readonly ? MPI_T_ERR_PVAR_NO_ATOMIC : MPI_SUCCESS);
        OK(MPI_T_pvar_handle_free(s, &h));
        CHECK(h == MPI_T_PVAR_HANDLE_NULL);
    }
    OK(MPI_T_pvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    OK(MPI_T_pvar_session_free(&s));
}

static void mistakes(void)
{
    int num, n, i;
    unsigned long long value;
    MPI_T_pvar_session s, other, none = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle h, stale;
    OK(MPI_T_pvar_get_num(&num));
    CHECK_EQ(MPI_T_pvar_get_num(NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_pvar_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
             MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &i), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_pvar_get_index("messages_sent_self", MPI_T_PVAR_CLASS_LEVEL, &i), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_LEVEL, &i), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_pvar_session_create(NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_pvar_session_free(&none), MPI_T_ERR_INVALID_SESSION);
    OK(MPI_T_pvar_session_create(&s));
    OK(MPI_T_pvar_session_create(&other));
    CHECK_EQ(MPI_T_pvar_handle_alloc(none, 0, NULL, &h, &n), MPI_T_ERR_INVALID_SESSION);
    CHECK_EQ(MPI_T_pvar_handle_alloc(s, num, NULL, &h, &n), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_pvar_handle_alloc(s, -1, NULL, &h, &n), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_pvar_handle_alloc(s, 0, NULL, NULL, &n), MPI_T_ERR_INVALID);
    h = tool_handle(s, "messages_sent_self", MPI_T_PVAR_CLASS_COUNTER, NULL);
    CHECK_EQ(MPI_T_pvar_read(s, h, NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_pvar_read(none, h, &value), MPI_T_ERR_INVALID_SESSION);
    CHECK_EQ(MPI_T_pvar_read(other, h, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_start(other, h), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_stop(other, h), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_reset(other, h), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_write(other, h, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_readreset(other, h, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_handle_free(other, &h), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_read(s, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_write(s, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_readreset(s, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_start(none, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
    OK(MPI_T_pvar_start(other, MPI_T_PVAR_ALL_HANDLES)); /* it has none */
    stale = h;
    OK(MPI_T_pvar_handle_free(s, &h));
    CHECK_EQ(MPI_T_pvar_handle_free(s, &stale), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_read(s, stale, &value), MPI_T_ERR_INVALID_HANDLE);
    h = tool_handle(s, "messages_sent_self", MPI_T_PVAR_CLASS_COUNTER, NULL);
    CHECK_EQ(MPI_T_pvar_read(s, stale, &value), MPI_T_ERR_INVALID_HANDLE);
    none = s;
    OK(MPI_T_pvar_session_free(&s));
    CHECK_EQ(MPI_T_pvar_read(none, h, &value), MPI_T_ERR_INVALID_SESSION);
    CHECK_EQ(MPI_T_pvar_read(other, h, &value), MPI_T_ERR_INVALID_HANDLE); /* it has ended with its session */
    OK(MPI_T_pvar_session_free(&other));
}

static void to_self(int n)
{
    int x = 0, y = 0;
    for (int i = 0; i < n; i++)
        MPI_Sendrecv(&x, 1, MPI_INT, 0, 3, &y, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* Starting, stopping, writing and resetting a handle changes that handle alone. */
static void sessions(void)
{
    MPI_T_pvar_session a, b;
    unsigned long long value = 0;
    OK(MPI_T_pvar_session_create(&a));
    OK(MPI_T_pvar_session_create(&b));
    MPI_T_pvar_handle in_a = tool_handle(a, "messages_sent_self", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle bytes = tool_handle(a, "bytes_sent_self", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    MPI_Comm self = MPI_COMM_SELF;
    MPI_T_pvar_handle length = tool_handle(a, "comm_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &self);
    MPI_T_pvar_handle in_b = tool_started(b, "messages_sent_self", MPI_T_PVAR_CLASS_COUNTER, NULL);
    to_self(2);
    CHECK_EQ(tool_read(a, in_a), 0); /* stopped */
    CHECK_EQ(tool_read(b, in_b), 2);
    OK(MPI_T_pvar_start(a, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_start(a, in_a)); /* it is started: no matter */
    to_self(3);
    CHECK_EQ(tool_read(a, in_a), 3);
    CHECK_EQ(tool_read(a, bytes), 3 * sizeof(int));
    CHECK_EQ(tool_read(b, in_b), 5);
    OK(MPI_T_pvar_stop(b, in_b));
    to_self(1);
    CHECK_EQ(tool_read(a, in_a), 4);
    CHECK_EQ(tool_read(b, in_b), 5);
    value = 100;
    OK(MPI_T_pvar_write(a, in_a, &value));
    to_self(1);
    CHECK_EQ(tool_read(a, in_a), 101);
    OK(MPI_T_pvar_start(b, in_b));
    to_self(1);
    CHECK_EQ(tool_read(b, in_b), 6);
    OK(MPI_T_pvar_readreset(b, in_b, &value));
    CHECK_EQ(value, 6);
    CHECK_EQ(tool_read(b, in_b), 0);
    OK(MPI_T_pvar_reset(a, MPI_T_PVAR_ALL_HANDLES));
    CHECK_EQ(tool_read(a, in_a), 0);
    CHECK_EQ(tool_read(a, bytes), 0);
    to_self(1);
    OK(MPI_T_pvar_stop(a, MPI_T_PVAR_ALL_HANDLES));
    to_self(1);
    CHECK_EQ(tool_read(a, in_a), 1);
    CHECK_EQ(tool_read(b, in_b), 2);
    CHECK_EQ(tool_read(a, length), 0);
    OK(MPI_T_pvar_session_free(&a));
    OK(MPI_T_pvar_session_free(&b));
}

/* A handle that was started before MPI_Init counts from there. */
static MPI_T_pvar_session early;
static MPI_T_pvar_handle early_handle;

int main(int argc, char **argv)
{
    tool_start();
    all(0);
    mistakes();
    OK(MPI_T_pvar_session_create(&early));
    early_handle = tool_started(early, "messages_sent_self", MPI_T_PVAR_CLASS_COUNTER, NULL);
    check_start(&argc, &argv);
    to_self(4);
    CHECK_EQ(tool_read(early, early_handle), 4);
    all(1);
    mistakes();
    sessions();
    CHECK(tool_read(early, early_handle) > 4);
    check_end();
    CHECK(tool_read(early, early_handle) > 4);
    OK(MPI_T_pvar_session_free(&early));
    all(0);
    OK(MPI_T_finalize());
    return 0;
}
