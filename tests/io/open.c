/* Opening, closing and deleting files: every mode and combination, on every kind of communicator. */
/* needs: MPI_File_open MPI_File_close MPI_File_delete MPI_File_get_amode MPI_File_get_group MPI_File_get_position */
#include "io.h"

static MPI_File file;

/* Opening on this communicator gives the class. */
#define FAILS(comm, path, mode, class_) IO_WRONG(MPI_File_open(comm, path, mode, MPI_INFO_NULL, &file), class_)

static int exists(const char *path) { return access(path, F_OK) == 0; }

/* Every mode that is allowed; get_amode answers what was said. */
static void modes(MPI_Comm comm, const char *path, int every)
{
    static const int ways[] = {MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR};
    static const int others[] = {MPI_MODE_CREATE, MPI_MODE_EXCL, MPI_MODE_APPEND, MPI_MODE_UNIQUE_OPEN,
                                 MPI_MODE_SEQUENTIAL, MPI_MODE_DELETE_ON_CLOSE};
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int way = 0; way < 3; way++)
        for (int set = 0; set < 64; set += every) {
            int mode = ways[way], got = -1, creates = set & 1, excl = set & 2, deletes = set & 32;
            if (way == 0 && (creates || excl)) continue;
            if (way == 2 && set & 16) continue;
            if (excl && !creates) continue;
            for (int i = 0; i < 6; i++)
                if (set >> i & 1) mode |= others[i];
            if (!creates) { /* it has to be there */
                IO_OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
                IO_OK(MPI_File_close(&file));
            }
            IO_OK(MPI_File_open(comm, path, mode, MPI_INFO_NULL, &file));
            IO_OK(MPI_File_get_amode(file, &got));
            CHECK_EQ(got, mode);
            IO_OK(MPI_File_close(&file));
            CHECK(file == MPI_FILE_NULL);
            MPI_Barrier(comm);
            CHECK_EQ(exists(path), !deletes);
            MPI_Barrier(comm);
            if (!deletes && rank == 0) IO_OK(MPI_File_delete(path, MPI_INFO_NULL));
            MPI_Barrier(comm);
        }
}

