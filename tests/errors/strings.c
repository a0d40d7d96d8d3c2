/* Error codes have classes and texts; a program can add its own. */
/* ranks: 1 2 3 8 */
#include "../check.h"

static int refuse(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)copy;
    *flag = 1;
    return *(int *)value;
}

/* A number that no call has answered has neither class nor text. Other libraries answer something for many. */
static void no_codes(void)
{
#ifdef IMPI_CLIENT_SIZE /* our own header: codes are the library's own */
    static const int none[] = {-1, 64, MPI_ERR_LASTCODE + 1000};
    if (!check_library("libimpi")) return;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* on which these errors are raised */
    for (int i = 0; i < 3; i++) {
        int c = -1, n = -1;
        char s[MPI_MAX_ERROR_STRING] = "";
        CHECK_CLASS(MPI_Error_class(none[i], &c), MPI_ERR_ARG);
        CHECK_CLASS(MPI_Error_string(none[i], s, &n), MPI_ERR_ARG);
        CHECK(c == -1 && n == -1 && !*s);
    }
#endif
}

int main(int argc, char **argv)
{
    static const int class_[] = {MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TAG, MPI_ERR_COMM,
        MPI_ERR_RANK, MPI_ERR_REQUEST, MPI_ERR_ROOT, MPI_ERR_GROUP, MPI_ERR_OP, MPI_ERR_TOPOLOGY, MPI_ERR_DIMS,
        MPI_ERR_ARG, MPI_ERR_UNKNOWN, MPI_ERR_TRUNCATE, MPI_ERR_OTHER, MPI_ERR_INTERN, MPI_ERR_IN_STATUS,
        MPI_ERR_PENDING, MPI_ERR_KEYVAL, MPI_ERR_NO_MEM, MPI_ERR_INFO_KEY, MPI_ERR_INFO_VALUE, MPI_ERR_INFO_NOKEY,
        MPI_ERR_SPAWN, MPI_ERR_PORT, MPI_ERR_SERVICE, MPI_ERR_NAME, MPI_ERR_WIN, MPI_ERR_SIZE, MPI_ERR_DISP,
        MPI_ERR_INFO, MPI_ERR_LOCKTYPE, MPI_ERR_ASSERT, MPI_ERR_RMA_CONFLICT, MPI_ERR_RMA_SYNC, MPI_ERR_FILE,
        MPI_ERR_NOT_SAME, MPI_ERR_AMODE, MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_UNSUPPORTED_OPERATION,
        MPI_ERR_NO_SUCH_FILE, MPI_ERR_FILE_EXISTS, MPI_ERR_BAD_FILE, MPI_ERR_ACCESS, MPI_ERR_NO_SPACE, MPI_ERR_QUOTA,
        MPI_ERR_READ_ONLY, MPI_ERR_FILE_IN_USE, MPI_ERR_DUP_DATAREP, MPI_ERR_CONVERSION, MPI_ERR_IO, MPI_ERR_LASTCODE};
    enum { N = sizeof class_ / sizeof *class_ };
    char text[N][MPI_MAX_ERROR_STRING];
    check_start(&argc, &argv);
    CHECK_EQ(MPI_SUCCESS, 0);
    for (int i = 0; i < N - 1; i++) { /* LASTCODE is a bound, not a class */
        int n = -1, c = -1;
        CHECK_EQ(MPI_Error_class(class_[i], &c), MPI_SUCCESS);
        CHECK_EQ(c, class_[i]); /* a class is a code of its own class */
        CHECK(class_[i] <= MPI_ERR_LASTCODE);
        memset(text[i], 'x', sizeof text[i]);
        CHECK_EQ(MPI_Error_string(class_[i], text[i], &n), MPI_SUCCESS);
        CHECK(n > 0 && n < MPI_MAX_ERROR_STRING);
        CHECK_EQ(strlen(text[i]), n);
        for (int k = 0; k < i; k++) {
            CHECK_SAY(class_[i] != class_[k], "two classes are %d", class_[i]);
            CHECK_SAY(strcmp(text[i], text[k]), "classes %d and %d are both \"%s\"", class_[i], class_[k], text[i]);
        }
    }

    no_codes();
    int mine = 0, code = 0, c = -1, n = -1, flag = -1, *last = NULL;
    char s[MPI_MAX_ERROR_STRING];
    CHECK_EQ(MPI_Add_error_class(&mine), MPI_SUCCESS);
    CHECK(mine > MPI_ERR_LASTCODE);
    CHECK_EQ(MPI_Add_error_code(mine, &code), MPI_SUCCESS);
    CHECK(code > MPI_ERR_LASTCODE && code != mine);
    MPI_Error_class(code, &c);
    CHECK_EQ(c, mine);
    CHECK_EQ(MPI_Add_error_string(code, "the valve is stuck"), MPI_SUCCESS);
    MPI_Error_string(code, s, &n);
    CHECK(!strcmp(s, "the valve is stuck"));

    /* A code of the program's, answered by an attribute's function, comes out of the call as it is. */
    MPI_Comm one, two;
    int key;
    MPI_Comm_dup(MPI_COMM_SELF, &one);
    MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(one, key, &code);
    CHECK_EQ(MPI_Comm_dup(one, &two), code);
    MPI_Error_string(code, s, &n);
    CHECK_SAY(!strcmp(s, "the valve is stuck"), "%s", s);
    MPI_Comm_set_attr(one, key, &mine);
    CHECK_EQ(MPI_Comm_dup(one, &two), mine);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&one);

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    if (!check_library("MPICH Version:\t4.0")) /* which numbers codes and this attribute differently */
        CHECK(flag && *last >= code);
    return check_end();
}
