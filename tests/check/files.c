/* IMPI_CHECK=1: calls on files of which the members have different ideas. */
/* ranks: 2 3 */
#include "../io/io.h"
#include "differ.h"

static MPI_File file;
static int data[4], back[4];
static MPI_Status none;

/* The last rank sets a size while the others make the call that is named. */
#define BESIDE_SIZE(call, name) \
    OTHER_CALL(MPI_File_set_size(file, 100), call, MPI_ERR_NOT_SAME, "MPI_File_set_size", name)

static MPI_Info info_of(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

static void opening(const char *path)
{
    MPI_Info info = info_of("cb_nodes", ODD ? "2" : "1");
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    DIFFERS(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &file), MPI_ERR_NOT_SAME, "cb_nodes=2", differ_odd());
    DIFFERS(MPI_File_open(MPI_COMM_WORLD, path, mode | (ODD ? MPI_MODE_UNIQUE_OPEN : 0), MPI_INFO_NULL, &file),
            MPI_ERR_NOT_SAME, "argument amode", differ_odd());
    OTHER_CALL(MPI_Barrier(MPI_COMM_WORLD), MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file),
               MPI_ERR_OTHER, "MPI_Barrier", "MPI_File_open");
    file = io_open(path, mode | MPI_MODE_DELETE_ON_CLOSE);
    DIFFERS(MPI_File_set_info(file, info), MPI_ERR_NOT_SAME, "cb_nodes=2", differ_odd());
    DIFFERS(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info), MPI_ERR_NOT_SAME, "cb_nodes=2",
            differ_odd());
    MPI_Info_free(&info);
    info = info_of("access_style", ODD ? "sequential" : "random"); /* may differ */
    CHECK_EQ(MPI_File_set_info(file, info), MPI_SUCCESS);
    MPI_Info_free(&info);
}

static void attributes(void)
{
    DIFFERS(MPI_File_set_size(file, 100 + ODD), MPI_ERR_NOT_SAME, "argument size", differ_odd());
    DIFFERS(MPI_File_preallocate(file, 100 + ODD), MPI_ERR_NOT_SAME, "argument size", differ_odd());
    DIFFERS(MPI_File_set_atomicity(file, ODD), MPI_ERR_NOT_SAME, "argument flag", differ_odd());
    DIFFERS(MPI_File_seek_shared(file, ODD, MPI_SEEK_SET), MPI_ERR_NOT_SAME, "argument offset", differ_odd());
    DIFFERS(MPI_File_seek_shared(file, 0, ODD ? MPI_SEEK_END : MPI_SEEK_SET), MPI_ERR_NOT_SAME, "argument whence",
            differ_odd());
    DIFFERS(MPI_File_set_view(file, 0, ODD ? MPI_INT : MPI_DOUBLE, ODD ? MPI_INT : MPI_DOUBLE, "native", MPI_INFO_NULL),
            MPI_ERR_NOT_SAME, "etype", "");
    DIFFERS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, ODD ? "external32" : "native", MPI_INFO_NULL),
            MPI_ERR_NOT_SAME, "datarep", "");
    BESIDE_SIZE(MPI_File_preallocate(file, 100), "MPI_File_preallocate");
    BESIDE_SIZE(MPI_File_set_atomicity(file, 0), "MPI_File_set_atomicity");
    BESIDE_SIZE(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "MPI_File_seek_shared");
    BESIDE_SIZE(MPI_File_sync(file), "MPI_File_sync");
    BESIDE_SIZE(MPI_File_set_info(file, MPI_INFO_NULL), "MPI_File_set_info");
    BESIDE_SIZE(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "MPI_File_set_view");
    BESIDE_SIZE(MPI_File_close(&file), "MPI_File_close");
}

static void access_together(void)
{
    BESIDE_SIZE(MPI_File_write_all(file, data, 1, MPI_INT, &none), "MPI_File_write_all");
    BESIDE_SIZE(MPI_File_read_all(file, back, 1, MPI_INT, &none), "MPI_File_read_all");
    BESIDE_SIZE(MPI_File_write_at_all(file, 0, data, 1, MPI_INT, &none), "MPI_File_write_at_all");
    BESIDE_SIZE(MPI_File_read_at_all(file, 0, back, 1, MPI_INT, &none), "MPI_File_read_at_all");
    BESIDE_SIZE(MPI_File_write_ordered(file, data, 1, MPI_INT, &none), "MPI_File_write_ordered");
    BESIDE_SIZE(MPI_File_read_ordered(file, back, 1, MPI_INT, &none), "MPI_File_read_ordered");
    OTHER_CALL(MPI_File_read_all(file, back, 1, MPI_INT, &none), MPI_File_write_all(file, data, 1, MPI_INT, &none),
               MPI_ERR_NOT_SAME, "MPI_File_read_all", "MPI_File_write_all");
    MPI_Request request;
    if (ODD)
        CHECK_EQ(MPI_File_iread_at_all(file, 0, back, 1, MPI_INT, &request), MPI_SUCCESS);
    else
        CHECK_EQ(MPI_File_iwrite_at_all(file, 0, data, 1, MPI_INT, &request), MPI_SUCCESS);
    DIFFERS(MPI_Wait(&request, &none), MPI_ERR_NOT_SAME, "MPI_File_iread_at_all", "MPI_File_iwrite_at_all");
}

