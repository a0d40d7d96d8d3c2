/* A program of sessions only: several, one after the other and at once, with groups, communicators and their
 * handlers; nothing of the world model is there. */
/* needs: MPI_Session_init MPI_Comm_create_from_group */
#include "../check.h"

static MPI_Session the_session;
static int raised, class_seen;

static void handler(MPI_Session *session, int *code, ...)
{
    CHECK(*session == the_session);
    MPI_Error_class(*code, &class_seen);
    raised++;
}

static MPI_Comm all_of(MPI_Session s, const char *tag)
{
    MPI_Group world;
    MPI_Comm c;
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://WORLD", &world), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    MPI_Group_free(&world);
    MPI_Comm_rank(c, &check_rank);
    MPI_Comm_size(c, &check_size);
    return c;
}

static void names(MPI_Session s)
{
    int n = -1, world = 0, self = 0;
    CHECK_EQ(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n), MPI_SUCCESS);
    CHECK(n >= 2);
    for (int i = 0; i < n; i++) {
        char name[MPI_MAX_PSET_NAME_LEN], cut[5] = "xxxx", size[16];
        int length = 0, again, flag, room = sizeof size;
        CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, NULL), MPI_SUCCESS);
        CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN);
        again = sizeof name;
        CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &again, name), MPI_SUCCESS);
        CHECK_EQ(again, length);
        CHECK_EQ(strlen(name), length - 1);
        again = 4;
        CHECK_EQ(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &again, cut), MPI_SUCCESS);
        CHECK_EQ(again, length);
        CHECK(strncmp(cut, name, 3) == 0 && cut[3] == 0);
        world += strcmp(name, "mpi://WORLD") == 0;
        self += strcmp(name, "mpi://SELF") == 0;

        MPI_Group g;
        MPI_Info info;
        int members, rank;
        CHECK_EQ(MPI_Group_from_session_pset(s, name, &g), MPI_SUCCESS);
        CHECK_EQ(MPI_Group_size(g, &members), MPI_SUCCESS);
        CHECK_EQ(MPI_Group_rank(g, &rank), MPI_SUCCESS);
        CHECK(rank >= 0 && rank < members);
        CHECK_EQ(MPI_Session_get_pset_info(s, name, &info), MPI_SUCCESS);
        CHECK_EQ(MPI_Info_get_string(info, "mpi_size", &room, size, &flag), MPI_SUCCESS);
        CHECK(flag && atoi(size) == members);
        MPI_Info_free(&info);
        MPI_Comm c;
        CHECK_EQ(MPI_Comm_create_from_group(g, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
        int sum = 0, one = 1;
        CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c), MPI_SUCCESS);
        CHECK_EQ(sum, members);
        MPI_Comm_free(&c);
        MPI_Group_free(&g);
    }
    CHECK_EQ(world, 1);
    CHECK_EQ(self, 1);
    int length = 10;
    CHECK_CLASS(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, n, &length, NULL), MPI_ERR_ARG);
    MPI_Group none = MPI_GROUP_EMPTY;
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://nowhere", &none), MPI_SUCCESS);
    CHECK(none == MPI_GROUP_NULL);
    MPI_Info info;
    CHECK_CLASS(MPI_Session_get_pset_info(s, "mpi://nowhere", &info), MPI_ERR_ARG);
}

/* A program that does not say what its threads do may do anything. */
static void thread_level(MPI_Session s)
{
    MPI_Info used;
    char level[64] = "";
    int room = sizeof level, flag = 0;
    CHECK_EQ(MPI_Session_get_info(s, &used), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_get_string(used, "thread_level", &room, level, &flag), MPI_SUCCESS);
    CHECK(flag && !strcmp(level, "MPI_THREAD_MULTIPLE"));
    MPI_Info_free(&used);
}

int main(void)
{
    int up = -1, down = -1;
    for (int round = 0; round < 20; round++) {
        MPI_Session s, t;
        CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), MPI_SUCCESS);
        CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &t), MPI_SUCCESS);
        CHECK(s != t && s != MPI_SESSION_NULL);
        CHECK(MPI_Session_fromint(MPI_Session_toint(s)) == s && MPI_Session_f2c(MPI_Session_c2f(t)) == t);
        MPI_Comm c = all_of(s, "first"), d = all_of(t, "second");
        int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size, in = -1,
            in2 = -1;
        int out = 10 * round + check_rank, out2 = -out;
        MPI_Request r[2];
        MPI_Irecv(&in2, 1, MPI_INT, before, 5, d, &r[0]);
        MPI_Isend(&out2, 1, MPI_INT, next, 5, d, &r[1]);
        CHECK_EQ(MPI_Sendrecv(&out, 1, MPI_INT, next, 5, &in, 1, MPI_INT, before, 5, c, MPI_STATUS_IGNORE),
                 MPI_SUCCESS);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK_EQ(in, 10 * round + before);
        CHECK_EQ(in2, -in);
        CHECK_EQ(MPI_Initialized(&up), MPI_SUCCESS);
        CHECK_EQ(MPI_Finalized(&down), MPI_SUCCESS);
        CHECK(!up && !down);
        if (round == 0) {
            names(s);
            thread_level(s);
            MPI_Comm dup;
            CHECK_EQ(MPI_Comm_dup(c, &dup), MPI_SUCCESS);
            CHECK_EQ(MPI_Barrier(dup), MPI_SUCCESS);
            MPI_Comm_free(&dup);
        }
        MPI_Comm_free(&c);
        CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
        CHECK(s == MPI_SESSION_NULL);
        CHECK_EQ(MPI_Barrier(d), MPI_SUCCESS);
        MPI_Comm_free(&d);
        CHECK_EQ(MPI_Session_finalize(&t), MPI_SUCCESS);
    }

    MPI_Info info, used;
    MPI_Errhandler h, got;
    char level[64];
    int room = sizeof level, flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    CHECK_EQ(MPI_Session_create_errhandler(handler, &h), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_init(info, h, &the_session), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Session s = the_session;
    CHECK_EQ(MPI_Session_get_info(s, &used), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_get_string(used, "thread_level", &room, level, &flag), MPI_SUCCESS);
    CHECK(flag && strcmp(level, "MPI_THREAD_MULTIPLE") == 0);
    MPI_Info_free(&used);
    CHECK_EQ(MPI_Session_get_errhandler(s, &got), MPI_SUCCESS);
    CHECK(got == h);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&h);
    CHECK_CLASS(MPI_Session_get_pset_info(s, "no such set", &used), MPI_ERR_ARG);
    CHECK_EQ(raised, 1);
    CHECK_EQ(class_seen, MPI_ERR_ARG);
    CHECK_EQ(MPI_Session_call_errhandler(s, MPI_ERR_TOPOLOGY), MPI_SUCCESS);
    CHECK_EQ(raised, 2);
    CHECK_EQ(class_seen, MPI_ERR_TOPOLOGY);
    CHECK_EQ(MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN), MPI_SUCCESS);
    CHECK_CLASS(MPI_Session_get_pset_info(s, "no such set", &used), MPI_ERR_ARG);
    CHECK_EQ(raised, 2);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    return 0;
}
