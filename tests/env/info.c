/* Info objects: ordered keys, values cut to the room there is, copies that are independent; what a process knows of its
 * start. */
/* ranks: 1 2 3 8 */
#include "../check.h"

static void values(void)
{
    MPI_Info info, copy;
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    int n, flag, room;
    CHECK_EQ(MPI_Info_create(&info), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_get_nkeys(info, &n), MPI_SUCCESS);
    CHECK_EQ(n, 0);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "second");
    MPI_Info_set(info, "three", "3");
    MPI_Info_set(info, "two", "two");
    MPI_Info_get_nkeys(info, &n);
    CHECK_EQ(n, 3);
    static const char *const keys[] = {"one", "two", "three"};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(MPI_Info_get_nthkey(info, i, key), MPI_SUCCESS);
        CHECK(!strcmp(key, keys[i]));
    }

    strcpy(value, "unchanged");
    room = 0;
    CHECK_EQ(MPI_Info_get_string(info, "two", &room, value, &flag), MPI_SUCCESS);
    CHECK(flag && room == 4 && !strcmp(value, "unchanged"));
    room = 3;
    CHECK_EQ(MPI_Info_get_string(info, "two", &room, value, &flag), MPI_SUCCESS);
    CHECK(flag && room == 4 && !strcmp(value, "tw"));
    CHECK_EQ(MPI_Info_get_string(info, "two", &room, value, &flag), MPI_SUCCESS);
    CHECK(flag && room == 4 && !strcmp(value, "two"));
    room = 7;
    CHECK_EQ(MPI_Info_get_string(info, "four", &room, value, &flag), MPI_SUCCESS);
    CHECK(!flag && room == 7 && !strcmp(value, "two"));
    CHECK_EQ(MPI_Info_get(info, "two", 2, value, &flag), MPI_SUCCESS);
    CHECK(flag && !strcmp(value, "tw"));
    CHECK_EQ(MPI_Info_get_valuelen(info, "two", &n, &flag), MPI_SUCCESS);
    CHECK(flag && n == 3);

    CHECK_EQ(MPI_Info_dup(info, &copy), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_delete(info, "one"), MPI_SUCCESS);
    CHECK_CLASS(MPI_Info_delete(info, "one"), MPI_ERR_INFO_NOKEY);
    MPI_Info_get_nthkey(info, 0, key);
    CHECK(!strcmp(key, "two"));
    MPI_Info_get_nkeys(copy, &n);
    CHECK_EQ(n, 3);
    memset(key, 'k', MPI_MAX_INFO_KEY);
    key[MPI_MAX_INFO_KEY] = 0;
    CHECK_CLASS(MPI_Info_set(info, key, "v"), MPI_ERR_INFO_KEY);
    key[MPI_MAX_INFO_KEY - 1] = 0;
    CHECK_EQ(MPI_Info_set(info, key, "v"), MPI_SUCCESS);
    memset(value, 'v', MPI_MAX_INFO_VAL);
    value[MPI_MAX_INFO_VAL] = 0;
    CHECK_CLASS(MPI_Info_set(info, "long", value), MPI_ERR_INFO_VALUE);
    value[MPI_MAX_INFO_VAL - 1] = 0;
    CHECK_EQ(MPI_Info_set(info, "long", value), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_set(info, "empty", ""), MPI_SUCCESS);
    room = sizeof value;
    CHECK_EQ(MPI_Info_get_string(info, "empty", &room, value, &flag), MPI_SUCCESS);
    CHECK(flag && room == 1 && !strcmp(value, ""));
    CHECK_EQ(MPI_Info_get_valuelen(info, "empty", &n, &flag), MPI_SUCCESS);
    CHECK(flag && n == 0);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
    MPI_Info_free(&copy);
}