/* What a split operation begins, another begins or ends. */
static void split(void)
{
    OTHER_CALL(MPI_File_read_all_begin(file, back, 1, MPI_INT), MPI_File_write_all_begin(file, data, 1, MPI_INT),
               MPI_ERR_NOT_SAME, "MPI_File_read_all_begin", "MPI_File_write_all_begin");
    CHECK_EQ(MPI_File_write_at_all_begin(file, 0, data, 1, MPI_INT), MPI_SUCCESS);
    DIFFERS(MPI_File_write_all_end(file, data, &none), MPI_ERR_OTHER, "MPI_File_write_at_all_end", "under way");
    DIFFERS(MPI_File_set_size(file, 100), MPI_ERR_OTHER, "under way", "");
    DIFFERS(MPI_File_preallocate(file, 100), MPI_ERR_OTHER, "under way", "");
    DIFFERS(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_OTHER, "under way", "");
    BESIDE_SIZE(MPI_File_write_at_all_end(file, data, &none), "MPI_File_write_at_all_end");
    CHECK_EQ(MPI_File_write_at_all_end(file, data, &none), MPI_SUCCESS);
    OTHER_CALL(MPI_File_read_ordered_begin(file, back, 1, MPI_INT),
               MPI_File_write_ordered_begin(file, data, 1, MPI_INT), MPI_ERR_NOT_SAME, "MPI_File_read_ordered_begin",
               "MPI_File_write_ordered_begin");
    CHECK_EQ(MPI_File_write_ordered_begin(file, data, 1, MPI_INT), MPI_SUCCESS);
    BESIDE_SIZE(MPI_File_write_ordered_end(file, data, &none), "MPI_File_write_ordered_end");
    CHECK_EQ(MPI_File_write_ordered_end(file, data, &none), MPI_SUCCESS);
}

/* A request that one member has not completed. */
static void pending(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (ODD) CHECK_EQ(MPI_File_iwrite_at(file, 0, data, 1, MPI_INT, &request), MPI_SUCCESS);
    DIFFERS(MPI_File_set_size(file, 100), MPI_ERR_NOT_SAME, "under way", differ_odd());
    CHECK_EQ(MPI_Wait(&request, &none), MPI_SUCCESS);
    CHECK_EQ(MPI_File_set_size(file, 100), MPI_SUCCESS);
}

/* The shared file pointer needs the same view at all. */
static void views(void)
{
    CHECK_EQ(MPI_File_set_view(file, ODD ? 8 : 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_File_write_all(file, data, 1, MPI_INT, &none), MPI_SUCCESS);
    DIFFERS(MPI_File_write_shared(file, data, 1, MPI_INT, &none), MPI_ERR_NOT_SAME, "MPI_File_write_shared", "views");
    DIFFERS(MPI_File_read_shared(file, back, 1, MPI_INT, &none), MPI_ERR_NOT_SAME, "MPI_File_read_shared", "views");
    DIFFERS(MPI_File_write_ordered(file, data, 1, MPI_INT, &none), MPI_ERR_NOT_SAME, "MPI_File_write_ordered", "views");
    DIFFERS(MPI_File_read_ordered_begin(file, back, 1, MPI_INT), MPI_ERR_NOT_SAME, "MPI_File_read_ordered_begin",
            "views");
    MPI_Datatype two, pair; /* made in two ways */
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_vector(2, 1, 1, MPI_INT, &pair);
    MPI_Type_commit(&two);
    MPI_Type_commit(&pair);
    CHECK_EQ(MPI_File_set_view(file, 0, MPI_INT, ODD ? two : pair, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_File_write_shared(file, data, 1, MPI_INT, &none), MPI_SUCCESS);
    CHECK_EQ(MPI_File_write_ordered(file, data, 1, MPI_INT, &none), MPI_SUCCESS);
    MPI_Type_free(&two);
    MPI_Type_free(&pair);
}

int main(int argc, char **argv)
{
    setenv("IMPI_CHECK", "1", 1);
    io_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    opening(io_path("file"));
    attributes();
    access_together();
    split();
    pending();
    views();
    CHECK_EQ(MPI_File_close(&file), MPI_SUCCESS);
    return io_end();
}
