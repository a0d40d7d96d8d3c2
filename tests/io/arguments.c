/* Wrong arguments of calls on files: each is answered with the class that MPI 5.0, 14.8, has for it. */
/* needs: MPI_File_open MPI_File_write_all MPI_File_iread_shared MPI_File_set_view MPI_File_write_ordered_begin */
#include "io.h"

static MPI_File file;
static int ints[8];

/* The error of an access, wherever it comes. */
static int code_of(MPI_File f, const io_access *a, int writes, int large, MPI_Offset at, void *buf, int count,
                   MPI_Datatype type)
{
    io_op op;
    int code = io_begin(&op, f, a, writes, large, at, buf, count, type);
    return code == MPI_SUCCESS ? io_finish(&op) : code;
}

#define WRONG(code, want) \
    do { \
        int code_ = (code), is_ = -1; \
        MPI_Error_class(code_, &is_); \
        CHECK_SAY(code_ != MPI_SUCCESS, "%s %s%s succeeds, which should be %s", writes ? "write" : "read", a->name, \
                  large ? "_c" : "", #want); \
        if (is_ != (want) && (check_library("libimpi") || getenv("CHECK_STRICT"))) \
            check_fail(__FILE__, __LINE__, "%s %s%s gives %s, not %s", writes ? "write" : "read", a->name, \
                       large ? "_c" : "", check_class_name(is_), #want); \
    } while (0)
#define PROMISED(code, want) \
    do { if (check_library("libimpi")) WRONG(code, want); } while (0)

/* Wrong in every access. An access that was refused has moved nothing, and the next one is right. */
static void every_access(void)
{
    char *path = io_path("every access");
    MPI_Datatype raw;
    MPI_Offset at = -1;
    MPI_Type_contiguous(2, MPI_INT, &raw);
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    io_view(file, 0, MPI_INT, MPI_INT);
    for (int k = 0; k < IO_ACCESSES; k++)
        for (int writes = 1; writes >= 0; writes--)
            for (int large = 0; large < 2; large++) {
                const io_access *a = &io_accesses[k];
                int asked = !check_library("Open MPI"); /* it takes what the others refuse, or crashes */
                if (asked || !io_collective(a))
                    WRONG(code_of(file, a, writes, large, 0, ints, -1, MPI_INT), MPI_ERR_COUNT);
                if (asked) WRONG(code_of(file, a, writes, large, 0, ints, 1, MPI_DATATYPE_NULL), MPI_ERR_TYPE);
                PROMISED(code_of(file, a, writes, large, 0, ints, 1, raw), MPI_ERR_TYPE);
                PROMISED(code_of(file, a, writes, large, 0, NULL, 1, MPI_INT), MPI_ERR_BUFFER);
                if (a->pointer == IO_EXPLICIT && asked)
                    WRONG(code_of(file, a, writes, large, -1, ints, 1, MPI_INT), MPI_ERR_ARG);
                if (check_library("libimpi")) /* half an etype */
                    CHECK(code_of(file, a, writes, large, 0, ints, 3, MPI_SHORT) != MPI_SUCCESS);
                if (!check_library("Open MPI v4")) /* which crashes */
                    WRONG(code_of(MPI_FILE_NULL, a, writes, large, 0, ints, 1, MPI_INT), MPI_ERR_FILE);
                io_do(file, a, writes, large, 0, ints, 0, MPI_INT, 0);
            }
    IO_OK(MPI_File_get_position(file, &at));
    CHECK_EQ(at, 0);
    IO_OK(MPI_File_get_position_shared(file, &at));
    CHECK_EQ(at, 0);
    IO_OK(MPI_File_get_size(file, &at));
    CHECK_EQ(at, 0);
    MPI_Type_free(&raw);
    IO_OK(MPI_File_close(&file));
}

/* What the mode forbids. */
static void modes(void)
{
    char *path = io_path("modes");
    io_make(path, "01234567", 8);
    for (int k = 0; k < IO_ACCESSES; k++) {
        const io_access *a = &io_accesses[k];
        for (int large = 0; large < 2; large++)
            for (int writes = 0; writes < 2; writes++) {
                file = io_open(path, writes ? MPI_MODE_RDONLY : MPI_MODE_WRONLY);
                if (!check_library("MPICH") || a->pointer != IO_COMMON) /* some of these succeed there, or never end */
                    WRONG(code_of(file, a, writes, large, 0, ints, 1, MPI_BYTE),
                          writes ? MPI_ERR_READ_ONLY : MPI_ERR_ACCESS);
                PROMISED(code_of(file, a, writes, large, 0, ints, 0, MPI_BYTE),
                         writes ? MPI_ERR_READ_ONLY : MPI_ERR_ACCESS);
                IO_OK(MPI_File_close(&file));
                if (a->pointer == IO_COMMON) continue;
                file = io_open(path, MPI_MODE_SEQUENTIAL | (writes ? MPI_MODE_WRONLY : MPI_MODE_RDONLY));
                if (!check_library("Open MPI"))
                    WRONG(code_of(file, a, writes, large, 0, ints, 1, MPI_BYTE), MPI_ERR_UNSUPPORTED_OPERATION);
                IO_OK(MPI_File_close(&file));
            }
    }
    file = io_open(path, MPI_MODE_RDONLY);
    IO_WRONG(MPI_File_set_size(file, 4), MPI_ERR_READ_ONLY);
    IO_WRONG(MPI_File_preallocate(file, 100), MPI_ERR_READ_ONLY);
    if (!check_library("Open MPI")) IO_OK(MPI_File_sync(file));
    IO_OK(MPI_File_close(&file));

    MPI_Offset at;
    file = io_open(path, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    IO_PROMISED(MPI_File_set_size(file, 4), MPI_ERR_UNSUPPORTED_OPERATION);
    IO_PROMISED(MPI_File_preallocate(file, 100), MPI_ERR_UNSUPPORTED_OPERATION);
    IO_PROMISED(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    IO_PROMISED(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    IO_PROMISED(MPI_File_get_position(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    IO_PROMISED(MPI_File_get_position_shared(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    if (check_library("libimpi")) IO_OK(MPI_File_get_byte_offset(file, 0, &at)); /* the exception (14.4.3) */
    IO_OK(MPI_File_close(&file));
    unsigned char *bytes;
    long n;
    MPI_Barrier(MPI_COMM_WORLD);
    bytes = io_contents(path, &n);
    CHECK(n == 8 && !memcmp(bytes, "01234567", 8));
    free(bytes);
    io_delete(path);
}

/* Every other call on this handle, which is none. */
static void no_file(MPI_File f)
{
    MPI_Offset at;
    MPI_Aint extent;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype etype, filetype;
    char rep[MPI_MAX_DATAREP_STRING];
    int n;
    IO_WRONG(MPI_File_get_size(f, &at), MPI_ERR_FILE);
    IO_WRONG(MPI_File_set_size(f, 0), MPI_ERR_FILE);
    IO_WRONG(MPI_File_preallocate(f, 0), MPI_ERR_FILE);
    IO_WRONG(MPI_File_get_group(f, &group), MPI_ERR_FILE);
    IO_WRONG(MPI_File_get_amode(f, &n), MPI_ERR_FILE);
    IO_WRONG(MPI_File_set_info(f, MPI_INFO_NULL), MPI_ERR_FILE);
    IO_WRONG(MPI_File_get_info(f, &info), MPI_ERR_FILE);
    IO_WRONG(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_FILE);
    IO_WRONG(MPI_File_get_view(f, &at, &etype, &filetype, rep), MPI_ERR_FILE);
    IO_WRONG(MPI_File_seek(f, 0, MPI_SEEK_SET), MPI_ERR_FILE);
    IO_WRONG(MPI_File_get_position(f, &at), MPI_ERR_FILE);
    IO_WRONG(MPI_File_get_byte_offset(f, 0, &at), MPI_ERR_FILE);
    IO_WRONG(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), MPI_ERR_FILE);
    IO_WRONG(MPI_File_get_position_shared(f, &at), MPI_ERR_FILE);
    IO_WRONG(MPI_File_get_type_extent(f, MPI_INT, &extent), MPI_ERR_FILE);
    IO_WRONG(MPI_File_set_atomicity(f, 0), MPI_ERR_FILE);
    IO_WRONG(MPI_File_get_atomicity(f, &n), MPI_ERR_FILE);
    IO_WRONG(MPI_File_sync(f), MPI_ERR_FILE);
    IO_WRONG(MPI_File_close(&f), MPI_ERR_FILE);
}

/* Pointers to results that are none. */
static void no_results(void)
{
    char *path = io_path("no results");
    if (!check_library("libimpi")) return;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    IO_WRONG(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    IO_WRONG(MPI_File_open(MPI_COMM_WORLD, NULL, mode, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
    IO_WRONG(MPI_File_delete(NULL, MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    IO_WRONG(MPI_File_get_size(file, NULL), MPI_ERR_ARG);
    IO_WRONG(MPI_File_get_group(file, NULL), MPI_ERR_ARG);
    IO_WRONG(MPI_File_get_amode(file, NULL), MPI_ERR_ARG);
    IO_WRONG(MPI_File_get_info(file, NULL), MPI_ERR_ARG);
    IO_WRONG(MPI_File_get_position(file, NULL), MPI_ERR_ARG);
    IO_WRONG(MPI_File_get_position_shared(file, NULL), MPI_ERR_ARG);
    IO_WRONG(MPI_File_get_byte_offset(file, 0, NULL), MPI_ERR_ARG);
    IO_WRONG(MPI_File_get_atomicity(file, NULL), MPI_ERR_ARG);
    IO_WRONG(MPI_File_get_type_extent(file, MPI_INT, NULL), MPI_ERR_ARG);
    IO_WRONG(MPI_File_iread_at(file, 0, ints, 1, MPI_INT, NULL), MPI_ERR_ARG);
    IO_WRONG(MPI_File_close(NULL), MPI_ERR_ARG);
    IO_OK(MPI_File_close(&file));
}

/* One rank's wrong argument of a collective call is everybody's error: nobody waits for that rank forever. */
static void one_of_all(void)
{
    char *path = io_path("one of all");
    int wrong = check_rank == check_size / 2;
    if (!check_library("libimpi")) return;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    for (int k = 0; k < IO_ACCESSES; k++)
        for (int writes = 0; writes < 2; writes++) {
            const io_access *a = &io_accesses[k];
            if (!io_collective(a)) continue;
            int code = code_of(file, a, writes, 0, 0, ints, wrong ? -1 : 4, MPI_INT), class_;
            MPI_Error_class(code, &class_);
            CHECK_SAY(code != MPI_SUCCESS, "%s %s succeeds", writes ? "write" : "read", a->name);
            if (wrong) CHECK_EQ(class_, MPI_ERR_COUNT);
        }
    int code = MPI_File_set_size(file, wrong ? -5 : 10);
    CHECK(code != MPI_SUCCESS);
    code = MPI_File_set_view(file, 0, wrong ? MPI_DATATYPE_NULL : MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    CHECK(code != MPI_SUCCESS);
    code = MPI_File_seek_shared(file, wrong ? -5 : 10, MPI_SEEK_SET);
    CHECK(code != MPI_SUCCESS);
    IO_OK(MPI_File_write_at_all(file, 4 * check_rank, ints, 1, MPI_INT, MPI_STATUS_IGNORE)); /* all goes on */
    IO_OK(MPI_File_close(&file));
    if (check_size > 1) { /* opening, too: a name, a mode, an info */
        code = MPI_File_open(MPI_COMM_WORLD, wrong ? io_path("missing/x") : path, MPI_MODE_CREATE | MPI_MODE_RDWR,
                             MPI_INFO_NULL, &file);
        CHECK(code != MPI_SUCCESS);
        code = MPI_File_open(MPI_COMM_WORLD, path, wrong ? 0 : MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        CHECK(code != MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 0) unlink(path);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    every_access();
    modes();
    if (!check_library("Open MPI")) no_file(MPI_FILE_NULL); /* some are an error of MPI_COMM_WORLD's there */
    if (check_library("libimpi")) { /* a handle that was a file's */
        file = io_open(io_path("closed"), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        MPI_File closed = file;
        IO_OK(MPI_File_close(&file));
        no_file(closed);
    }
    no_results();
    one_of_all();
    return io_end();
}
