/* ranks: 1 2 */
/* Errors keep their classes on the way through a library with another MPI's ABI: as codes that calls return, in
 * statuses, in error handlers, and as what functions of the program answer. */
#include "../check.h"

/* The class of a code; with Open MPI's ABI a code is its class. */
static int class_of(int code)
{
    int class = -1;
    char text[MPI_MAX_ERROR_STRING];
    int n = -1;
    CHECK_EQ(MPI_Error_class(code, &class), MPI_SUCCESS);
    CHECK_EQ(MPI_Error_string(code, text, &n), MPI_SUCCESS);
    CHECK(n > 0 && (size_t)n == strlen(text));
#ifdef OMPI_MAJOR_VERSION
    CHECK_EQ(code, class);
#endif
    return class;
}

static int handled;
static void handler(MPI_Comm *comm, int *code, ...)
{
    CHECK(*comm != MPI_COMM_NULL);
    handled = *code;
}

static void wrong_calls(MPI_Comm comm)
{
    int n = 0, flag;
    MPI_File file;
    MPI_Group group, part;
    MPI_Info info;
    CHECK_EQ(class_of(MPI_Send(&n, 1, MPI_INT, 1000, 1, comm)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Send(&n, 1, MPI_INT, 0, -5, comm)), MPI_ERR_TAG);
    CHECK_EQ(class_of(MPI_Send(&n, -1, MPI_INT, 0, 1, comm)), MPI_ERR_COUNT);
    CHECK_EQ(class_of(MPI_Send(&n, 1, MPI_DATATYPE_NULL, 0, 1, comm)), MPI_ERR_TYPE);
    CHECK_EQ(class_of(MPI_Bcast(&n, 1, MPI_INT, 1000, comm)), MPI_ERR_ROOT);
    CHECK_EQ(class_of(MPI_Allreduce(&n, &flag, 1, MPI_INT, MPI_OP_NULL, comm)), MPI_ERR_OP);
    CHECK_EQ(class_of(MPI_File_open(MPI_COMM_SELF, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)),
             MPI_ERR_NO_SUCH_FILE);
    CHECK_EQ(class_of(MPI_File_open(MPI_COMM_SELF, "none", 0, MPI_INFO_NULL, &file)), MPI_ERR_AMODE);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_SELF, &group);
    CHECK_EQ(class_of(MPI_Group_incl(group, 1, (int[]){1000}, &part)), MPI_ERR_RANK);
    MPI_Group_free(&group);
    MPI_Info_create(&info);
    CHECK_EQ(class_of(MPI_Info_delete(info, "none")), MPI_ERR_INFO_NOKEY);
    MPI_Info_free(&info);
}

/* Small numbers are classes, or unknown ones: none stands for another. With most ABIs larger ones may be codes. */
static void all_numbers(void)
{
#ifdef OMPI_MAJOR_VERSION
    enum { END = MPI_ERR_LASTCODE };
#else
    enum { END = 64 };
#endif
    for (int i = 0; i < END; i++) {
        int class = -1;
        if (MPI_Error_class(i, &class) == MPI_SUCCESS)
            CHECK_SAY(class == i || class == MPI_ERR_UNKNOWN, "class %d is class %d", i, class);
    }
}

static void statuses(MPI_Comm comm)
{
    int out[2] = {1, 2}, in[4] = {0};
    MPI_Request request[3];
    MPI_Status status[3];
    MPI_Status one;
    for (int i = 0; i < 3; i++) status[i].MPI_ERROR = 333;
    MPI_Irecv(&in[0], 1, MPI_INT, check_rank, 1, comm, &request[0]); /* too short */
    MPI_Irecv(&in[1], 2, MPI_INT, check_rank, 2, comm, &request[1]);
    MPI_Isend(out, 2, MPI_INT, check_rank, 1, comm, &request[2]);
    MPI_Send(out, 2, MPI_INT, check_rank, 2, comm);
    CHECK_EQ(class_of(MPI_Waitall(3, request, status)), MPI_ERR_IN_STATUS);
    CHECK_EQ(class_of(status[0].MPI_ERROR), MPI_ERR_TRUNCATE);
    for (int i = 1; i < 3; i++) {
        int class = class_of(status[i].MPI_ERROR);
        CHECK(class == MPI_SUCCESS || class == MPI_ERR_PENDING);
    }
    for (int i = 0; i < 3; i++)
        if (request[i] != MPI_REQUEST_NULL) MPI_Wait(&request[i], MPI_STATUS_IGNORE);

    MPI_Irecv(in, 2, MPI_INT, check_rank, 3, comm, &request[0]);
    MPI_Send(out, 2, MPI_INT, check_rank, 3, comm);
    one.MPI_ERROR = MPI_ERR_SPAWN;
    CHECK_EQ(MPI_Wait(&request[0], &one), MPI_SUCCESS);
    CHECK_EQ(one.MPI_ERROR, MPI_ERR_SPAWN); /* a call with one status leaves its error alone */
}

static int refusal;
static int refuse(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)value, (void)copy;
    *flag = 0;
    return refusal;
}

static void answers(MPI_Comm comm)
{
    static const int each[] = {MPI_ERR_NO_MEM, MPI_ERR_ACCESS, MPI_ERR_NAME, MPI_ERR_RMA_SYNC};
    MPI_Comm copy;
    int key;
    MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    for (int i = 0; i < (int)(sizeof each / sizeof *each); i++) {
        refusal = each[i];
        CHECK_EQ(class_of(MPI_Comm_dup(comm, &copy)), each[i]);
    }
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free_keyval(&key);
}

static void handlers(MPI_Comm comm)
{
    static const int each[] = {MPI_ERR_TRUNCATE, MPI_ERR_QUOTA, MPI_ERR_WIN, MPI_ERR_OTHER};
    MPI_Errhandler ours;
    int n = 0, mine, code, flag, *last;
    MPI_Comm_create_errhandler(handler, &ours);
    MPI_Comm_set_errhandler(comm, ours);
    code = MPI_Send(&n, 1, MPI_INT, 1000, 1, comm);
    CHECK_EQ(handled, code);
    CHECK_EQ(class_of(handled), MPI_ERR_RANK);
    for (int i = 0; i < (int)(sizeof each / sizeof *each); i++) {
        MPI_Comm_call_errhandler(comm, each[i]);
        CHECK_EQ(class_of(handled), each[i]);
    }
    MPI_Add_error_class(&mine);
    MPI_Add_error_code(mine, &code);
    MPI_Comm_call_errhandler(comm, code);
    CHECK_EQ(handled, code);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    CHECK(flag && *last == code && code > mine && mine > MPI_ERR_LASTCODE);
    MPI_Errhandler_free(&ours);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    wrong_calls(comm);
    all_numbers();
    statuses(comm);
    answers(comm);
    handlers(comm);
    MPI_Comm_free(&comm);
    return check_end();
}