#if MPI_VERSION > 4 || MPI_VERSION == 4 && MPI_SUBVERSION >= 1
/* The info must have a list of memory allocation kinds with these among them. It is freed. */
static void kinds(const char *of, MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL] = "";
    int flag, room = sizeof value;
    CHECK_EQ(MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &room, value, &flag), MPI_SUCCESS);
    int mpi = 0, system = 0;
    for (char *kind = strtok(value, ","); kind; kind = strtok(NULL, ","))
        mpi |= !strcmp(kind, "mpi"), system |= !strcmp(kind, "system");
    CHECK_SAY(flag && mpi && system, "%s: memory kinds are not known", of);
    if (info != MPI_INFO_ENV) MPI_Info_free(&info);
}

/* All objects say of which memory buffers may be (MPI 5.0, 11.4.3). */
static void memory_kinds(void)
{
    MPI_Info info, asked;
    MPI_Comm copy;
    MPI_Win win;
    MPI_Session session;
    char value[64] = "";
    int flag, room = sizeof value;
    kinds("MPI_INFO_ENV", MPI_INFO_ENV);
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    kinds("a communicator", info);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_info(win, &info);
    kinds("a window", info);
    MPI_Win_free(&win);
    MPI_Info_create(&asked);
    MPI_Info_set(asked, "mpi_memory_alloc_kinds", "mpi:win_allocate,no_such_kind");
    MPI_Session_init(asked, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_info(session, &info);
    if (check_library("libimpi")) { /* others may support more */
        MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &room, value, &flag);
        CHECK_SAY(flag && !strcmp(value, "mpi:win_allocate,mpi,system"), "the kinds are %s", value);
    }
    kinds("a session", info);
    MPI_Session_finalize(&session);

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Info_set(asked, "mpi_assert_memory_alloc_kinds", "system");
    MPI_Comm_set_info(copy, asked);
    MPI_Comm_get_info(copy, &info);
    if (check_library("libimpi")) {
        room = sizeof value;
        MPI_Info_get_string(info, "mpi_assert_memory_alloc_kinds", &room, value, &flag);
        CHECK(flag && !strcmp(value, "system"));
    }
    MPI_Info_free(&info);
    MPI_Info_free(&asked);
    MPI_Comm_free(&copy);
}
#else
static void memory_kinds(void) {}
#endif

/* What both know of the start must agree. */
static void start(MPI_Info env, int argc, char **argv)
{
    char value[MPI_MAX_INFO_VAL];
    int flag, room = sizeof value;
    CHECK_EQ(MPI_Info_get_string(env, "command", &room, value, &flag), MPI_SUCCESS);
    CHECK_SAY(!flag || !strcmp(value, argv[0]), "command is %s, argv[0] %s", value, argv[0]);
    room = sizeof value;
    MPI_Info_get_string(env, "argv", &room, value, &flag);
    CHECK_SAY(argc > 1 || !flag || !strcmp(value, ""), "argv is %s", value);
    room = sizeof value;
    MPI_Info_get_string(env, "maxprocs", &room, value, &flag);
    CHECK_SAY(!flag || check_size < 0 || atoi(value) == check_size, "maxprocs is %s", value);
}

int main(int argc, char **argv)
{
#ifdef MPI_ABI_VERSION
    MPI_Info before;
    CHECK_EQ(MPI_Info_create_env(argc, argv, &before), MPI_SUCCESS);
    start(before, argc, argv);
#endif
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    values();
    memory_kinds();
    start(MPI_INFO_ENV, argc, argv);
    if (check_library("libimpi")) {
        char value[16];
        int room = sizeof value, flag;
        MPI_Info env = MPI_INFO_ENV;
        MPI_Info_get_string(env, "maxprocs", &room, value, &flag);
        CHECK(flag && atoi(value) == check_size);
#ifdef MPI_ABI_VERSION
        MPI_Info_get_string(before, "maxprocs", &room, value, &flag);
        CHECK_SAY(flag && atoi(value) == check_size, "before MPI_Init, maxprocs is %s", flag ? value : "not known");
#endif
        CHECK_CLASS(MPI_Info_free(&env), MPI_ERR_INFO);
    }
#ifdef MPI_ABI_VERSION
    MPI_Info_free(&before);
#endif
    return check_end();
}
