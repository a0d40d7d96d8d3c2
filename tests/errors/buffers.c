/* What may be wrong with buffers, generalized requests, partitions and statuses, and is not in the table of wrong
 * calls. */
/* needs: MPI_Session_attach_buffer */
/* ranks: 1 2 */
#include "../check.h"

static char memory[1 << 16];

static int query(void *state, MPI_Status *status) { (void)state, (void)status; return MPI_SUCCESS; }
static int release(void *state) { (void)state; return MPI_SUCCESS; }
static int cancel(void *state, int complete) { (void)state, (void)complete; return MPI_SUCCESS; }

static void process_and_communicator(void)
{
    void *back;
    int size;
    MPI_Count large;
    CHECK_CLASS(MPI_Buffer_attach(memory, -1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Buffer_attach_c(memory, -1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Buffer_attach(NULL, 100), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_attach_c(NULL, 100), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_detach(&back, &size), MPI_ERR_BUFFER); /* there is none */
    CHECK_CLASS(MPI_Buffer_detach_c(&back, &large), MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Buffer_attach(memory, sizeof memory), MPI_SUCCESS);
    CHECK_CLASS(MPI_Buffer_attach(memory, sizeof memory), MPI_ERR_BUFFER); /* there is one */
    /* no room */
    CHECK_CLASS(MPI_Bsend(memory, sizeof memory, MPI_BYTE, check_rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Buffer_detach(NULL, &size), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Buffer_iflush(NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Buffer_detach(&back, &size), MPI_SUCCESS);
    CHECK(back == memory && size == (int)sizeof memory);
    CHECK_CLASS(MPI_Comm_attach_buffer(MPI_COMM_WORLD, NULL, 100), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Comm_attach_buffer(MPI_COMM_WORLD, memory, -1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &size), MPI_ERR_BUFFER);
}

static void session(void)
{
    MPI_Session open, bad[2];
    void *back;
    int size;
    MPI_Request request;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &open);
    bad[0] = MPI_SESSION_NULL;
    bad[1] = open;
    MPI_Session_finalize(&open);
    for (int i = 0; i < 2; i++) {
        CHECK_CLASS(MPI_Session_attach_buffer(bad[i], memory, sizeof memory), MPI_ERR_SESSION);
        CHECK_CLASS(MPI_Session_attach_buffer_c(bad[i], memory, sizeof memory), MPI_ERR_SESSION);
        CHECK_CLASS(MPI_Session_detach_buffer(bad[i], &back, &size), MPI_ERR_SESSION);
        CHECK_CLASS(MPI_Session_flush_buffer(bad[i]), MPI_ERR_SESSION);
        CHECK_CLASS(MPI_Session_iflush_buffer(bad[i], &request), MPI_ERR_SESSION);
    }
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &open);
    CHECK_CLASS(MPI_Session_attach_buffer(open, NULL, 100), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Session_attach_buffer(open, memory, -1), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Session_detach_buffer(open, &back, &size), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Session_iflush_buffer(open, NULL), MPI_ERR_ARG);
    MPI_Session_finalize(&open);
}

static void generalized(void)
{
    MPI_Request request, other;
    CHECK_CLASS(MPI_Grequest_start(NULL, release, cancel, NULL, &request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Grequest_start(query, NULL, cancel, NULL, &request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Grequest_start(query, release, NULL, NULL, &request), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Grequest_start(query, release, cancel, NULL, NULL), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    int x = 0;
    MPI_Irecv(&x, 1, MPI_INT, check_rank, 0, MPI_COMM_WORLD, &other);
    CHECK_CLASS(MPI_Grequest_complete(other), MPI_ERR_REQUEST);
    MPI_Cancel(&other);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
}

static void partitioned(void)
{
    enum { PARTS = 4 };
    int out[PARTS] = {0}, in[PARTS], flag, outside[] = {0, PARTS};
    MPI_Request r[2], plain;
    MPI_Psend_init(out, PARTS, 1, MPI_INT, check_rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, PARTS, 1, MPI_INT, check_rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Startall(2, r);
    CHECK_CLASS(MPI_Pready(-1, r[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(PARTS, r[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(0, PARTS, r[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_range(-1, 0, r[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(2, outside, r[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready_list(1, NULL, r[0]), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Pready(0, r[1]), MPI_ERR_REQUEST); /* that of the receive */
    CHECK_CLASS(MPI_Parrived(r[1], -1, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(r[1], PARTS, &flag), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Parrived(r[0], 0, &flag), MPI_ERR_REQUEST);
    CHECK_EQ(MPI_Pready_range(0, PARTS - 1, r[0]), MPI_SUCCESS);
    CHECK_EQ(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Irecv(in, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, &plain);
    CHECK_CLASS(MPI_Pready(0, plain), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Start(&plain), MPI_ERR_REQUEST);
    MPI_Cancel(&plain);
    MPI_Wait(&plain, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#ifdef MPI_ABI_VERSION
    if (check_library("libimpi")) { /* which finds all of it */
        process_and_communicator();
        session();
        generalized();
        partitioned();
    }
#endif
    return check_end();
}
