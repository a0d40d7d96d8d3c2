/* Hints of files, and their error handlers: what new files have, what is set and asked, and what is called. */
/* needs: MPI_File_get_info MPI_File_set_info MPI_File_set_errhandler MPI_File_call_errhandler MPI_File_c2f */
#include "io.h"

static MPI_File file;

static int has(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL + 1])
{
    int flag = 0;
    value[0] = 0;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
    return flag;
}

/* What the file says of a hint; NULL if nothing. */
static const char *hint(MPI_File f, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info = MPI_INFO_NULL;
    IO_OK(MPI_File_get_info(f, &info));
    CHECK(info != MPI_INFO_NULL);
    int there = has(info, key, value);
    MPI_Info_free(&info);
    return there ? value : NULL;
}

static const char *const all_hints[][2] = {
    {"access_style", "write_once,sequential"}, {"collective_buffering", "true"}, {"cb_block_size", "65536"},
    {"cb_buffer_size", "1048576"}, {"cb_nodes", "1"}, {"chunked", "10,10"}, {"chunked_item", "8"},
    {"chunked_size", "5,5"}, {"filename", "another"}, {"file_perm", "0600"}, {"io_node_list", "*"},
    {"nb_proc", "4"}, {"num_io_nodes", "1"}, {"striping_factor", "1"}, {"striping_unit", "65536"},
    {"romio_cb_read", "enable"}, {"romio_cb_write", "disable"}, {"romio_ds_read", "automatic"},
    {"romio_ds_write", "disable"}, {"romio_no_indep_rw", "false"}, {"ind_rd_buffer_size", "65536"},
    {"ind_wr_buffer_size", "65536"}, {"cb_config_list", "*:1"}, {"no_such_hint", "whatever"},
};
enum { HINTS = sizeof all_hints / sizeof all_hints[0] };

/* Data is the same whatever was hinted; hints are known by open, set_view and set_info; what a hint says has to be
 * the value in force where there is one. */
