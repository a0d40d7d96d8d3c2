/* What may be called before MPI_Init and after MPI_Finalize may; the rest ends the process, with an error that names
 * the function. Error classes, codes and handlers made before are there afterwards. */
/* ranks: 1 2 3 8 */
/* needs: MPI_Remove_error_class */
#include "../check.h"
#include <sys/wait.h>
#include <unistd.h>

static int class_, code;

static void allowed(void)
{
    int flag, n, version, subversion;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Errhandler h;
    MPI_Info info;
    CHECK_EQ(MPI_Initialized(&flag), MPI_SUCCESS);
    CHECK_EQ(MPI_Finalized(&flag), MPI_SUCCESS);
    CHECK_EQ(MPI_Get_version(&version, &subversion), MPI_SUCCESS);
    CHECK_EQ(MPI_Get_library_version(text, &n), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_create(&info), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_set(info, "key", "value"), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_free(&info), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_create_errhandler((MPI_Session_errhandler_function *)allowed, &h), MPI_SUCCESS);
    CHECK_EQ(MPI_Errhandler_free(&h), MPI_SUCCESS);
    CHECK_EQ(MPI_Error_string(MPI_ERR_TAG, text, &n), MPI_SUCCESS);
    CHECK_EQ(MPI_Error_class(MPI_ERR_TAG, &n), MPI_SUCCESS);
}

/* A child that does what must not be done: it ends, and says why on stderr. */
static void forbidden(char *self, const char *what)
{
    int to[2], status;
    char said[1000] = "";
    CHECK_EQ(pipe(to), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(to[1], 2);
        close(to[0]);
        execl(self, self, what, (char *)NULL);
        _exit(77);
    }
    close(to[1]);
    size_t n = 0;
    for (ssize_t k; n < sizeof said - 1 && (k = read(to[0], said + n, sizeof said - 1 - n)) > 0;) n += (size_t)k;
    close(to[0]);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_SAY(WIFEXITED(status) && WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 77, "status %#x, \"%s\"", status,
              said);
    CHECK_SAY(strstr(said, "MPI_Comm_size"), "it says \"%s\"", said);
}

int main(int argc, char **argv)
{
    int size, n;
    if (argc > 1) {
        unsetenv("IMPI_LINK"); /* alone */
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        return 0;
    }
    allowed();
    CHECK_EQ(MPI_Add_error_class(&class_), MPI_SUCCESS);
    CHECK_EQ(MPI_Add_error_code(class_, &code), MPI_SUCCESS);
    CHECK_EQ(MPI_Add_error_string(code, "ours"), MPI_SUCCESS);
    forbidden(argv[0], "before");
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    char text[MPI_MAX_ERROR_STRING];
    int *last, flag, other, third;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    CHECK(flag && *last == code);
    CHECK_EQ(MPI_Add_error_class(&other), MPI_SUCCESS);
    CHECK_EQ(*last, other);
    CHECK_EQ(MPI_Add_error_code(MPI_ERR_TAG, &third), MPI_SUCCESS); /* of a predefined class */
    CHECK_EQ(*last, third);
    CHECK_EQ(MPI_Error_class(third, &n), MPI_SUCCESS);
    CHECK_EQ(n, MPI_ERR_TAG);
    CHECK_EQ(MPI_Remove_error_code(third), MPI_SUCCESS);
    CHECK_EQ(*last, other);
    CHECK_EQ(MPI_Remove_error_class(other), MPI_SUCCESS);
    CHECK_EQ(*last, code);
    CHECK_CLASS(MPI_Remove_error_class(class_), MPI_ERR_ARG); /* it has a code */
    CHECK_CLASS(MPI_Remove_error_class(MPI_ERR_TAG), MPI_ERR_ARG);
    CHECK_EQ(MPI_Error_string(code, text, &n), MPI_SUCCESS);
    CHECK(!strcmp(text, "ours"));
    CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG); /* it has a string */
    CHECK_EQ(MPI_Remove_error_string(code), MPI_SUCCESS);
    CHECK_EQ(MPI_Error_string(code, text, &n), MPI_SUCCESS);
    CHECK_EQ(n, 0);
    CHECK_EQ(MPI_Remove_error_code(code), MPI_SUCCESS);
    CHECK_CLASS(MPI_Error_class(code, &n), MPI_ERR_ARG);
    CHECK_EQ(MPI_Remove_error_class(class_), MPI_SUCCESS);
    CHECK_CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG);
    MPI_Finalize();
    allowed();
    return 0;
}
