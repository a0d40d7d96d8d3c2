/* A program of sessions only: what elsewhere leans on MPI_COMM_SELF works without the world model. */
/* needs: MPI_Session_init MPI_Comm_create_from_group */
#include "../check.h"

static MPI_Comm all;

/* Receives of the message that a matched probe of MPI_PROC_NULL finds. */
static void no_process(void)
{
    enum { WAYS = 4 };
    for (int way = 0; way < WAYS; way++) {
        MPI_Message m = MPI_MESSAGE_NULL;
        MPI_Status st;
        MPI_Request r;
        int in = 7, flag = -1, n = -1;
        if (way % 2) {
            CHECK_EQ(MPI_Mprobe(MPI_PROC_NULL, 3, all, &m, &st), MPI_SUCCESS);
        } else {
            CHECK_EQ(MPI_Improbe(MPI_PROC_NULL, 3, all, &flag, &m, &st), MPI_SUCCESS);
            CHECK_EQ(flag, 1);
        }
        CHECK(m == MPI_MESSAGE_NO_PROC);
        if (way == 0) {
            CHECK_EQ(MPI_Mrecv(&in, 1, MPI_INT, &m, &st), MPI_SUCCESS);
        } else if (way == 1) {
            CHECK_EQ(MPI_Mrecv_c(&in, 1, MPI_INT, &m, &st), MPI_SUCCESS);
        } else {
            if (way == 2) CHECK_EQ(MPI_Imrecv(&in, 1, MPI_INT, &m, &r), MPI_SUCCESS);
            else CHECK_EQ(MPI_Imrecv_c(&in, 1, MPI_INT, &m, &r), MPI_SUCCESS);
            CHECK_EQ(MPI_Wait(&r, &st), MPI_SUCCESS);
        }
        MPI_Get_count(&st, MPI_INT, &n);
        CHECK(m == MPI_MESSAGE_NULL && n == 0 && in == 7);
        CHECK(st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG);
    }
}

static int query(void *state, MPI_Status *st)
{
    (void)state;
    MPI_Status_set_elements(st, MPI_INT, 0);
    MPI_Status_set_cancelled(st, 0);
    return MPI_SUCCESS;
}
static int nothing(void *state) { (void)state; return MPI_SUCCESS; }
static int uncancelled(void *state, int complete) { (void)state, (void)complete; return MPI_SUCCESS; }

/* Requests that belong to no communicator. */
static void requests(MPI_Session s)
{
    static char room[1000 + MPI_BSEND_OVERHEAD];
    MPI_Request r;
    void *back;
    int n;
    CHECK_EQ(MPI_Grequest_start(query, nothing, uncancelled, NULL, &r), MPI_SUCCESS);
    CHECK_EQ(MPI_Grequest_complete(r), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Buffer_attach(room, sizeof room), MPI_SUCCESS);
    CHECK_EQ(MPI_Buffer_flush(), MPI_SUCCESS);
    CHECK_EQ(MPI_Buffer_iflush(&r), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Buffer_detach(&back, &n), MPI_SUCCESS);
    CHECK(back == room && n == sizeof room);
    CHECK_EQ(MPI_Session_flush_buffer(s), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_iflush_buffer(s, &r), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

/* The predefined communicators are not there: as arguments of a call on another one they are wrong, and no more. */
static void arguments(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    int result, color = -1, level = -1, is = -1;
    CHECK_CLASS(MPI_Comm_compare(all, MPI_COMM_WORLD, &result), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_compare(all, MPI_COMM_SELF, &result), MPI_ERR_COMM);
    if (check_size == 1) CHECK_CLASS(MPI_Intercomm_create(all, 0, MPI_COMM_WORLD, 0, 5, &made), MPI_ERR_COMM);
    CHECK_EQ(MPI_Query_thread(&level), MPI_SUCCESS);
    CHECK_EQ(MPI_Is_thread_main(&is), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_rank(made, &color), MPI_SUCCESS);
    MPI_Comm_free(&made);
    int *bound = NULL;
    CHECK_EQ(MPI_Comm_get_attr(all, MPI_TAG_UB, &bound, &is), MPI_SUCCESS);
    CHECK(is && *bound >= 32767);
}

int main(void)
{
    MPI_Session s;
    MPI_Group world;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), MPI_SUCCESS);
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://WORLD", &world), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all), MPI_SUCCESS);
    MPI_Comm_rank(all, &check_rank);
    MPI_Comm_size(all, &check_size);
    no_process();
    requests(s);
    arguments();
    MPI_Group_free(&world);
    MPI_Comm_free(&all);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    return 0;
}
