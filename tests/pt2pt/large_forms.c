/* The forms with counts of type MPI_Count do what the others do: every mode, blocking, nonblocking and persistent,
 * matched receives, partitions, and the buffers of process, communicator and session. */
/* needs: MPI_Session_attach_buffer_c */
/* ranks: 1 2 3 4 */
#include "../check.h"

enum { N = 1000 };
static int next, before, out[N], in[N], round_;

static void fill(void)
{
    round_++;
    for (int i = 0; i < N; i++) out[i] = 100000 * check_rank + 1000 * round_ + i, in[i] = -1;
}

static void arrived(void)
{
    for (int i = 0; i < N; i++) CHECK_EQ(in[i], 100000 * before + 1000 * round_ + i);
}

static MPI_Request posted(void)
{
    MPI_Request r;
    fill();
    CHECK_EQ(MPI_Irecv_c(in, N, MPI_INT, before, 1, MPI_COMM_WORLD, &r), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD); /* for ready sends */
    return r;
}

static void ends(MPI_Request r)
{
    MPI_Status s;
    MPI_Count n = -1, e = -1;
    MPI_Wait(&r, &s);
    CHECK_EQ(MPI_Get_count_c(&s, MPI_INT, &n), MPI_SUCCESS);
    CHECK_EQ(MPI_Get_elements_c(&s, MPI_INT, &e), MPI_SUCCESS);
    CHECK(n == N && e == N);
    arrived();
}

