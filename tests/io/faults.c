/* What a file system refuses: no room, no larger file, a device that is full. The class, the name, and nobody hangs. */
/* needs: MPI_File_write_at_all MPI_File_iwrite_at MPI_File_preallocate MPI_File_write_ordered MPI_File_sync */
/* clients: none */
#include "io.h"
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

enum { MIB = 1 << 20 };

static char block[3 * MIB];
static MPI_File file;

static int class_of(int code)
{
    int class_ = -1;
    MPI_Error_class(code, &class_);
    return class_;
}

/* The error's text says what a user needs: which file, and what the system said. */
static void check_text(int code, const char *name, int number)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;
    if (!check_library("libimpi")) return;
    MPI_Error_string(code, text, &n);
    CHECK_SAY(strstr(text, name), "no %s in: %s", name, text);
    CHECK_SAY(strcasestr(text, strerror(number)), "no \"%s\" in: %s", strerror(number), text);
}

/* Write n bytes by each access, from a place where there is no room for them: every rank gets the error if the access
 * is collective, otherwise the one that has none; afterwards what fits can be written and read. */
static void every_access(const char *path, MPI_Offset room, int want, int number)
{
    for (int k = 0; k < IO_ACCESSES; k++)
        for (int holes = 0; holes < 2; holes++) {
            const io_access *a = &io_accesses[k];
            io_op op;
            MPI_Datatype every;
            int n = 2 * MIB, out = 5 + check_rank, in = -1;
            MPI_Offset mine = (MPI_Offset)check_rank * n;
            MPI_Type_vector(n / 64, 32, 64, MPI_BYTE, &every); /* with holes: half of the bytes */
            MPI_Type_commit(&every);
            IO_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
            if (holes) {
                io_view(file, a->pointer == IO_COMMON ? 0 : mine, MPI_BYTE, every);
                mine = 0, n /= 2;
            }
            if (a->pointer == IO_OWN) IO_OK(MPI_File_seek(file, mine, MPI_SEEK_SET));
            int code = io_begin(&op, file, a, 1, 0, mine, block, n, MPI_BYTE);
            if (code == MPI_SUCCESS) code = io_finish(&op);
            MPI_Barrier(MPI_COMM_WORLD);
            CHECK_SAY(code != MPI_SUCCESS, "write %s%s of %d bytes succeeds, where there is room for %lld", a->name,
                      holes ? " with holes" : "", n, (long long)room);
            if (check_library("libimpi"))
                CHECK_SAY(class_of(code) == want, "write %s: %s", a->name, check_class_name(class_of(code)));
            check_text(code, strrchr(path, '/') + 1, number);
            IO_OK(MPI_File_set_size(file, 0));
            io_view(file, 0, MPI_BYTE, MPI_BYTE);
            IO_OK(MPI_File_write_at_all(file, 4 * check_rank, &out, 4, MPI_BYTE, MPI_STATUS_IGNORE));
            io_settle(file);
            IO_OK(MPI_File_read_at(file, 4 * check_rank, &in, 4, MPI_BYTE, MPI_STATUS_IGNORE));
            CHECK_EQ(in, out);
            IO_OK(MPI_File_close(&file));
            io_delete(path);
            MPI_Type_free(&every);
        }
}

/* A file system of one MiB. It has no name as soon as all are in it, and ends with them. */
static int full(void)
{
    char *folder = io_path("small"), before[512];
    int mounted = 0;
    CHECK(getcwd(before, sizeof before));
    if (check_rank == 0) {
        CHECK_EQ(mkdir(folder, 0700), 0);
        mounted = mount("none", folder, "tmpfs", 0, "size=1m") == 0;
    }
    MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (mounted) {
        CHECK_EQ(chdir(folder), 0);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 0) CHECK_EQ(umount2(folder, MNT_DETACH), 0);
        every_access("./full", MIB, MPI_ERR_NO_SPACE, ENOSPC);
        IO_OK(MPI_File_open(MPI_COMM_WORLD, "./full", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
        int code = MPI_File_preallocate(file, 8 * MIB);
        CHECK(code != MPI_SUCCESS);
        if (check_library("libimpi")) CHECK_EQ(class_of(code), MPI_ERR_NO_SPACE);
        IO_OK(MPI_File_close(&file));
        io_delete("./full");
        CHECK_EQ(chdir(before), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) CHECK_EQ(rmdir(folder), 0);
    return mounted;
}

/* A limit to the size of files; those who ignore the signal get an error. */
static void limited(void)
{
    struct rlimit was, now;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &was), 0);
    now = was;
    now.rlim_cur = MIB;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &now), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    every_access(io_path("limited"), MIB, MPI_ERR_QUOTA, EFBIG);
    IO_OK(MPI_File_open(MPI_COMM_WORLD, io_path("limited"), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file));
    CHECK(MPI_File_set_size(file, 2 * MIB) != MPI_SUCCESS);
    IO_OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &was), 0);
}

/* A device without room. */
static void device(void)
{
    char byte = 'x';
    if (access("/dev/full", W_OK) != 0) return;
    IO_OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    int code = MPI_File_write_at(file, 0, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    CHECK(code != MPI_SUCCESS);
    if (check_library("libimpi")) CHECK_EQ(class_of(code), MPI_ERR_NO_SPACE);
    check_text(code, "/dev/full", ENOSPC);
    code = MPI_File_write_at_all(file, check_rank, &byte, check_rank == 0, MPI_CHAR, MPI_STATUS_IGNORE);
    CHECK(code != MPI_SUCCESS);
    if (check_library("libimpi")) CHECK_EQ(class_of(code), MPI_ERR_NO_SPACE);
    IO_OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    if (!check_library("libimpi")) return io_end(); /* others hang, or lose the error on the way */
    int mounted = full();
    limited();
    device();
    if (!mounted && check_rank == 0) printf("skipped: a full file system (nothing can be mounted here)\n");
    return io_end();
}
