/* The shared pointer: all ranks write and read at once, and every record is there once; ordered ones are in order. */
/* needs: MPI_File_write_shared MPI_File_iread_shared MPI_File_write_ordered MPI_File_seek_shared MPI_File_set_view */
#include "io.h"

enum { RECORDS = 40, MOST = 5 }; /* of each rank; ints of the longest */

static MPI_File file;

static long long position(void)
{
    MPI_Offset at = -1;
    IO_OK(MPI_File_get_position_shared(file, &at));
    return at;
}

/* Record i of a rank: its length, its rank, its number, and then what they make. */
static int record(int rank, int i, int *ints)
{
    int n = 3 + (rank + i) % (MOST - 2);
    ints[0] = n, ints[1] = rank, ints[2] = i;
    for (int k = 3; k < n; k++) ints[k] = rank * 1000000 + i * 100 + k;
    return n;
}

static int length_of_all(void)
{
    int ints[MOST], n = 0;
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < RECORDS; i++) n += record(r, i, ints);
    return n;
}

/* The ints are all records of all ranks, those of each rank in its order. */
static void check_stream_of(const int *ints, int n)
{
    int next[64] = {0}, want[MOST];
    CHECK(check_size <= 64);
    for (int at = 0; at < n; at += ints[at]) {
        CHECK_SAY(ints[at] >= 3 && ints[at] <= MOST && at + ints[at] <= n, "no record at int %d", at);
        int rank = ints[at + 1];
        CHECK(rank >= 0 && rank < check_size);
        int length = record(rank, next[rank]++, want);
        CHECK_SAY(!memcmp(ints + at, want, sizeof(int) * (size_t)length), "record %d of rank %d is another, at int %d",
                  next[rank] - 1, rank, at);
    }
    for (int r = 0; r < check_size; r++) CHECK_EQ(next[r], RECORDS);
}

