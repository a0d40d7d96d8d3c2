/* What can be said of windows and files where there are none: keys, error handlers, null handles. */
#include "../check.h"

static int called;

static void on_file(MPI_File *file, int *code, ...)
{
    int class_;
    MPI_Error_class(*code, &class_);
    CHECK(*file == MPI_FILE_NULL && class_ == MPI_ERR_IO);
    called++;
}

static void on_win(MPI_Win *win, int *code, ...) { (void)win; (void)code; }

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int key, key_of_comm, flag;
    void *value;
    CHECK_EQ(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_set_attr(MPI_WIN_NULL, key, &key), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_get_attr(MPI_WIN_NULL, key, &value, &flag), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_delete_attr((MPI_Win)(uintptr_t)77, key), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_SELF, key, &key), MPI_ERR_KEYVAL); /* a key of windows */
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key_of_comm, NULL);
    CHECK_CLASS(MPI_Win_free_keyval(&key_of_comm), MPI_ERR_KEYVAL);
    CHECK_EQ(MPI_Win_free_keyval(&key), MPI_SUCCESS);
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
    MPI_Comm_free_keyval(&key_of_comm);

    MPI_Errhandler h, was;
    CHECK_EQ(MPI_Win_create_errhandler(on_win, &h), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_set_errhandler(MPI_WIN_NULL, h), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_get_errhandler(MPI_WIN_NULL, &was), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_call_errhandler(MPI_WIN_NULL, MPI_ERR_OTHER), MPI_ERR_WIN);
    MPI_Errhandler_free(&h);

    /* MPI_FILE_NULL stands for the handler that files begin with. */
    CHECK_EQ(MPI_File_get_errhandler(MPI_FILE_NULL, &was), MPI_SUCCESS);
    CHECK(was == MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_File_create_errhandler(on_file, &h), MPI_SUCCESS);
    CHECK_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, h), MPI_SUCCESS);
    CHECK_EQ(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), MPI_SUCCESS);
    CHECK_EQ(called, 1);
    CHECK_EQ(MPI_File_get_errhandler(MPI_FILE_NULL, &was), MPI_SUCCESS);
    CHECK(was == h);
    MPI_Errhandler_free(&was);
    CHECK_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN), MPI_SUCCESS);
    MPI_Errhandler_free(&h);
    CHECK_CLASS(MPI_File_set_errhandler((MPI_File)(uintptr_t)77, MPI_ERRORS_RETURN), MPI_ERR_FILE);
    CHECK_CLASS(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    CHECK_CLASS(MPI_File_call_errhandler((MPI_File)(uintptr_t)77, MPI_ERR_IO), MPI_ERR_FILE);

    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL &&
          MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL &&
          MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    return check_end();
}
