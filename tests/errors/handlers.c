/* Error handlers: the program's own are called with the communicator and the code, may jump out, and are inherited;
 * MPI_ERRORS_RETURN returns. */
#include "../check.h"
#include <setjmp.h>

static int calls, last_class;
static MPI_Comm last_comm;
static jmp_buf out;

static void note(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    MPI_Error_class(*code, &last_class);
}

static void jump(MPI_Comm *comm, int *code, ...)
{
    note(comm, code);
    longjmp(out, 1);
}

static void own_handler(void)
{
    MPI_Comm c, copy, part;
    MPI_Errhandler mine, got;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    CHECK_EQ(MPI_Comm_create_errhandler(note, &mine), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_set_errhandler(c, mine), MPI_SUCCESS);
    MPI_Comm_get_errhandler(c, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    CHECK(got == MPI_ERRHANDLER_NULL);
    MPI_Errhandler_free(&mine); /* the communicator keeps it */
    calls = 0;
    CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, check_size, 0, c), MPI_ERR_RANK);
    CHECK_EQ(calls, 1);
    CHECK_EQ(last_class, MPI_ERR_RANK);
    CHECK(last_comm == c);
    MPI_Comm_dup(c, &copy);
    MPI_Send(NULL, 0, MPI_INT, 0, -9, copy);
    CHECK_EQ(calls, 2);
    CHECK_EQ(last_class, MPI_ERR_TAG);
    CHECK(last_comm == copy);
    MPI_Comm_split(c, 0, check_rank, &part);
    MPI_Bcast(NULL, 0, MPI_INT, check_size, part);
    CHECK_EQ(calls, 3);
    CHECK_EQ(last_class, MPI_ERR_ROOT);
    /* Calls of the handler by the program. */
    MPI_Comm_call_errhandler(c, MPI_ERR_OTHER);
    CHECK_EQ(calls, 4);
    CHECK_EQ(last_class, MPI_ERR_OTHER);
    /* Another handler takes over. */
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, check_size, 0, c), MPI_ERR_RANK);
    CHECK_EQ(calls, 4);
    MPI_Comm_get_errhandler(c, &got);
    CHECK(got == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&got);
    MPI_Comm_free(&c);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&part);
}

/* A handler that leaves by longjmp, many times over, from blocking and nonblocking calls. */
static void jumping(void)
{
    MPI_Comm c;
    MPI_Errhandler mine;
    MPI_Request request;
    volatile int landed = 0;
    int in[4], next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_create_errhandler(jump, &mine);
    MPI_Comm_set_errhandler(c, mine);
    calls = 0;
    for (volatile int i = 0; i < 300; i++) {
        if (setjmp(out) == 0) {
            if (i % 3 == 0) MPI_Send(in, 1, MPI_INT, check_size + 3, 0, c);
            else if (i % 3 == 1) MPI_Irecv(in, -1, MPI_INT, 0, 0, c, &request);
            else MPI_Allreduce(in, in, 1, MPI_INT, MPI_OP_NULL, c);
            CHECK_SAY(0, "the handler was not called, or came back");
        }
        landed++;
    }
    CHECK_EQ(landed, 300);
    CHECK_EQ(calls, 300);
    /* Nothing is held or lost: messages and collectives go on. */
    in[0] = -1;
    MPI_Sendrecv(&check_rank, 1, MPI_INT, next, 0, in, 1, MPI_INT, previous, 0, c, MPI_STATUS_IGNORE);
    CHECK_EQ(in[0], previous);
    MPI_Barrier(c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&mine);
    MPI_Comm_free(&c);
}

static void defaults(void)
{
    MPI_Errhandler got;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&got);
}

/* An error of a call without an object goes to the handler of MPI_COMM_SELF; until the program has set that, the one of
 * MPI_COMM_WORLD gets it, which programs of MPI 3 and before rely on. */
static void without_an_object(void)
{
    MPI_Errhandler mine;
    void *memory;
    MPI_Comm_create_errhandler(note, &mine);
    calls = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    CHECK_CLASS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory), MPI_ERR_ARG);
    CHECK(calls == 1 && last_comm == MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory), MPI_ERR_ARG);
    CHECK_EQ(calls, 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
    CHECK_CLASS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory), MPI_ERR_ARG);
    CHECK(calls == 2 && last_comm == MPI_COMM_SELF);
    MPI_Errhandler_free(&mine);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    defaults();
    without_an_object();
    own_handler();
    jumping();
    return check_end();
}