/* All write their records as fast as they can, half of them without waiting; in a view with holes or without. */
static void crowd(int holes)
{
    char *path = io_path("crowd");
    MPI_Datatype filetype;
    int total = length_of_all(), *all = malloc(sizeof(int) * (size_t)total);
    MPI_Type_create_resized(MPI_INT, 0, holes ? 12 : 4, &filetype);
    MPI_Type_commit(&filetype);
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    io_view(file, 20, MPI_INT, filetype);
    for (int i = 0; i < RECORDS; i++) {
        int ints[MOST], n = record(check_rank, i, ints);
        io_do(file, &io_accesses[10 + i % 2], 1, i / 2 % 2, 0, ints, n, MPI_INT, n);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(position(), total);
    io_settle(file);
    IO_OK(MPI_File_read_at(file, 0, all, total, MPI_INT, MPI_STATUS_IGNORE));
    check_stream_of(all, total);
    MPI_Barrier(MPI_COMM_WORLD);

    /* Every int is read by somebody, and by nobody else. */
    int *mine = malloc(sizeof(int) * (size_t)total), got = 0;
    IO_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    int share = total / check_size;
    for (int i = 0; i < share; i++) io_do(file, &io_accesses[10 + i % 2], 0, 0, 0, mine + got++, 1, MPI_INT, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(position(), share * check_size);
    long long sum = 0, want = 0, sums;
    for (int i = 0; i < share; i++) sum += mine[i];
    for (int i = 0; i < share * check_size; i++) want += all[i];
    MPI_Allreduce(&sum, &sums, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sums, want);
    free(mine), free(all);
    MPI_Type_free(&filetype);
    IO_OK(MPI_File_close(&file));
}

/* Ordered accesses of different lengths, also of none: rank by rank, call by call. */
static void ordered(int split)
{
    const io_access *a = &io_accesses[12 + split];
    char *path = io_path("ordered");
    int ints[MOST], want[MOST], at = 0, *all;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    io_view(file, 0, MPI_INT, MPI_INT);
    for (int i = 0; i < RECORDS; i++) {
        int n = (i + check_rank) % 4 ? record(check_rank, i, ints) : 0;
        io_do(file, a, 1, i % 2, 0, ints, n, MPI_INT, n);
    }
    io_settle(file);
    MPI_Offset size;
    IO_OK(MPI_File_get_size(file, &size));
    all = malloc((size_t)size + 1);
    IO_OK(MPI_File_read_at(file, 0, all, (int)size / 4, MPI_INT, MPI_STATUS_IGNORE));
    IO_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int i = 0; i < RECORDS; i++) {
        int mine = 0;
        for (int r = 0; r < check_size; r++) {
            int n = (i + r) % 4 ? record(r, i, want) : 0;
            CHECK(!memcmp(all + at, want, sizeof(int) * (size_t)n));
            at += n;
            if (r == check_rank) mine = n;
        }
        memset(ints, 0, sizeof ints);
        io_do(file, a, 0, i % 2, 0, ints, mine, MPI_INT, mine);
        record(check_rank, i, want);
        CHECK(!memcmp(ints, want, sizeof(int) * (size_t)mine));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(position(), at);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_EQ(size, 4ll * at);
    free(all);
    IO_OK(MPI_File_close(&file));
}

/* Seeking is the act of all; every rank sees where the pointer is. */
static void seeks(void)
{
    char *path = io_path("seeks");
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    IO_OK(MPI_File_set_size(file, 80));
    io_view(file, 0, MPI_INT, MPI_INT);
    static const struct { int offset, whence, at; } to[] = {
        {7, MPI_SEEK_SET, 7}, {3, MPI_SEEK_CUR, 10}, {-4, MPI_SEEK_CUR, 6}, {0, MPI_SEEK_END, 20},
        {-5, MPI_SEEK_END, 15}, {100, MPI_SEEK_END, 120}, {0, MPI_SEEK_SET, 0},
    };
    for (int i = 0; i < 7; i++) {
        IO_OK(MPI_File_seek_shared(file, to[i].offset, to[i].whence));
        CHECK_EQ(position(), to[i].at);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    IO_PROMISED(MPI_File_seek_shared(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    IO_PROMISED(MPI_File_seek_shared(file, -21, MPI_SEEK_END), MPI_ERR_ARG);
    IO_PROMISED(MPI_File_seek_shared(file, 0, 99), MPI_ERR_ARG);
    if (check_size > 1) {
        IO_PROMISED(MPI_File_seek_shared(file, check_rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
        IO_PROMISED(MPI_File_seek_shared(file, 0, check_rank ? MPI_SEEK_SET : MPI_SEEK_END), MPI_ERR_NOT_SAME);
    }
    CHECK_EQ(position(), 0);
    IO_OK(MPI_File_close(&file));
}

/* Every open has a pointer of its own, though the file is one; that of a sub-communicator is shared by it alone. */
static void pointers(void)
{
    char *path = io_path("pointers");
    MPI_Comm part;
    MPI_File again, of_part;
    MPI_Offset at = -1;
    int here, one = 1;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &part);
    MPI_Comm_size(part, &here);
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    again = io_open(path, MPI_MODE_RDWR);
    IO_OK(MPI_File_open(part, path, MPI_MODE_RDWR, MPI_INFO_NULL, &of_part));
    IO_OK(MPI_File_write_shared(file, &one, 3, MPI_CHAR, MPI_STATUS_IGNORE));
    IO_OK(MPI_File_write_shared(of_part, &one, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(position(), 3 * check_size);
    IO_OK(MPI_File_get_position_shared(again, &at));
    CHECK_EQ(at, 0);
    IO_OK(MPI_File_get_position_shared(of_part, &at));
    CHECK_EQ(at, here);
    MPI_Barrier(MPI_COMM_WORLD);
    IO_OK(MPI_File_close(&of_part));
    IO_OK(MPI_File_close(&again));
    IO_OK(MPI_File_close(&file));
    MPI_Comm_free(&part);
    io_delete(path);
}

/* A sequential file is written from its beginning to its end, and read so. */
static void sequential(void)
{
    char *path = io_path("sequential");
    int total = length_of_all(), *all = malloc(sizeof(int) * (size_t)total), ints[MOST];
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    for (int i = 0; i < RECORDS; i++) {
        int n = record(check_rank, i, ints);
        IO_OK(MPI_File_write_shared(file, ints, n, MPI_INT, MPI_STATUS_IGNORE));
    }
    IO_OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    file = io_open(path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
    for (int r = 0; r < check_size; r++) {
        int n = total / check_size + (r == check_size - 1 ? total % check_size : 0);
        if (r == check_rank) io_do(file, &io_accesses[10], 0, 0, 0, all, n, MPI_INT, n);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int counts[64], at[64], *joined = malloc(sizeof(int) * (size_t)total);
    for (int r = 0; r < check_size; r++) {
        at[r] = r * (total / check_size);
        counts[r] = total / check_size + (r == check_size - 1 ? total % check_size : 0);
    }
    MPI_Allgatherv(all, counts[check_rank], MPI_INT, joined, counts, at, MPI_INT, MPI_COMM_WORLD);
    check_stream_of(joined, total);
    free(all), free(joined);
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    crowd(0);
    crowd(1);
    ordered(0);
    ordered(1);
    seeks();
    if (check_library("libimpi")) pointers(); /* others find one pointer by the file's name */
    sequential();
    return io_end();
}
