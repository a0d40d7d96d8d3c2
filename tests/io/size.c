/* How large a file is, and where its individual pointers are: sizes, seeks, positions, offsets in bytes. */
/* needs: MPI_File_open MPI_File_set_size MPI_File_preallocate MPI_File_seek MPI_File_get_byte_offset MPI_File_sync */
#include "io.h"

static MPI_File file;

static long long size_of(MPI_File f)
{
    MPI_Offset n = -1;
    IO_OK(MPI_File_get_size(f, &n));
    return n;
}

static long long position(MPI_File f)
{
    MPI_Offset at = -1;
    IO_OK(MPI_File_get_position(f, &at));
    return at;
}

static long long byte_of(MPI_File f, MPI_Offset at)
{
    MPI_Offset byte = -1;
    IO_OK(MPI_File_get_byte_offset(f, at, &byte));
    return byte;
}

static void resize(MPI_File f, MPI_Offset n)
{
    IO_OK(MPI_File_set_size(f, n));
    if (check_library("Open MPI")) MPI_Barrier(MPI_COMM_WORLD); /* some come back before rank 0 has done it */
}

/* The size as the system sees it, when all have changed it. */
static long long size_on_disk(const char *path)
{
    struct stat s;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(stat(path, &s), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    return s.st_size;
}

/* set_size makes a file longer and shorter, preallocate only longer; neither moves a pointer. */
static void sizes(void)
{
    static const long long to[] = {10, 0, 1000003, 1000003, 17, 4096, 1};
    char *path = io_path("sizes"), byte = 'x';
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    CHECK_EQ(size_of(file), 0);
    IO_OK(MPI_File_seek(file, 5, MPI_SEEK_SET));
    for (int i = 0; i < 7; i++) {
        resize(file, to[i]);
        CHECK_EQ(size_of(file), to[i]);
        CHECK_EQ(size_on_disk(path), to[i]);
    }
    IO_OK(MPI_File_write_at(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    io_settle(file);
    if (!check_library("Open MPI")) { /* which adds something to the size */
        IO_OK(MPI_File_preallocate(file, 100000));
        CHECK_EQ(size_of(file), 100000);
        IO_OK(MPI_File_preallocate(file, 100000));
        IO_OK(MPI_File_preallocate(file, 50));
    } else {
        resize(file, 100000);
    }
    CHECK_EQ(size_of(file), 100000);
    CHECK_EQ(size_on_disk(path), 100000);
    byte = 0;
    IO_OK(MPI_File_read_at(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_EQ(byte, 'x');
    CHECK_EQ(position(file), 5);

    MPI_Barrier(MPI_COMM_WORLD); /* a write beyond the end makes the file longer */
    if (check_rank == check_size - 1)
        IO_OK(MPI_File_write_at(file, 200000, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    io_settle(file);
    CHECK_EQ(size_of(file), 200001);
    IO_OK(MPI_File_read_at(file, 150000, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) /* nothing is written, and nothing becomes longer */
        IO_OK(MPI_File_write_at(file, 300000, NULL, 0, MPI_CHAR, MPI_STATUS_IGNORE));
    io_settle(file);
    CHECK_EQ(size_of(file), 200001);

    IO_WRONG(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    IO_PROMISED(MPI_File_preallocate(file, -1), MPI_ERR_ARG);
    if (check_size > 1 && !check_library("Open MPI")) {
        IO_WRONG(MPI_File_set_size(file, 100 + check_rank), MPI_ERR_NOT_SAME);
        IO_WRONG(MPI_File_preallocate(file, 100 + check_rank), MPI_ERR_NOT_SAME);
        CHECK_EQ(size_of(file), 200001);
    }
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

/* Every rank's pointer is its own; the end is the file's. */
static void seeks(void)
{
    char *path = io_path("seeks");
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    resize(file, 100);
    IO_OK(MPI_File_seek(file, 10 + check_rank, MPI_SEEK_SET));
    CHECK_EQ(position(file), 10 + check_rank);
    IO_OK(MPI_File_seek(file, 5, MPI_SEEK_CUR));
    IO_OK(MPI_File_seek(file, -7, MPI_SEEK_CUR));
    CHECK_EQ(position(file), 8 + check_rank);
    IO_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    CHECK_EQ(position(file), 100);
    IO_OK(MPI_File_seek(file, -1 - check_rank, MPI_SEEK_END));
    CHECK_EQ(position(file), 99 - check_rank);
    IO_OK(MPI_File_seek(file, 50, MPI_SEEK_END));
    CHECK_EQ(position(file), 150);
    CHECK_EQ(size_of(file), 100);
    IO_OK(MPI_File_seek(file, 1ll << 40, MPI_SEEK_SET));
    CHECK_EQ(position(file), 1ll << 40);
    IO_OK(MPI_File_seek(file, 3, MPI_SEEK_SET)); /* what is refused moves nothing */
    IO_WRONG(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    IO_WRONG(MPI_File_seek(file, -4, MPI_SEEK_CUR), MPI_ERR_ARG);
    IO_WRONG(MPI_File_seek(file, -101, MPI_SEEK_END), MPI_ERR_ARG);
    IO_WRONG(MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);
    CHECK_EQ(position(file), 3);
    IO_OK(MPI_File_close(&file));
}

/* In a view pointers count etypes, and the end is the first etype that begins behind the last byte (14.1). */
static void in_views(void)
{
    static const struct { int bytes, etypes; } end[] = {{40, 3}, {41, 4}, {44, 4}, {48, 4}, {53, 5}, {4, 0}, {5, 1}};
    char *path = io_path("in views");
    MPI_Datatype pair, filetype;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Type_create_resized(MPI_INT, 0, 12, &pair); /* an int in every 12 bytes: at 4, 16, 28, 40 ... */
    MPI_Type_contiguous(1, pair, &filetype);
    MPI_Type_commit(&filetype);
    io_view(file, 4, MPI_INT, filetype);
    CHECK_EQ(position(file), 0);
    for (int i = 0; i < 7 && !check_library("Open MPI"); i++) { /* whose ends are anywhere */
        resize(file, end[i].bytes);
        IO_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
        CHECK_SAY(position(file) == end[i].etypes, "the end of %d bytes is %lld, not %d", end[i].bytes,
                  position(file), end[i].etypes);
        IO_OK(MPI_File_seek(file, end[i].etypes ? -1 : 1, MPI_SEEK_END));
        CHECK_EQ(position(file), end[i].etypes ? end[i].etypes - 1 : 1);
    }
    for (int i = 0; i < 10; i++) CHECK_EQ(byte_of(file, i), 4 + 12 * i);
    IO_OK(MPI_File_seek(file, 7, MPI_SEEK_SET));
    CHECK_EQ(byte_of(file, position(file)), 88);
    MPI_Type_free(&pair);
    MPI_Type_free(&filetype);

    const int length[] = {2, 1}, at[] = {1, 5}; /* doubles 1, 2, 5 of every 6, from byte 100 + 8 r on */
    MPI_Type_indexed(2, length, at, MPI_DOUBLE, &pair);
    MPI_Type_create_resized(pair, 0, 48, &filetype);
    MPI_Type_commit(&filetype);
    io_view(file, 100 + 8 * check_rank, MPI_DOUBLE, filetype);
    static const int in[] = {8, 16, 40};
    for (int i = 0; i < 12; i++) CHECK_EQ(byte_of(file, i), 100 + 8 * check_rank + i / 3 * 48 + in[i % 3]);
    CHECK_EQ(byte_of(file, 3000000000ll), 100 + 8 * check_rank + 48000000000ll + 8);
    IO_PROMISED(MPI_File_get_byte_offset(file, -1, &(MPI_Offset){0}), MPI_ERR_ARG);
    MPI_Type_free(&pair);
    MPI_Type_free(&filetype);
    IO_OK(MPI_File_close(&file));
}

/* A new view brings the pointers back to its beginning, and counts from the displacement. */
static void rewinding(void)
{
    char *path = io_path("rewinding");
    MPI_Offset at = -1;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    resize(file, 64);
    IO_OK(MPI_File_seek(file, 9, MPI_SEEK_SET));
    IO_OK(MPI_File_seek_shared(file, 11, MPI_SEEK_SET));
    io_view(file, 16, MPI_SHORT, MPI_SHORT);
    CHECK_EQ(position(file), 0);
    IO_OK(MPI_File_get_position_shared(file, &at));
    CHECK_EQ(at, 0);
    CHECK_EQ(byte_of(file, 3), 22);
    IO_OK(MPI_File_seek(file, -4, MPI_SEEK_END));
    CHECK_EQ(position(file), 20);
    IO_OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    sizes();
    seeks();
    in_views();
    rewinding();
    return io_end();
}
