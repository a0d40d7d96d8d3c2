/* Error handlers with a state of the program's (mpix.h), for each kind of object: a handler is told its state, may jump
 * out, and is inherited; a destructor is called once, when no object has the handler and the program has freed it. */
/* ranks: 1 2 */
/* needs: MPIX_Comm_create_errhandler_x */
#include "../check.h"
#include <mpix.h>
#include <setjmp.h>

struct seen { int calls, code, ended; void *object; };

static void note(struct seen *s, void *object, int code)
{
    CHECK_EQ(s->ended, 0);
    s->calls++;
    s->code = code;
    s->object = object;
}

static void of_comm(MPI_Comm comm, int code, void *state) { note(state, (void *)comm, code); }
static void of_win(MPI_Win win, int code, void *state) { note(state, (void *)win, code); }
static void of_file(MPI_File file, int code, void *state) { note(state, (void *)file, code); }
static void of_session(MPI_Session session, int code, void *state) { note(state, (void *)session, code); }
static void ended(void *state) { ((struct seen *)state)->ended++; }

static void any_number_at_once(void)
{
    enum { MANY = 200 };
    static struct seen seen[MANY];
    MPI_Errhandler handlers[MANY];
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    for (int i = 0; i < MANY; i++) MPIX_Comm_create_errhandler_x(of_comm, ended, &seen[i], &handlers[i]);
    for (int i = 0; i < MANY; i += 11) {
        MPI_Comm_set_errhandler(c, handlers[i]);
        CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, check_size, 0, c), MPI_ERR_RANK);
        CHECK(seen[i].calls == 1 && seen[i].object == (void *)c);
        CHECK_CLASS(seen[i].code, MPI_ERR_RANK);
    }
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    for (int i = 0; i < MANY; i++) MPI_Errhandler_free(&handlers[i]);
    for (int i = 0; i < MANY; i++)
        if (i % 11) CHECK_EQ(seen[i].ended, 1); /* no object has had it */
    MPI_Comm_free(&c);
}

/* A handler that the program frees stays with the communicator, and with those that are made of it. */
static struct seen kept;

static void inherited(void)
{
    MPI_Comm c, copy;
    MPI_Errhandler mine, got;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPIX_Comm_create_errhandler_x(of_comm, ended, &kept, &mine);
    MPI_Comm_set_errhandler(c, mine);
    MPI_Errhandler_free(&mine);
    CHECK_EQ(kept.ended, 0);
    MPI_Comm_dup(c, &copy);
    MPI_Comm_get_errhandler(copy, &got);
    MPI_Comm_free(&c);
    MPI_Send(NULL, 0, MPI_INT, check_size, 0, copy);
    CHECK(kept.calls == 1 && kept.object == (void *)copy);
    MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
    CHECK(kept.calls == 2 && kept.code == MPI_ERR_OTHER);
    MPI_Errhandler_free(&got);
    MPI_Comm_free(&copy);
}

static jmp_buf out;
static void jump(MPI_Comm comm, int code, void *state)
{
    of_comm(comm, code, state);
    longjmp(out, 1);
}

static void jumping(void)
{
    struct seen seen = {0};
    MPI_Errhandler mine;
    MPIX_Comm_create_errhandler_x(jump, NULL, &seen, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
    for (volatile int i = 0; i < 20; i++)
        if (setjmp(out) == 0) {
            MPI_Send(NULL, 0, MPI_INT, 3, 0, MPI_COMM_SELF);
            CHECK_SAY(0, "the handler was not called, or came back");
        }
    CHECK_EQ(seen.calls, 20);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&mine);
}

static struct seen window, file, session;

static void other_objects(void)
{
    MPI_Errhandler mine;
    MPI_Win win;
    MPI_Session s;
    MPIX_Win_create_errhandler_x(of_win, ended, &window, &mine);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_set_errhandler(win, mine);
    CHECK_CLASS(MPI_Put(NULL, 0, MPI_INT, 9, 0, 0, MPI_INT, win), MPI_ERR_RANK);
    CHECK(window.calls == 1 && window.object == (void *)win);
    MPI_Errhandler_free(&mine);
    MPI_Win_free(&win);

    MPIX_File_create_errhandler_x(of_file, ended, &file, &mine);
    MPI_File_set_errhandler(MPI_FILE_NULL, mine);
    MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO);
    CHECK(file.calls == 1 && file.object == (void *)MPI_FILE_NULL && file.code == MPI_ERR_IO);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&mine);

    MPIX_Session_create_errhandler_x(of_session, ended, &session, &mine);
    MPI_Session_init(MPI_INFO_NULL, mine, &s);
    MPI_Session_call_errhandler(s, MPI_ERR_ARG);
    CHECK(session.calls == 1 && session.object == (void *)s && session.code == MPI_ERR_ARG);
    MPI_Errhandler_free(&mine);
    MPI_Session_finalize(&s);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    any_number_at_once();
    inherited();
    jumping();
    other_objects();
    int status = check_end();
    CHECK_EQ(kept.ended, 1);
    CHECK_EQ(window.ended, 1);
    CHECK_EQ(file.ended, 1);
    CHECK_EQ(session.ended, 1);
    return status;
}
