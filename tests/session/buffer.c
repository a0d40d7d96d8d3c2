/* Buffers of sessions: used by the session's communicators that have none of their own, and by no others. */
/* needs: MPI_Session_attach_buffer */
#include "../check.h"

enum { N = 100 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Session s;
    MPI_Group g;
    MPI_Comm c, d;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
    MPI_Comm_create_from_group(g, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    MPI_Comm_dup(c, &d);
    MPI_Group_free(&g);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size, x = 1;
    CHECK_CLASS(MPI_Bsend(&x, 1, MPI_INT, next, 0, c), MPI_ERR_BUFFER);
    static char memory[N * (sizeof(int) + MPI_BSEND_OVERHEAD)];
    CHECK_EQ(MPI_Session_attach_buffer(s, memory, sizeof memory), MPI_SUCCESS);
    CHECK_CLASS(MPI_Session_attach_buffer(s, memory, sizeof memory), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bsend(&x, 1, MPI_INT, next, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    for (int i = 0; i < N; i++) {
        int out = 1000 * check_rank + i, in = -1;
        MPI_Request r;
        CHECK_EQ(MPI_Bsend(&out, 1, MPI_INT, next, i, i % 2 ? c : d), MPI_SUCCESS);
        if (i % 3 == 0) CHECK_EQ(MPI_Session_flush_buffer(s), MPI_SUCCESS);
        CHECK_EQ(MPI_Recv(&in, 1, MPI_INT, before, i, i % 2 ? c : d, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(in, 1000 * before + i);
        CHECK_EQ(MPI_Session_iflush_buffer(s, &r), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    void *address;
    MPI_Count size;
    CHECK_EQ(MPI_Session_detach_buffer_c(s, &address, &size), MPI_SUCCESS);
    CHECK(address == memory && size == sizeof memory);
    CHECK_CLASS(MPI_Bsend(&x, 1, MPI_INT, next, 0, c), MPI_ERR_BUFFER);
    MPI_Comm_free(&c);
    MPI_Comm_free(&d);
    MPI_Session_finalize(&s);
    return check_end();
}