/* The group of the file is that of the communicator, which may be freed before the file is closed. */
static void groups(MPI_Comm comm, const char *path)
{
    MPI_Comm copy;
    MPI_Group of_file, of_comm;
    int result;
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_group(comm, &of_comm);
    IO_OK(MPI_File_open(copy, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    MPI_Comm_free(&copy);
    IO_OK(MPI_File_get_group(file, &of_file));
    MPI_Group_compare(of_file, of_comm, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&of_file);
    MPI_Group_free(&of_comm);
    IO_OK(MPI_File_close(&file));
    MPI_Barrier(comm);
    CHECK(!exists(path));
}

/* Where the pointers are at first, and that nothing of a file is lost by opening it. */
static void positions(void)
{
    char *path = io_path("positions");
    MPI_Offset at = -1;
    long n;
    io_make(path, "0123456789", 10);
    for (int append = 0; append < 2; append++) {
        file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | (append ? MPI_MODE_APPEND : 0));
        IO_OK(MPI_File_get_position(file, &at));
        CHECK_EQ(at, append ? 10 : 0);
        IO_OK(MPI_File_get_position_shared(file, &at));
        CHECK_EQ(at, append ? 10 : 0);
        IO_OK(MPI_File_get_size(file, &at));
        CHECK_EQ(at, 10);
        IO_OK(MPI_File_close(&file));
    }
    unsigned char *bytes = io_contents(path, &n);
    CHECK(n == 10 && !memcmp(bytes, "0123456789", 10));
    free(bytes);
    io_delete(path);
}

/* What is refused, with its class; afterwards all goes on. */
static void refusals(void)
{
    const int rdwr = MPI_MODE_RDWR, create = MPI_MODE_CREATE;
    MPI_Comm world = MPI_COMM_WORLD;
    char *there = io_path("there"), *folder = io_path("folder"), longest[8200], name[64];
    char *missing = io_path("missing");
    io_make(there, "x", 1);
    FAILS(world, missing, MPI_MODE_RDONLY, MPI_ERR_NO_SUCH_FILE);
    FAILS(world, missing, MPI_MODE_WRONLY, MPI_ERR_NO_SUCH_FILE);
    FAILS(world, missing, rdwr, MPI_ERR_NO_SUCH_FILE);
    FAILS(world, io_path("missing/either"), rdwr | create, MPI_ERR_NO_SUCH_FILE);
    FAILS(world, there, rdwr | create | MPI_MODE_EXCL, MPI_ERR_FILE_EXISTS);
    snprintf(name, sizeof name, "missing of %d", check_rank);
    FAILS(MPI_COMM_SELF, io_path(name), rdwr, MPI_ERR_NO_SUCH_FILE);
    CHECK(!exists(missing));

    FAILS(world, there, 0, MPI_ERR_AMODE);
    FAILS(world, there, create, MPI_ERR_AMODE);
    FAILS(world, there, MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_ERR_AMODE);
    FAILS(world, there, MPI_MODE_RDONLY | rdwr, MPI_ERR_AMODE);
    FAILS(world, there, MPI_MODE_WRONLY | rdwr, MPI_ERR_AMODE);
    FAILS(world, there, MPI_MODE_RDONLY | create, MPI_ERR_AMODE);
    FAILS(world, there, MPI_MODE_RDONLY | MPI_MODE_EXCL, MPI_ERR_AMODE);
    FAILS(world, there, rdwr | MPI_MODE_SEQUENTIAL, MPI_ERR_AMODE);

    memset(longest, 'n', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = 0;
    if (!check_library("Open MPI")) { /* which crashes */
        FAILS(world, longest, rdwr | create, MPI_ERR_BAD_FILE);
        IO_WRONG(MPI_File_delete(longest, MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    }
    MPI_Barrier(world);
    if (check_rank == 0) CHECK_EQ(mkdir(folder, 0700), 0);
    MPI_Barrier(world);
    CHECK(MPI_File_open(world, folder, rdwr, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    CHECK(MPI_File_open(world, folder, MPI_MODE_WRONLY | create, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    CHECK(MPI_File_open(world, io_path("there/in a file"), rdwr | create, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    CHECK(MPI_File_open(world, "", rdwr | create, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    if (geteuid() != 0) { /* nothing is closed to root */
        if (check_rank == 0) CHECK_EQ(chmod(there, 0400), 0);
        MPI_Barrier(world);
        FAILS(world, there, rdwr, MPI_ERR_ACCESS);
    }

    IO_WRONG(MPI_File_delete(missing, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    CHECK(MPI_File_delete(io_path("there/in a file"), MPI_INFO_NULL) != MPI_SUCCESS);
    CHECK(MPI_File_delete(folder, MPI_INFO_NULL) != MPI_SUCCESS);
    MPI_Barrier(world);
    if (check_rank == 0) CHECK_EQ(rmdir(folder), 0);
    io_delete(there);
}

/* Arguments that are not the same everywhere. */
static void differences(void)
{
    char *path = io_path("differences");
    io_make(path, "x", 1);
    if (check_size > 1)
        FAILS(MPI_COMM_WORLD, path, check_rank ? MPI_MODE_RDWR : MPI_MODE_RDONLY, MPI_ERR_NOT_SAME);
    io_delete(path);
}

/* A communicator that nobody opens on. */
static void communicators(void)
{
    char *path = io_path("nowhere");
    MPI_Comm part, inter = MPI_COMM_NULL;
    FAILS(MPI_COMM_NULL, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_ERR_COMM);
    if (check_size < 2) return;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 0, &inter);
    FAILS(inter, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_ERR_COMM);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&part);
}

/* A name may say which file system it is on. */
static void prefixes(void)
{
    static const char *const prefix[] = {"ufs:", "nfs:"};
    char path[700];
    for (int p = 0; p < 2; p++) {
        snprintf(path, sizeof path, "%s%s", prefix[p], io_path("prefix"));
        file = io_open(path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
        IO_OK(MPI_File_close(&file));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(exists(io_path("prefix")));
        io_delete(path);
        CHECK(!exists(io_path("prefix")));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Many files at once; and none of them is left open. */
static void many(void)
{
    enum { MANY = 20 };
    MPI_File files[MANY];
    char name[64];
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "many %d", i);
            files[i] = io_open(io_path(name), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        }
        for (int i = 0; i < MANY; i++) IO_OK(MPI_File_close(&files[(i * 7 + turn) % MANY]));
    }
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    char own[64], halves[64];
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &part);
    snprintf(own, sizeof own, "own %d", check_rank);
    snprintf(halves, sizeof halves, "half %d", check_rank % 2);
    modes(MPI_COMM_WORLD, io_path("all"), 1);
    modes(part, io_path(halves), 5);
    modes(MPI_COMM_SELF, io_path(own), 5);
    groups(MPI_COMM_WORLD, io_path("all"));
    groups(part, io_path(halves));
    groups(MPI_COMM_SELF, io_path(own));
    MPI_Comm_free(&part);
    positions();
    refusals();
    if (!check_library("Open MPI")) { /* it compares nothing, and takes an error here for one of the world */
        differences();
        communicators();
    }
    if (!check_library("Open MPI")) prefixes(); /* there they are part of the name */
    many();
    return io_end();
}
