/* Who sees what: atomic mode, where conflicting accesses are as if one came after the other, and sync-barrier-sync. */
/* needs: MPI_File_set_atomicity MPI_File_get_atomicity MPI_File_sync MPI_File_write_at_all MPI_File_iwrite_at */
#include "io.h"

enum { INTS = 3000 };

static MPI_File file;
static int ints[INTS], got[INTS];

static int atomicity(void)
{
    int flag = -1;
    IO_OK(MPI_File_get_atomicity(file, &flag));
    return flag;
}

static void modes(void)
{
    char *path = io_path("modes");
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    CHECK_EQ(atomicity(), 0);
    IO_OK(MPI_File_set_atomicity(file, 1));
    CHECK(atomicity());
    IO_OK(MPI_File_set_atomicity(file, 17));
    CHECK(atomicity());
    IO_OK(MPI_File_set_atomicity(file, 0));
    CHECK_EQ(atomicity(), 0);
    if (check_size > 1) IO_PROMISED(MPI_File_set_atomicity(file, check_rank == 0), MPI_ERR_NOT_SAME);
    if (check_library("libimpi")) CHECK_EQ(atomicity(), 0);
    IO_OK(MPI_File_close(&file));
}

/* All ranks write all of it at once: all of it is then one rank's. While they do, others read, and see one writer. */
static void conflicts(const io_access *a, int strided, int reads)
{
    char *path = io_path("conflicts");
    MPI_Datatype filetype;
    if (strided) MPI_Type_vector(INTS / 3, 3, 7, MPI_INT, &filetype);
    else MPI_Type_contiguous(INTS, MPI_INT, &filetype);
    MPI_Type_commit(&filetype);
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    IO_OK(MPI_File_set_atomicity(file, 1));
    io_view(file, 3, MPI_INT, filetype);
    for (int i = 0; i < INTS; i++) ints[i] = -1;
    if (check_rank == 0) io_do(file, &io_accesses[0], 1, 0, 0, ints, INTS, MPI_INT, INTS);
    MPI_Barrier(MPI_COMM_WORLD); /* in atomic mode that is enough */
    for (int round = 0; round < 6; round++) {
        int reader = reads && !io_collective(a) && check_rank % 2;
        for (int i = 0; i < INTS; i++) ints[i] = round * 100 + check_rank;
        if (a->pointer == IO_OWN) IO_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
        io_do(file, a, !reader, round % 2, 0, reader ? got : ints, INTS, MPI_INT, INTS);
        if (reader)
            for (int i = 1; i < INTS; i++)
                CHECK_SAY(got[i] == got[0], "%s, round %d: read of %d and of %d", a->name, round, got[0], got[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        io_do(file, &io_accesses[0], 0, 0, 0, got, INTS, MPI_INT, INTS);
        for (int i = 1; i < INTS; i++)
            CHECK_SAY(got[i] == got[0], "%s, round %d: int 0 is of %d, int %d of %d", a->name, round, got[0], i,
                      got[i]);
        CHECK(got[0] >= round * 100 && got[0] < round * 100 + check_size);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    IO_OK(MPI_File_close(&file));
    MPI_Type_free(&filetype);
}

/* Writers and readers whose parts overlap by halves: each part that is read was there at one time. */
static void halves(void)
{
    char *path = io_path("halves");
    enum { HALF = 500 };
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    IO_OK(MPI_File_set_size(file, (MPI_Offset)(check_size + 1) * HALF * 4));
    IO_OK(MPI_File_set_atomicity(file, 1));
    io_view(file, 0, MPI_INT, MPI_INT);
    for (int round = 1; round <= 8; round++) {
        for (int i = 0; i < 2 * HALF; i++) ints[i] = round * 100 + check_rank;
        IO_OK(MPI_File_write_at(file, (MPI_Offset)check_rank * HALF, ints, 2 * HALF, MPI_INT, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        for (int part = 0; part <= check_size; part++) { /* both of whose writers are done */
            IO_OK(MPI_File_read_at(file, (MPI_Offset)part * HALF, got, HALF, MPI_INT, MPI_STATUS_IGNORE));
            for (int i = 0; i < HALF; i++) CHECK_EQ(got[i], got[0]);
            int of = got[0] - round * 100;
            CHECK((of == part && part < check_size) || (of == part - 1 && part > 0));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    IO_OK(MPI_File_close(&file));
}

/* A counter in the file that only one rank at a time changes, in turn: write, sync, barrier, sync, read. */
static void turns(int again)
{
    char *path = io_path("turns");
    int counter = 0;
    MPI_File other = MPI_FILE_NULL;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    if (again) other = io_open(path, MPI_MODE_RDWR); /* another handle of the same file sees the same */
    if (check_rank == 0) IO_OK(MPI_File_write_at(file, 0, &counter, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int turn = 0; turn < 3 * check_size; turn++) {
        MPI_File from = again && turn % 2 ? other : file;
        io_settle(file);
        if (again) io_settle(other);
        if (turn % check_size != check_rank) continue;
        IO_OK(MPI_File_read_at(from, 0, &counter, 4, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_EQ(counter, turn);
        counter++;
        IO_OK(MPI_File_write_at(from, 0, &counter, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    if (again) IO_OK(MPI_File_close(&other));
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

/* What is closed is seen by all who open it after. */
static void close_and_open(void)
{
    char *path = io_path("close and open");
    int mine = check_rank + 5, theirs = -1, next = (check_rank + 1) % check_size;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    IO_OK(MPI_File_write_at_all(file, 4 * check_rank, &mine, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    IO_OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    file = io_open(path, MPI_MODE_RDONLY);
    IO_OK(MPI_File_read_at(file, 4 * next, &theirs, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_EQ(theirs, next + 5);
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

int main(int argc, char **argv)
{
    static const int kinds[] = {0, 1, 2, 3, 4, 5, 7};
    io_start(&argc, &argv);
    modes();
    if (!check_library("Open MPI")) /* which has no atomic mode that deserves the name */
        for (int k = 0; k < 7; k++)
            for (int strided = 0; strided < 2; strided++) conflicts(&io_accesses[kinds[k]], strided, k % 2 == 0);
    halves();
    turns(0);
    turns(1);
    close_and_open();
    return io_end();
}
