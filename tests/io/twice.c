/* Several files at once, the same file twice, and what a file keeps when what it was made of is gone. */
/* needs: MPI_File_write_all_begin MPI_File_iwrite_all MPI_File_set_view MPI_File_get_group MPI_File_get_view */
#include "io.h"

enum { EACH = 2000 };

static int value(int file, int i) { return file * 10000000 + check_rank * 100000 + i; }

/* A split access and nonblocking collective ones are open at once, on two files, and end in another order. */
static void at_once(void)
{
    char *path[2] = {io_path("first"), io_path("second")};
    static int out[2][3][EACH], in[2][3][EACH];
    MPI_File file[2];
    for (int f = 0; f < 2; f++) {
        file[f] = io_open(path[f], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        MPI_Datatype column;
        MPI_Type_create_resized(MPI_INT, 0, 4 * check_size, &column);
        MPI_Type_commit(&column);
        io_view(file[f], 4 * check_rank, MPI_INT, column);
        MPI_Type_free(&column);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < EACH; i++) out[f][k][i] = value(f, k * EACH + i);
    }
    for (int writes = 1; writes >= 0; writes--) {
        int(*ints)[3][EACH] = writes ? out : in;
        io_op split[2], all[2][2];
        /* Open MPI and MPICH have no collective access beside a split one that is open. */
        int beside = check_library("libimpi");
        for (int f = 0; f < 2; f++) {
            IO_OK(io_begin(&all[f][0], file[f], &io_accesses[3], writes, 0, 0, ints[f][0], EACH, MPI_INT));
            IO_OK(io_begin(&all[f][1], file[f], &io_accesses[3], writes, 0, EACH, ints[f][1], EACH, MPI_INT));
            for (int k = 0; !beside && k < 2; k++) IO_OK(io_finish(&all[f][k]));
        }
        for (int f = 0; f < 2; f++)
            IO_OK(io_begin(&split[f], file[f], &io_accesses[4], writes, 0, 2 * EACH, ints[f][2], EACH, MPI_INT));
        MPI_Barrier(MPI_COMM_WORLD); /* other collectives meanwhile */
        IO_OK(io_finish(&split[1]));
        IO_OK(io_finish(&split[0]));
        for (int k = 1; beside && k >= 0; k--)
            for (int f = 0; f < 2; f++) IO_OK(io_finish(&all[f][k]));
        if (writes) io_settle(file[0]), io_settle(file[1]);
    }
    CHECK(!memcmp(in, out, sizeof in));
    for (int f = 0; f < 2; f++) IO_OK(MPI_File_close(&file[f]));
}