typedef int blocking(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int starting(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void modes(void)
{
    blocking *block[] = {MPI_Send_c, MPI_Bsend_c, MPI_Rsend_c, MPI_Ssend_c};
    starting *start[] = {MPI_Isend_c, MPI_Ibsend_c, MPI_Irsend_c, MPI_Issend_c};
    starting *persistent[] = {MPI_Send_init_c, MPI_Bsend_init_c, MPI_Rsend_init_c, MPI_Ssend_init_c};
    for (int i = 0; i < 4; i++) {
        MPI_Request r = posted(), s;
        CHECK_EQ(block[i](out, N, MPI_INT, next, 1, MPI_COMM_WORLD), MPI_SUCCESS);
        ends(r);
        r = posted();
        CHECK_EQ(start[i](out, N, MPI_INT, next, 1, MPI_COMM_WORLD, &s), MPI_SUCCESS);
        ends(r);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
        CHECK_EQ(persistent[i](out, N, MPI_INT, next, 1, MPI_COMM_WORLD, &s), MPI_SUCCESS);
        for (int k = 0; k < 2; k++) {
            r = posted();
            CHECK_EQ(MPI_Start(&s), MPI_SUCCESS);
            ends(r);
            MPI_Wait(&s, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&s);
    }
}

static void receives(void)
{
    MPI_Request r, s;
    MPI_Message m;
    MPI_Status status;
    MPI_Count n = -1;
    fill();
    MPI_Recv_init_c(in, N, MPI_INT, before, 2, MPI_COMM_WORLD, &r);
    MPI_Start(&r);
    MPI_Send(out, N, MPI_INT, next, 2, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    arrived();
    MPI_Request_free(&r);
    for (int immediate = 0; immediate < 2; immediate++) {
        fill();
        MPI_Issend_c(out, N, MPI_INT, next, 3, MPI_COMM_WORLD, &s);
        MPI_Mprobe(before, 3, MPI_COMM_WORLD, &m, &status);
        MPI_Get_count_c(&status, MPI_INT, &n);
        CHECK_EQ(n, N);
        if (immediate) {
            CHECK_EQ(MPI_Imrecv_c(in, N, MPI_INT, &m, &r), MPI_SUCCESS);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else {
            CHECK_EQ(MPI_Mrecv_c(in, N, MPI_INT, &m, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
        CHECK(m == MPI_MESSAGE_NULL);
        arrived();
        MPI_Wait(&s, MPI_STATUS_IGNORE);
    }
    fill();
    MPI_Isend(out, N, MPI_INT, next, 4, MPI_COMM_WORLD, &s);
    MPI_Recv_c(in, N, MPI_INT, before, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    arrived();
    fill();
    MPI_Sendrecv_c(out, N, MPI_INT, next, 5, in, N, MPI_INT, before, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    arrived();
    fill();
    memcpy(in, out, sizeof in);
    MPI_Sendrecv_replace_c(in, N, MPI_INT, next, 6, before, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    arrived();
    fill();
    MPI_Isendrecv_c(out, N, MPI_INT, next, 7, in, N, MPI_INT, before, 7, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    arrived();
    fill();
    memcpy(in, out, sizeof in);
    MPI_Isendrecv_replace_c(in, N, MPI_INT, next, 8, before, 8, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    arrived();
}

/* A buffer of one owner after the other, attached and given back; flushed in all ways. */
static void buffers(void)
{
    enum { SIZE = 4 * (sizeof out + MPI_BSEND_OVERHEAD) };
    static char memory[SIZE];
    MPI_Session session;
    MPI_Group group;
    MPI_Comm of_session, comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "large forms", MPI_INFO_NULL, MPI_ERRORS_RETURN, &of_session);
    MPI_Group_free(&group);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int owner = 0; owner < 3; owner++) {
        MPI_Comm c = owner == 0 ? MPI_COMM_WORLD : owner == 1 ? comm : of_session;
        for (int automatic = 0; automatic < 2; automatic++) {
            void *given = automatic ? MPI_BUFFER_AUTOMATIC : (void *)memory, *back = NULL;
            MPI_Count size = -1, attach = automatic ? 0 : SIZE;
            MPI_Request flushed;
            if (owner == 0) CHECK_EQ(MPI_Buffer_attach_c(given, attach), MPI_SUCCESS);
            if (owner == 1) CHECK_EQ(MPI_Comm_attach_buffer_c(c, given, attach), MPI_SUCCESS);
            if (owner == 2) CHECK_EQ(MPI_Session_attach_buffer_c(session, given, attach), MPI_SUCCESS);
            for (int i = 0; i < 4; i++) {
                fill();
                CHECK_EQ(MPI_Bsend_c(out, N, MPI_INT, next, 9, c), MPI_SUCCESS);
                memset(out, 0xff, sizeof out);
                MPI_Recv(in, N, MPI_INT, before, 9, c, MPI_STATUS_IGNORE);
                arrived();
                MPI_Barrier(c);
                if (owner == 0) CHECK_EQ(i % 2 ? MPI_Buffer_flush() : MPI_Buffer_iflush(&flushed), MPI_SUCCESS);
                if (owner == 1) {
                    CHECK_EQ(i % 2 ? MPI_Comm_flush_buffer(c) : MPI_Comm_iflush_buffer(c, &flushed), MPI_SUCCESS);
                }
                if (owner == 2) {
                    CHECK_EQ(i % 2 ? MPI_Session_flush_buffer(session) : MPI_Session_iflush_buffer(session, &flushed),
                             MPI_SUCCESS);
                }
                if (i % 2 == 0) CHECK_EQ(MPI_Wait(&flushed, MPI_STATUS_IGNORE), MPI_SUCCESS);
            }
            if (owner == 0) CHECK_EQ(MPI_Buffer_detach_c(&back, &size), MPI_SUCCESS);
            if (owner == 1) CHECK_EQ(MPI_Comm_detach_buffer_c(c, &back, &size), MPI_SUCCESS);
            if (owner == 2) CHECK_EQ(MPI_Session_detach_buffer_c(session, &back, &size), MPI_SUCCESS);
            CHECK(back == given);
            if (!automatic) CHECK_EQ(size, SIZE);
        }
    }
    int small = -1;
    void *back = NULL;
    CHECK_EQ(MPI_Session_attach_buffer(session, memory, SIZE), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_detach_buffer(session, &back, &small), MPI_SUCCESS);
    CHECK(back == memory && small == SIZE);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&of_session);
    MPI_Session_finalize(&session);
}

/* A flush is not over before a message in the buffer has been received, and one that is begun later does not delay
 * it. */
static void flush_waits(void)
{
    static char memory[2 * (sizeof out + MPI_BSEND_OVERHEAD)];
    MPI_Comm comm;
    MPI_Request flushed;
    int flag = -1, token = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_attach_buffer(comm, memory, sizeof memory);
    fill();
    MPI_Bsend(out, N, MPI_INT, next, 10, comm);
    MPI_Comm_iflush_buffer(comm, &flushed);
    MPI_Sendrecv_replace(&token, 1, MPI_INT, next, 11, before, 11, comm, MPI_STATUS_IGNORE);
    MPI_Recv(in, N, MPI_INT, before, 10, comm, MPI_STATUS_IGNORE);
    arrived();
    MPI_Wait(&flushed, MPI_STATUS_IGNORE);
    MPI_Comm_iflush_buffer(comm, &flushed);
    MPI_Test(&flushed, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 1); /* nothing is in it */
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    before = (check_rank + check_size - 1) % check_size;
    static char memory[8 * (sizeof out + MPI_BSEND_OVERHEAD)];
    void *back;
    int size;
    MPI_Buffer_attach(memory, sizeof memory);
    modes();
    MPI_Buffer_detach(&back, &size);
    receives();
    buffers();
    flush_waits();
    return check_end();
}
