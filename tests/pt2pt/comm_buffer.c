/* Buffers of communicators: used before the process's, flushed, detached; MPI_BUFFER_AUTOMATIC. */
/* ranks: 1 2 3 */
#include "../check.h"

#if MPI_VERSION > 4 || MPI_VERSION == 4 && MPI_SUBVERSION >= 1
enum { ROOM = 1000 + MPI_BSEND_OVERHEAD };

static char memory[ROOM], of_process[ROOM];
static int next, previous;

static void own_buffer(void)
{
    char out[1000], in[1000];
    void *address = NULL;
    int size = -1;
    MPI_Comm comm;
    MPI_Request flushed;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Bsend(out, 1, MPI_CHAR, next, 0, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Comm_detach_buffer(comm, &address, &size), MPI_ERR_BUFFER);
    MPI_Comm_attach_buffer(comm, memory, ROOM);
    CHECK_CLASS(MPI_Comm_attach_buffer(comm, memory, ROOM), MPI_ERR_BUFFER);
    check_fill(out, sizeof out, (uint64_t)check_rank);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(MPI_Bsend(out, 1000, MPI_CHAR, next, i, comm), MPI_SUCCESS);
        memset(out, 0, sizeof out); /* a copy is under way */
        MPI_Recv(in, 1000, MPI_CHAR, previous, i, comm, MPI_STATUS_IGNORE);
        CHECK_EQ(check_differs(in, sizeof in, (uint64_t)previous), -1);
        if (i % 2) {
            MPI_Comm_flush_buffer(comm);
        } else {
            MPI_Comm_iflush_buffer(comm, &flushed);
            MPI_Wait(&flushed, MPI_STATUS_IGNORE);
        }
        check_fill(out, sizeof out, (uint64_t)check_rank);
    }
    CHECK_CLASS(MPI_Bsend(memory, ROOM + 1, MPI_CHAR, next, 0, comm), MPI_ERR_BUFFER); /* never fits */
    MPI_Comm_detach_buffer(comm, &address, &size);
    CHECK(address == memory);
    CHECK_EQ(size, ROOM);
    MPI_Comm_free(&comm);
}

/* The process's buffer serves communicators that have none, and only those. */
static void both(void)
{
    char out[1000] = {1}, in[1000];
    void *address;
    int size;
    MPI_Comm comm;
    MPI_Request flushed;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Buffer_attach(of_process, ROOM);
    CHECK_EQ(MPI_Bsend(out, 1000, MPI_CHAR, next, 0, comm), MPI_SUCCESS);
    MPI_Comm_attach_buffer(comm, memory, ROOM);
    CHECK_EQ(MPI_Bsend(out, 1000, MPI_CHAR, next, 1, comm), MPI_SUCCESS); /* there is room */
    MPI_Recv(in, 1000, MPI_CHAR, previous, 0, comm, MPI_STATUS_IGNORE);
    MPI_Recv(in, 1000, MPI_CHAR, previous, 1, comm, MPI_STATUS_IGNORE);
    MPI_Buffer_iflush(&flushed);
    MPI_Wait(&flushed, MPI_STATUS_IGNORE);
    MPI_Comm_detach_buffer(comm, &address, &size);
    CHECK(address == memory);
    MPI_Buffer_detach(&address, &size);
    CHECK(address == of_process);
    MPI_Comm_free(&comm);
}

static void automatic(void)
{
    enum { LONG = 200000 };
    char *out = malloc(LONG), *in = malloc(LONG);
    void *address = NULL;
    int size;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
    for (int i = 0; i < 4; i++) {
        check_fill(out, LONG, (uint64_t)(check_rank * 10 + i));
        CHECK_EQ(MPI_Bsend(out, LONG, MPI_CHAR, next, i, comm), MPI_SUCCESS);
    }
    for (int i = 0; i < 4; i++) {
        MPI_Recv(in, LONG, MPI_CHAR, previous, i, comm, MPI_STATUS_IGNORE);
        CHECK_EQ(check_differs(in, LONG, (uint64_t)(previous * 10 + i)), -1);
    }
    MPI_Comm_detach_buffer(comm, &address, &size);
    CHECK(address == MPI_BUFFER_AUTOMATIC);
    MPI_Comm_free(&comm);
    free(out);
    free(in);
}
#endif

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
#if MPI_VERSION > 4 || MPI_VERSION == 4 && MPI_SUBVERSION >= 1
    next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    own_buffer();
    both();
    automatic();
#endif
    return check_end();
}