/* Two handles of one file: each has its view, its pointers and its mode. */
static void same_file(void)
{
    char *path = io_path("same");
    int out = 7 + check_rank, in = -1;
    MPI_Offset at = -1;
    MPI_File writer = io_open(path, MPI_MODE_CREATE | MPI_MODE_WRONLY), reader = io_open(path, MPI_MODE_RDONLY);
    io_view(writer, 0, MPI_INT, MPI_INT);
    IO_OK(MPI_File_seek(writer, check_rank, MPI_SEEK_SET));
    IO_OK(MPI_File_write_all(writer, &out, 1, MPI_INT, MPI_STATUS_IGNORE));
    io_settle(writer);
    if (check_library("libimpi")) io_settle(reader); /* others take sync for a write */
    IO_OK(MPI_File_get_position(reader, &at));
    CHECK_EQ(at, 0);
    IO_OK(MPI_File_read_at(reader, 4 * check_rank, &in, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_EQ(in, out);
    IO_OK(MPI_File_close(&writer));
    IO_OK(MPI_File_read_at_all(reader, 4 * ((check_rank + 1) % check_size), &in, 4, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_EQ(in, 7 + (check_rank + 1) % check_size);
    IO_OK(MPI_File_close(&reader));
    io_delete(path);
}

/* The communicator, the datatypes and the info are freed while the file lives on them; so is the memory's type while
 * a request is open. */
static void survivors(void)
{
    char *path = io_path("survivors");
    static int out[3 * EACH], in[3 * EACH];
    MPI_Comm comm;
    MPI_Info info;
    MPI_File file;
    MPI_Group group;
    MPI_Request request;
    MPI_Status s;
    MPI_Datatype column, etype, filetype, memory;
    MPI_Offset at;
    char rep[MPI_MAX_DATAREP_STRING];
    int size, n, m, k, combiner;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    IO_OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
    MPI_Type_create_resized(MPI_INT, 0, 4 * check_size, &column);
    MPI_Type_commit(&column);
    io_view(file, 4 * check_rank, MPI_INT, column);
    MPI_Type_free(&column);
    for (int i = 0; i < 3 * EACH; i++) out[i] = value(3, i);
    for (int all = 0; all < 2; all++)
        for (int writes = 1; writes >= 0; writes--) {
            io_op op;
            MPI_Type_vector(EACH, 1, 3, MPI_INT, &memory);
            MPI_Type_commit(&memory);
            IO_OK(io_begin(&op, file, &io_accesses[all ? 3 : 1], writes, 0, all * EACH, writes ? out : in, 1, memory));
            if (!check_library("MPICH")) MPI_Type_free(&memory); /* which does not keep it */
            request = op.request;
            MPI_Wait(&request, &s);
            if (check_library("MPICH")) MPI_Type_free(&memory);
        }
    for (int i = 0; i < EACH; i++) CHECK_EQ(in[3 * i], out[3 * i]);
    IO_OK(MPI_File_get_view(file, &at, &etype, &filetype, rep));
    CHECK(etype == MPI_INT && at == 4 * check_rank);
    MPI_Type_get_envelope(filetype, &n, &m, &k, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&filetype);
    IO_OK(MPI_File_get_group(file, &group));
    MPI_Group_size(group, &size);
    CHECK_EQ(size, check_size);
    MPI_Group_free(&group);
    IO_OK(MPI_File_close(&file));
}

/* Files of parts of the world, and of single ranks, are at work at the same time; and their traffic is their own. */
static void parts(void)
{
    char name[64];
    MPI_Comm part;
    int here, rank, out[4], in[4];
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &part);
    MPI_Comm_size(part, &here);
    MPI_Comm_rank(part, &rank);
    MPI_File own, shared = io_open(io_path("of all"), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE), half;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    snprintf(name, sizeof name, "half %d", check_rank % 2);
    IO_OK(MPI_File_open(part, io_path(name), mode, MPI_INFO_NULL, &half));
    snprintf(name, sizeof name, "own %d", check_rank);
    IO_OK(MPI_File_open(MPI_COMM_SELF, io_path(name), mode, MPI_INFO_NULL, &own));
    MPI_File files[] = {shared, half, own};
    int sizes[] = {check_size, here, 1}, ranks[] = {check_rank, rank, 0};
    for (int round = 0; round < 5; round++)
        for (int f = 0; f < 3; f++) {
            for (int i = 0; i < 4; i++) out[i] = value(f, round * 4 + i);
            io_do(files[f], &io_accesses[2], 1, 0, 16 * (round * sizes[f] + ranks[f]), out, 16, MPI_BYTE, 16);
        }
    for (int round = 0; round < 5; round++)
        for (int f = 2; f >= 0; f--) {
            io_do(files[f], &io_accesses[4], 0, 0, 16 * (round * sizes[f] + ranks[f]), in, 16, MPI_BYTE, 16);
            for (int i = 0; i < 4; i++) CHECK_EQ(in[i], value(f, round * 4 + i));
        }
    IO_OK(MPI_File_close(&half));
    IO_OK(MPI_File_close(&shared));
    IO_OK(MPI_File_close(&own));
    MPI_Comm_free(&part);
}

/* Many times open and close: nothing piles up. */
static int descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    if (!d) return 0;
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

static void come_and_go(void)
{
    char *path = io_path("come and go");
    int before = 0;
    for (int turn = 0; turn < 120; turn++) {
        if (turn == 20) before = descriptors();
        MPI_File file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        io_do(file, &io_accesses[turn % IO_ACCESSES], 1, 0, check_rank, &turn, 1, MPI_CHAR, 1);
        IO_OK(MPI_File_close(&file));
    }
    CHECK_SAY(descriptors() <= before, "%d descriptors are open, %d were", descriptors(), before);
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    at_once();
    same_file();
    survivors();
    parts();
    come_and_go();
    return io_end();
}
