/* Control variables: all can be described and read, strings follow the convention of lengths, and writing does what the
 * scope says. */
/* ranks: 1 2 4 */
#include "tool.h"

/* Strings: whole, cut, and only their length. */
static void strings(int index)
{
    char whole[256], cut[8];
    int n = sizeof whole, again;
    OK(MPI_T_cvar_get_info(index, whole, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(n, strlen(whole) + 1);
    again = 0;
    OK(MPI_T_cvar_get_info(index, cut, &again, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(again, n);
    again = 17;
    OK(MPI_T_cvar_get_info(index, NULL, &again, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(again, n);
    memset(cut, 'x', sizeof cut);
    again = 5;
    OK(MPI_T_cvar_get_info(index, cut, &again, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(again, n);
    CHECK(!strncmp(cut, whole, 4) && cut[4] == 0 && cut[5] == 'x');
    memset(cut, 'x', sizeof cut);
    OK(MPI_T_cvar_get_info(index, cut, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(cut[0] == 'x');
}

static void enumeration(MPI_T_enum e, int value)
{
    char name[64];
    int items = 0, n = sizeof name, found = 0;
    OK(MPI_T_enum_get_info(e, &items, name, &n));
    CHECK(items > 0 && n > 1);
    for (int i = 0; i < items; i++) {
        int v = -99;
        n = sizeof name;
        OK(MPI_T_enum_get_item(e, i, &v, name, &n));
        CHECK(n > 1);
        found += v == value;
    }
    CHECK_EQ(found, 1);
    CHECK_EQ(MPI_T_enum_get_item(e, items, &n, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_enum_get_item(e, -1, &n, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
}

static void all(void)
{
    int num = -1;
    OK(MPI_T_cvar_get_num(&num));
    CHECK(num > 20);
    for (int i = 0; i < num; i++) {
        static char name[128], about[1024], text[65536];
        int n = sizeof name, m = sizeof about, verbosity = -1, bind = -1, scope = -1, count = -1, index = -1, value;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum e = MPI_T_ENUM_NULL;
        MPI_T_cvar_handle h;
        OK(MPI_T_cvar_get_info(i, name, &n, &verbosity, &type, &e, about, &m, &bind, &scope));
        CHECK_SAY(n > 1 && m > 1 && m <= (int)sizeof about, "%s: lengths %d and %d", name, n, m);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
        CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
        OK(MPI_T_cvar_get_index(name, &index));
        CHECK_EQ(index, i);
        strings(i);
        OK(MPI_T_cvar_handle_alloc(i, NULL, &h, &count));
        if (type == MPI_CHAR) {
            CHECK(count > 1 && count <= (int)sizeof text);
            memset(text, 'x', sizeof text);
            OK(MPI_T_cvar_read(h, text));
            CHECK(memchr(text, 0, (size_t)count));
        } else {
            CHECK(type == MPI_INT && count == 1);
            OK(MPI_T_cvar_read(h, &value));
            if (e != MPI_T_ENUM_NULL) enumeration(e, value);
        }
        if (scope == MPI_T_SCOPE_CONSTANT) CHECK_EQ(MPI_T_cvar_write(h, text), MPI_T_ERR_CVAR_SET_NEVER);
        OK(MPI_T_cvar_handle_free(&h));
        CHECK(h == MPI_T_CVAR_HANDLE_NULL);
    }
    OK(MPI_T_cvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
}

static void mistakes(void)
{
    int num, n, value = 0;
    MPI_T_cvar_handle h, stale;
    OK(MPI_T_cvar_get_num(&num));
    CHECK_EQ(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_cvar_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_get_index("no such variable", &n), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_cvar_get_index(NULL, &n), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_cvar_get_index("IMPI_CHECK", NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_cvar_handle_alloc(num, NULL, &h, &n), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_handle_alloc(0, NULL, NULL, &n), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    h = tool_control("IMPI_CHECK", &n);
    CHECK_EQ(MPI_T_cvar_read(h, NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_enum_get_info((MPI_T_enum)h, &n, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    stale = h;
    OK(MPI_T_cvar_handle_free(&h));
    CHECK_EQ(MPI_T_cvar_handle_free(&h), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_cvar_handle_free(&stale), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_cvar_read(stale, &value), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_cvar_write(stale, &value), MPI_T_ERR_INVALID_HANDLE);
}

/* Writes and reads back. */
static void becomes(const char *name, int value)
{
    int n, got = -99;
    MPI_T_cvar_handle h = tool_control(name, &n);
    OK(MPI_T_cvar_write(h, &value));
    OK(MPI_T_cvar_read(h, &got));
    CHECK_EQ(got, value);
    OK(MPI_T_cvar_handle_free(&h));
}

/* How often an algorithm is taken for a short broadcast. */
static unsigned long long taken(const char *variable)
{
    MPI_T_pvar_session s;
    OK(MPI_T_pvar_session_create(&s));
    MPI_T_pvar_handle h = tool_started(s, variable, MPI_T_PVAR_CLASS_COUNTER, NULL);
    for (int i = 0, x = 7; i < 3; i++) MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    unsigned long long n = tool_read(s, h);
    OK(MPI_T_pvar_session_free(&s));
    return n;
}

/* A choice of algorithms takes effect at once, and its end, too. */
static void algorithms(void)
{
    int n;
    static char text[65536];
    MPI_T_cvar_handle h = tool_control("IMPI_ALGORITHM", &n);
    CHECK(n <= (int)sizeof text);
    strcpy(text, "bcast:no_such_algorithm");
    CHECK_EQ(MPI_T_cvar_write(h, text), MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_read(h, text));
    CHECK_EQ(text[0], 0);
    strcpy(text, "bcast:binomial");
    OK(MPI_T_cvar_write(h, text));
    memset(text, 'x', sizeof text);
    OK(MPI_T_cvar_read(h, text));
    CHECK(!strcmp(text, "bcast:binomial"));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_size > 1 && !check_spans()) CHECK_EQ(taken("algorithm_bcast_binomial"), 3);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_T_cvar_write(h, ""));
    OK(MPI_T_cvar_read(h, text));
    CHECK_EQ(text[0], 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_size > 1) taken("algorithm_bcast_binomial");
    OK(MPI_T_cvar_handle_free(&h));
}

/* With verification on, calls that do not agree are found; with it off again, they are not looked at. */
static void verification(void)
{
    int x = 1, y = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    becomes("IMPI_CHECK", 1);
    if (check_size > 1)
        CHECK(MPI_Reduce(&x, &y, 1, MPI_INT, check_rank ? MPI_SUM : MPI_MAX, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK_EQ(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(y, check_size);
    MPI_Barrier(MPI_COMM_WORLD);
    becomes("IMPI_CHECK", 0);
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
        CHECK_EQ(y, check_size);
    }
    /* All checks: two receives share memory. What was begun before is not known. */
    MPI_Request before, r[2];
    MPI_Irecv(&y, 1, MPI_INT, check_rank, 3, MPI_COMM_WORLD, &before);
    becomes("IMPI_CHECK", 2);
    CHECK_EQ(MPI_Irecv(&y, 1, MPI_INT, check_rank, 4, MPI_COMM_WORLD, &r[0]), MPI_SUCCESS);
    CHECK(MPI_Irecv(&y, 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD, &r[1]) != MPI_SUCCESS);
    becomes("IMPI_CHECK", 0);
    CHECK_EQ(MPI_Irecv(&y, 1, MPI_INT, check_rank, 5, MPI_COMM_WORLD, &r[1]), MPI_SUCCESS);
    for (int tag = 3; tag < 6; tag++) MPI_Send(&x, 1, MPI_INT, check_rank, tag, MPI_COMM_WORLD);
    CHECK_EQ(MPI_Wait(&before, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    int n, bad = 17;
    MPI_T_cvar_handle h = tool_control("IMPI_CHECK", &n);
    CHECK_EQ(MPI_T_cvar_write(h, &bad), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_cvar_write(h, NULL), MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_handle_free(&h));
}

/* What all processes have to set alike cannot be set while a collective operation is under way. */
static void not_now(void)
{
    int n, on = 1;
    MPI_Request r;
    if (check_size == 1) return;
    MPI_T_cvar_handle h = tool_control("IMPI_REPRODUCIBLE", &n);
    if (check_rank == 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &r);
        CHECK_EQ(MPI_T_cvar_write(h, &on), MPI_T_ERR_CVAR_SET_NOT_NOW);
        MPI_Send(NULL, 0, MPI_INT, 1, 5, MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        if (check_rank == 1) MPI_Recv(NULL, 0, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ibarrier(MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    OK(MPI_T_cvar_handle_free(&h));
    MPI_Barrier(MPI_COMM_WORLD);
    becomes("IMPI_REPRODUCIBLE", 1);
    double x = 1.0 / (check_rank + 1), sum[2];
    MPI_Allreduce(&x, &sum[0], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&x, &sum[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(!memcmp(&sum[0], &sum[1], sizeof x));
    MPI_Barrier(MPI_COMM_WORLD);
    becomes("IMPI_REPRODUCIBLE", 0);
}

int main(int argc, char **argv)
{
    int n, value = 25;
    tool_start();
    all();
    mistakes();
    becomes("IMPI_SILENCE", 25); /* before MPI_Init it can be set */
    MPI_T_cvar_handle h = tool_control("IMPI_SILENCE", &n);
    value = -3;
    CHECK_EQ(MPI_T_cvar_write(h, &value), MPI_T_ERR_INVALID);
    check_start(&argc, &argv);
    CHECK_EQ(MPI_T_cvar_write(h, &value), MPI_T_ERR_CVAR_SET_NEVER);
    OK(MPI_T_cvar_read(h, &value));
    CHECK_EQ(value, 25);
    OK(MPI_T_cvar_handle_free(&h));
    all();
    mistakes();
    becomes("IMPI_SINGLE_COPY", 1);
    becomes("IMPI_SINGLE_COPY", -1);
    value = 0;
    h = tool_control("IMPI_SINGLE_COPY", &n);
    CHECK_EQ(MPI_T_cvar_write(h, &value), MPI_T_ERR_CVAR_SET_NEVER);
    OK(MPI_T_cvar_handle_free(&h));
    algorithms();
    verification();
    not_now();
    OK(MPI_T_finalize());
    return check_end();
}
