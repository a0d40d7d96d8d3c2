/* Every function of point-to-point communication, datatypes and communicators, called with each argument wrong in
 * turn. */
/* ranks: 1 2 3 8 */
#include "../check.h"

/* The error has the right class, its handler is called once, on the communicator it belongs to, with the code that
 * the call returns, and the code's text names the function and the argument. Only libimpi promises that. */
#ifdef MPI_ABI_VERSION

static struct {
    MPI_Comm comm, freed_comm;
    MPI_Datatype raw_type, freed_type, types[4];
    MPI_Group group, freed_group;
    MPI_Info freed_info;
    MPI_Request freed_request, requests[4];
    MPI_Message message, freed_message;
    uintptr_t junk; /* a handle of another kind */
    long long memory[512];
} good;

#include "z_wrong_calls.h"

static struct { int calls, code; MPI_Comm comm; } handled;

static void handler(MPI_Comm *comm, int *code, ...)
{
    handled.calls++;
    handled.code = *code;
    handled.comm = *comm;
}

static void prepare(void)
{
    MPI_Errhandler h;
    MPI_Info info;
    int in = 0, out = 0;
    MPI_Comm_create_errhandler(handler, &h);
    good.junk = (uintptr_t)h;
    MPI_Comm_dup(MPI_COMM_WORLD, &good.comm);
    MPI_Comm_set_errhandler(good.comm, h);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    good.freed_comm = comm;
    MPI_Comm_free(&comm);
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &good.raw_type);
    MPI_Type_contiguous(3, MPI_INT, &type);
    good.freed_type = type;
    MPI_Type_free(&type);
    for (int i = 0; i < 4; i++) good.types[i] = MPI_INT, good.requests[i] = MPI_REQUEST_NULL;
    MPI_Group group;
    MPI_Comm_group(good.comm, &good.group);
    MPI_Comm_group(MPI_COMM_SELF, &group);
    good.freed_group = group;
    MPI_Group_free(&group);
    MPI_Info_create(&info);
    good.freed_info = info;
    MPI_Info_free(&info);
    MPI_Request request;
    MPI_Message message;
    MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    good.freed_request = request;
    MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Mprobe(0, 0, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    good.freed_message = message;
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

/* What is wrong with how a wrong call was answered; NULL if nothing is. */
static const char *judge(const struct wrong_call *w, int code)
{
    static char said[MPI_MAX_ERROR_STRING + 100];
    char text[MPI_MAX_ERROR_STRING];
    int class_ = -1, n;
    MPI_Comm owner = w->own ? good.comm : MPI_COMM_SELF;
    if (code == MPI_SUCCESS) return "succeeds";
    MPI_Error_class(code, &class_);
    MPI_Error_string(code, text, &n);
    snprintf(said, sizeof said, "\"%s\"", text);
    if (class_ != w->class_) return said;
    if (handled.calls != 1) return "does not call the handler exactly once";
    if (handled.comm != owner) return "calls the handler of another communicator";
    if (handled.code != code) return "returns another code than the handler gets";
    if (strncmp(text, w->function, strlen(w->function)) != 0 || text[strlen(w->function)] != ':') return said;
    if (!strstr(text, w->argument)) return said;
    return NULL;
}

static void wrong_calls_are_answered(void)
{
    int failures = 0, calls = (int)(sizeof wrong_calls / sizeof *wrong_calls);
    for (int i = 0; i < calls; i++) {
        const struct wrong_call *w = &wrong_calls[i];
        memset(&handled, 0, sizeof handled);
        for (int k = 0; k < 512; k++) good.memory[k] = 0;
        good.message = MPI_MESSAGE_NO_PROC;
        const char *wrong = judge(w, w->call());
        if (!wrong) continue;
        failures++;
        if (check_rank == 0) fprintf(stderr, "%s with %s = %s: %s\n", w->function, w->argument, w->value, wrong);
    }
    CHECK_SAY(failures == 0, "%d of %d wrong calls are not answered as they should be", failures, calls);
}

/* After all of this everything works. */
static void alive(void)
{
    int sum = -1;
    MPI_Comm_set_errhandler(good.comm, MPI_ERRORS_ARE_FATAL);
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, good.comm);
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    MPI_Group_free(&good.group);
    MPI_Type_free(&good.raw_type);
    MPI_Comm_free(&good.comm);
    MPI_Errhandler h = (MPI_Errhandler)good.junk;
    MPI_Errhandler_free(&h);
}
#endif

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
#ifdef MPI_ABI_VERSION
    if (check_library("libimpi")) {
        prepare();
        wrong_calls_are_answered();
        alive();
    }
#endif
    return check_end();
}