static void hints(void)
{
    char *path = io_path("hints");
    int libimpi = check_library("libimpi"), out = check_rank + 1, in = -1;
    MPI_Info info;
    MPI_Info_create(&info);
    for (int i = 0; i < HINTS; i++) MPI_Info_set(info, all_hints[i][0], all_hints[i][1]);
    IO_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    if (!check_library("Open MPI"))
        CHECK(hint(file, "cb_buffer_size") && !strcmp(hint(file, "cb_buffer_size"), "1048576"));
    if (libimpi) {
        static const char *const shown[] = {"cb_nodes", "collective_buffering", "striping_unit", "romio_cb_write"};
        for (int i = 0; i < 4; i++) CHECK_SAY(hint(file, shown[i]), "%s is not told", shown[i]);
        CHECK(!hint(file, "no_such_hint"));
    }
    IO_OK(MPI_File_write_at_all(file, 4 * check_rank, &out, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Info_set(info, "cb_buffer_size", "131072");
    IO_OK(MPI_File_set_info(file, info));
    if (libimpi) CHECK(!strcmp(hint(file, "cb_buffer_size"), "131072"));
    MPI_Info_set(info, "cb_buffer_size", "262144");
    IO_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", info));
    if (libimpi) CHECK(!strcmp(hint(file, "cb_buffer_size"), "262144"));
    MPI_Info_free(&info);
    IO_OK(MPI_File_read_at_all(file, check_rank, &in, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(in, out);
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

/* A file without hints has values in force; hints that make no sense are not heard. */
static void defaults(void)
{
    static const char *const nonsense[] = {"none", "-1", "0", "many", "99999999999999999999999"};
    static const char *const numbers[] = {"cb_buffer_size", "cb_nodes", "striping_unit", "striping_factor"};
    char *path = io_path("defaults"), before[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int libimpi = check_library("libimpi");
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    if (libimpi) {
        CHECK(hint(file, "cb_buffer_size") && atoll(hint(file, "cb_buffer_size")) > 0);
        CHECK(hint(file, "cb_nodes") && atoi(hint(file, "cb_nodes")) > 0);
        CHECK(atoi(hint(file, "cb_nodes")) <= check_size);
        snprintf(before, sizeof before, "%s", hint(file, "cb_buffer_size"));
    }
    IO_OK(MPI_File_close(&file));
    for (int i = 0; libimpi && i < 5; i++) {
        MPI_Info_create(&info);
        for (int k = 0; k < 4; k++) MPI_Info_set(info, numbers[k], nonsense[i]);
        IO_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &file));
        CHECK_SAY(!strcmp(hint(file, "cb_buffer_size"), before), "cb_buffer_size is %s", hint(file, "cb_buffer_size"));
        IO_OK(MPI_File_close(&file));
        MPI_Info_free(&info);
    }
    io_delete(path);
}

/* Every way of writing gives the same file, whatever the buffers and the aggregators. */
static void ways(void)
{
    static const char *const set[][3] = {
        {"cb_buffer_size", "4096", "1"}, {"cb_buffer_size", "100", "2"}, {"romio_cb_write", "enable", "1"},
        {"romio_cb_write", "disable", "3"}, {"collective_buffering", "false", "1"}, {"romio_ds_write", "disable", "2"},
        {"striping_unit", "512", "4"}, {"romio_ds_read", "enable", "100"},
    };
    enum { EACH = 3000 };
    static int out[EACH], in[EACH];
    char *path = io_path("ways");
    MPI_Datatype column;
    MPI_Type_create_resized(MPI_INT, 0, 4 * check_size, &column);
    MPI_Type_commit(&column);
    for (int w = 0; w < 8; w++) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, set[w][0], set[w][1]);
        MPI_Info_set(info, "cb_nodes", set[w][2]);
        IO_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
        MPI_Info_free(&info);
        io_view(file, 4 * check_rank, MPI_INT, column);
        for (int i = 0; i < EACH; i++) out[i] = w * 1000000 + i * 10 + check_rank;
        io_do(file, &io_accesses[w % 2 ? 2 : 0], 1, 0, 0, out, EACH, MPI_INT, EACH);
        io_settle(file);
        io_do(file, &io_accesses[w % 2 ? 0 : 2], 0, 0, 0, in, EACH, MPI_INT, EACH);
        CHECK(!memcmp(in, out, sizeof in));
        long n;
        int *ints = (int *)io_contents(path, &n);
        CHECK_EQ(n, 4 * EACH * check_size);
        for (int i = 0; i < EACH * check_size; i++)
            CHECK_EQ(ints[i], w * 1000000 + i / check_size * 10 + i % check_size);
        free(ints);
        MPI_Barrier(MPI_COMM_WORLD);
        IO_OK(MPI_File_close(&file));
    }
    MPI_Type_free(&column);
    io_delete(path);
}

static MPI_File called_with;
static int called, called_code;

static void note(MPI_File *f, int *code, ...)
{
    called_with = *f;
    called_code = *code;
    called++;
}

/* The class that the handler of notes was called with, since the last time; 0 if it was not. */
static int noted(MPI_File with)
{
    int class_ = 0;
    if (called == 0) return 0;
    CHECK_EQ(called, 1);
    CHECK(called_with == with);
    MPI_Error_class(called_code, &class_);
    called = 0;
    return class_;
}

/* The call is wrong: the handler hears of it, with this handle. MPICH 5 then returns no error. */
#define RAISES(call, with, class_) \
    do { \
        if (check_library("libimpi")) { \
            CHECK_CLASS(call, class_); \
            CHECK_EQ(noted(with), class_); \
        } else { \
            (void)(call); \
            CHECK(noted(with) != 0); \
        } \
    } while (0)

static MPI_Errhandler handler_of(MPI_File f)
{
    MPI_Errhandler e = MPI_ERRHANDLER_NULL;
    IO_OK(MPI_File_get_errhandler(f, &e));
    return e;
}

static void forget(MPI_Errhandler e)
{
    if (e != MPI_ERRORS_RETURN && e != MPI_ERRORS_ARE_FATAL) MPI_Errhandler_free(&e);
}

/* Files return errors unless told otherwise; a new file has the handler of MPI_FILE_NULL, which opening and deleting
 * call as well (14.7). */
static void handlers(void)
{
    char *path = io_path("handlers"), *missing = io_path("missing"), byte = 0;
    MPI_Errhandler mine, got;
    CHECK(handler_of(MPI_FILE_NULL) == MPI_ERRORS_RETURN);
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    CHECK(handler_of(file) == MPI_ERRORS_RETURN);
    IO_OK(MPI_File_create_errhandler(note, &mine));
    IO_OK(MPI_File_set_errhandler(file, mine));
    got = handler_of(file);
    CHECK(got == mine);
    forget(got);
    RAISES(MPI_File_read_at(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), file, MPI_ERR_ACCESS);
    RAISES(MPI_File_seek(file, -1, MPI_SEEK_SET), file, MPI_ERR_ARG);
    IO_OK(MPI_File_call_errhandler(file, MPI_ERR_QUOTA));
    CHECK_EQ(noted(file), MPI_ERR_QUOTA);
    IO_OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_File_read_at(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    CHECK_EQ(noted(file), 0);

    IO_OK(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
    int early = !check_library("MPICH"); /* which frees it too soon */
    if (early) MPI_Errhandler_free(&mine); /* it lives as long as somebody has it */
    CHECK(handler_of(file) == MPI_ERRORS_RETURN); /* files that are open keep theirs */
    RAISES(MPI_File_delete(missing, MPI_INFO_NULL), MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE);
    MPI_File other = MPI_FILE_NULL;
    RAISES(MPI_File_open(MPI_COMM_SELF, missing, MPI_MODE_RDONLY, MPI_INFO_NULL, &other), MPI_FILE_NULL,
           MPI_ERR_NO_SUCH_FILE);
    other = io_open(path, MPI_MODE_WRONLY);
    IO_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    RAISES(MPI_File_read_at(other, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), other, MPI_ERR_ACCESS);
    CHECK_CLASS(MPI_File_read_at(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    CHECK_EQ(noted(file), 0);
    IO_OK(MPI_File_close(&other));
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

/* Handles as integers. */
static void handles(void)
{
    char *path = io_path("handles");
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
#ifdef MPI_ABI_VERSION
    CHECK(MPI_File_fromint(MPI_File_toint(file)) == file);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
#endif
    IO_OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    hints();
    defaults();
    ways();
    handlers();
    handles();
    return io_end();
}
