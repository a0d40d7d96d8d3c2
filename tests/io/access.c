/* All data accesses: what they move, what their statuses say, and where they leave the pointers. */
/* needs: MPI_File_read_at MPI_File_iwrite_all MPI_File_write_ordered_begin MPI_File_read_shared MPI_File_seek_shared */
#include "io.h"

enum { EACH = 6, TWICE = 2 * EACH, FIRST = 2, BEFORE = 8 }; /* ints a rank moves at a time; the first; bytes in front */

static MPI_File file;

static int value(int rank, int i) { return 1000 * (rank + 1) + i; }

static long long position(void)
{
    MPI_Offset at = -1;
    IO_OK(MPI_File_get_position(file, &at));
    return at;
}

static long long position_shared(void)
{
    MPI_Offset at = -1;
    IO_OK(MPI_File_get_position_shared(file, &at));
    return at;
}

/* Move 2 times EACH ints. In the user's memory they lie in a row, or every second one (apart). */
static void transfer(const io_access *a, int writes, int large, int apart, int *ints)
{
    MPI_Datatype every;
    MPI_Type_vector(EACH, 1, 2, MPI_INT, &every);
    MPI_Type_commit(&every);
    for (int time = 0; time < 2; time++)
        if (apart) {
            int spread[2 * EACH];
            memset(spread, 0x33, sizeof spread);
            for (int i = 0; writes && i < EACH; i++) spread[2 * i] = ints[time * EACH + i];
            io_do(file, a, writes, large, FIRST + time * EACH, spread, 1, every, 1);
            for (int i = 0; i < EACH; i++) {
                ints[time * EACH + i] = spread[2 * i];
                CHECK_EQ(spread[2 * i + 1], 0x33333333);
            }
        } else {
            io_do(file, a, writes, large, FIRST + time * EACH, ints + time * EACH, EACH, MPI_INT, EACH);
        }
    MPI_Type_free(&every);
}

/* What lies in the file when every rank has written its ints, each beside the next rank's. */
static void check_columns(const char *path)
{
    long n;
    unsigned char *bytes = io_contents(path, &n);
    CHECK_EQ(n, BEFORE + 4 * (FIRST + TWICE) * check_size);
    for (int i = 0; i < TWICE; i++)
        for (int r = 0; r < check_size; r++) {
            int got;
            memcpy(&got, bytes + BEFORE + 4 * ((FIRST + i) * check_size + r), 4);
            CHECK_EQ(got, value(r, i));
        }
    free(bytes);
}

/* Explicit offsets and individual pointers, in a view of every size-th int. */
static void columns(const io_access *a, int large, int apart)
{
    char *path = io_path("columns");
    MPI_Datatype column;
    int ints[TWICE], start = a->pointer == IO_OWN ? FIRST : 5;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Type_create_resized(MPI_INT, 0, 4 * check_size, &column);
    MPI_Type_commit(&column);
    io_view(file, BEFORE + 4 * check_rank, MPI_INT, column);
    MPI_Type_free(&column); /* the view keeps it */
    for (int writes = 1; writes >= 0; writes--) {
        for (int i = 0; i < TWICE; i++) ints[i] = writes ? value(check_rank, i) : -1;
        IO_OK(MPI_File_seek(file, start, MPI_SEEK_SET));
        transfer(a, writes, large, apart, ints);
        CHECK_EQ(position(), a->pointer == IO_OWN ? FIRST + TWICE : start);
        for (int i = 0; i < TWICE; i++) CHECK_EQ(ints[i], value(check_rank, i));
        io_settle(file);
        check_columns(path);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

/* Each record once: those of a rank in its order, and in the order of ranks where the call says so. */
static void check_records(const io_access *a, const int *all)
{
    int seen[64] = {0};
    CHECK(check_size <= 64);
    for (int k = 0; k < 2 * check_size; k++) {
        const int *record = all + k * EACH;
        int rank = record[0] / 1000 - 1, time = record[0] % 1000 / EACH;
        CHECK_SAY(rank >= 0 && rank < check_size, "record %d begins with %d", k, record[0]);
        CHECK_EQ(time, seen[rank]++);
        for (int i = 0; i < EACH; i++) CHECK_EQ(record[i], value(rank, time * EACH + i));
        if (io_collective(a)) CHECK_EQ(rank, k % check_size);
    }
}

/* The shared pointer: records of all ranks, one after the other. */
static void records(const io_access *a, int large, int apart)
{
    char *path = io_path("records");
    int ints[TWICE], *all = malloc(sizeof ints * (size_t)check_size), end = FIRST + TWICE * check_size;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    io_view(file, BEFORE, MPI_INT, MPI_INT);
    for (int writes = 1; writes >= 0; writes--) {
        for (int i = 0; i < TWICE; i++) ints[i] = writes ? value(check_rank, i) : -1;
        IO_OK(MPI_File_seek(file, 3, MPI_SEEK_SET));
        IO_OK(MPI_File_seek_shared(file, FIRST, MPI_SEEK_SET));
        transfer(a, writes, large, apart, ints);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(position(), 3);
        CHECK_EQ(position_shared(), end);
        io_settle(file);
        if (writes) {
            IO_OK(MPI_File_read_at(file, FIRST, all, TWICE * check_size, MPI_INT, MPI_STATUS_IGNORE));
            check_records(a, all);
        } else { /* a rank's later record is one that lies behind its earlier: all of them, once */
            int *seen = calloc(2 * (size_t)check_size, sizeof *seen);
            MPI_Allgather(ints, TWICE, MPI_INT, all, TWICE, MPI_INT, MPI_COMM_WORLD);
            for (int k = 0; k < 2 * check_size; k++) {
                int rank = all[k * EACH] / 1000 - 1, time = all[k * EACH] % 1000 / EACH;
                CHECK(rank >= 0 && rank < check_size && time < 2);
                CHECK_EQ(seen[2 * rank + time]++, 0);
                for (int i = 0; i < EACH; i++) CHECK_EQ(all[k * EACH + i], value(rank, time * EACH + i));
                if (io_collective(a)) CHECK(rank == k / 2 && time == k % 2);
            }
            free(seen);
        }
    }
    free(all);
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

/* At the end of the file a read transfers what is there, and behind it nothing; that is no error. */
static void ends(const io_access *a, int large)
{
    enum { HOLDS = 10 };
    int ints[HOLDS], got[8];
    char *path = io_path("ends");
    MPI_Offset own, shared;
    for (int i = 0; i < HOLDS; i++) ints[i] = value(0, i);
    io_make(path, ints, sizeof ints);
    file = io_open(path, MPI_MODE_RDONLY);
    io_view(file, 0, MPI_INT, MPI_INT);
    int told = !check_library("MPICH") || !io_collective(a); /* MPICH's collective reads fill all */
    /* Ordered, and shared by one rank after the other, the first rank gets the last ints. */
    int first = a->pointer != IO_COMMON || check_rank == 0;
    for (int from = 6; from <= 14; from += 4) {
        int left = from < HOLDS ? HOLDS - from : 0, want = first ? (left < 8 ? left : 8) : 0;
        memset(got, 0x55, sizeof got);
        if (a->pointer == IO_OWN) IO_OK(MPI_File_seek(file, from, MPI_SEEK_SET));
        if (a->pointer == IO_COMMON) IO_OK(MPI_File_seek_shared(file, from, MPI_SEEK_SET));
        MPI_Barrier(MPI_COMM_WORLD);
        if (io_collective(a) || first) io_do(file, a, 0, large, from, got, 8, MPI_INT, told ? want : -1);
        if (!io_collective(a)) MPI_Barrier(MPI_COMM_WORLD);
        if (!io_collective(a) && !first) io_do(file, a, 0, large, from, got, 8, MPI_INT, told ? want : -1);
        for (int i = 0; i < (told ? 8 : want); i++)
            CHECK_EQ(got[i], i < want ? value(0, from + i) : 0x55555555);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    IO_OK(MPI_File_get_position(file, &own)); /* behind what was asked, or what was there */
    IO_OK(MPI_File_get_position_shared(file, &shared));
    if (a->pointer == IO_OWN) CHECK(own == 14 || own == 22);
    if (a->pointer != IO_OWN) CHECK_EQ(own, 0);
    if (a->pointer != IO_COMMON) CHECK_EQ(shared, 0);
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

/* Nothing is moved, and nothing moves: by all, or by some. */
static void nothing(const io_access *a, int large)
{
    char *path = io_path("nothing");
    int one = value(check_rank, 0), got = -1, some = check_rank % 2;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    io_view(file, 0, MPI_INT, MPI_INT);
    for (int writes = 1; writes >= 0; writes--) {
        io_do(file, a, writes, large, 7, NULL, 0, MPI_INT, 0);
        CHECK_EQ(position(), 0);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(position_shared(), 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (a->pointer == IO_OWN) IO_OK(MPI_File_seek(file, check_rank, MPI_SEEK_SET));
    io_do(file, a, 1, large, check_rank, some ? &one : NULL, some, MPI_INT, some);
    io_settle(file);
    MPI_Offset size;
    IO_OK(MPI_File_get_size(file, &size));
    if (a->pointer == IO_COMMON) {
        CHECK_EQ(size, 4 * (check_size / 2));
    } else {
        CHECK_EQ(size, check_size / 2 * 8);
        if (some) IO_OK(MPI_File_read_at(file, check_rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(!some || got == one);
    }
    IO_OK(MPI_File_close(&file));
}

/* Many requests at once, of every kind that waits, beside messages; they complete in any order. */
static void outstanding(void)
{
    enum { MANY = 24, LONG = 5000 };
    static int out[MANY][LONG], in[MANY][LONG];
    int next = (check_rank + 1) % check_size, last = (check_rank + check_size - 1) % check_size, token = -1;
    char *path = io_path("outstanding");
    MPI_Request all[MANY + 2];
    MPI_Status status[MANY + 2];
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    io_view(file, (MPI_Offset)check_rank * MANY * LONG * 4, MPI_INT, MPI_INT);
    for (int writes = 1; writes >= 0; writes--) {
        IO_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
        MPI_Irecv(&token, 1, MPI_INT, last, 5, MPI_COMM_WORLD, &all[MANY]);
        for (int i = 0; i < MANY; i++) { /* explicit at even places, the pointer's at odd ones; a quarter collective */
            static const int kinds[] = {1, 6, 3, 8};
            int(*ints)[LONG] = writes ? out : in;
            io_op op;
            for (int k = 0; writes && k < LONG; k++) out[i][k] = value(check_rank, i * LONG + k);
            if (i % 2) IO_OK(MPI_File_seek(file, i * LONG, MPI_SEEK_SET));
            IO_OK(io_begin(&op, file, &io_accesses[kinds[i % 4]], writes, i / 4 % 2, i * LONG, ints[i], LONG, MPI_INT));
            all[i] = op.request;
        }
        CHECK_EQ(position(), MANY * LONG);
        MPI_Isend(&check_rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &all[MANY + 1]);
        if (writes) {
            MPI_Waitall(MANY + 2, all, status);
        } else {
            for (int left = MANY + 2; left > 0; left--) {
                int which;
                MPI_Status one;
                MPI_Waitany(MANY + 2, all, &which, &one);
                CHECK(which >= 0 && which < MANY + 2);
                status[which] = one;
            }
        }
        CHECK_EQ(token, last);
        for (int i = 0; i < MANY; i++) {
            int got = -1;
            MPI_Get_count(&status[i], MPI_INT, &got);
            CHECK_EQ(got, LONG);
        }
    }
    CHECK_EQ(memcmp(out, in, sizeof out), 0);
    IO_OK(MPI_File_close(&file));
}

/* Between begin and end other accesses go on, but no collective one; begin and end belong together. */
static void splits(void)
{
    char *path = io_path("splits");
    int mine[4], got[4], other = 77, back = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    io_view(file, 0, MPI_INT, MPI_INT);
    for (int i = 0; i < 4; i++) mine[i] = value(check_rank, i);
    IO_OK(MPI_File_write_at_all_begin(file, 4 * check_rank, mine, 4, MPI_INT));
    IO_OK(MPI_File_write_at(file, 4 * check_size + check_rank, &other, 1, MPI_INT, MPI_STATUS_IGNORE));
    IO_OK(MPI_File_iread_at(file, 4 * check_size + check_rank, &back, 1, MPI_INT, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(back, 77);
    if (check_library("libimpi")) { /* others hang, or succeed */
        IO_WRONG(MPI_File_read_at_all_begin(file, 0, got, 4, MPI_INT), MPI_ERR_OTHER);
        IO_WRONG(MPI_File_write_all_begin(file, mine, 4, MPI_INT), MPI_ERR_OTHER);
        IO_WRONG(MPI_File_read_at_all(file, 0, got, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
        IO_WRONG(MPI_File_iread_all(file, got, 4, MPI_INT, &request), MPI_ERR_OTHER);
        IO_WRONG(MPI_File_write_ordered(file, mine, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
        IO_WRONG(MPI_File_write_all_end(file, mine, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
        IO_WRONG(MPI_File_read_at_all_end(file, mine, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    }
    IO_OK(MPI_File_write_at_all_end(file, mine, MPI_STATUS_IGNORE));
    if (check_library("libimpi")) {
        IO_WRONG(MPI_File_write_at_all_end(file, mine, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
        IO_WRONG(MPI_File_read_ordered_end(file, got, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    }
    io_settle(file);
    IO_OK(MPI_File_read_at_all_begin(file, 4 * check_rank, got, 4, MPI_INT));
    IO_OK(MPI_File_read_at_all_end(file, got, MPI_STATUS_IGNORE));
    for (int i = 0; i < 4; i++) CHECK_EQ(got[i], mine[i]);
    IO_OK(MPI_File_close(&file));
}

/* A status counts elements of the memory's type, whole ones and parts. */
static void statuses(void)
{
    char *path = io_path("statuses");
    int ints[10] = {0}, got[12], count = -1, elements = -1;
    MPI_Datatype triple;
    MPI_Status s;
    io_make(path, ints, sizeof ints);
    file = io_open(path, MPI_MODE_RDONLY);
    MPI_Type_contiguous(3, MPI_INT, &triple);
    MPI_Type_commit(&triple);
    io_view(file, 0, MPI_INT, MPI_INT);
    IO_OK(MPI_File_read_at(file, 0, got, 4, triple, &s));
    MPI_Get_elements(&s, triple, &elements);
    CHECK_EQ(elements, 10);
    MPI_Get_count(&s, triple, &count);
    CHECK(count == MPI_UNDEFINED);
    IO_OK(MPI_File_read_at_all(file, 4, got, 2, triple, &s));
    MPI_Get_count(&s, triple, &count);
    CHECK_EQ(count, 2);
    IO_OK(MPI_File_read_at(file, 8, got, 1, triple, &s));
    MPI_Get_elements(&s, MPI_INT, &elements);
    CHECK_EQ(elements, 2);
    MPI_Type_free(&triple);
    IO_OK(MPI_File_close(&file));
    io_delete(path);
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    for (int k = 0; k < IO_ACCESSES; k++)
        for (int large = 0; large < 2; large++) {
            const io_access *a = &io_accesses[k];
            (a->pointer == IO_COMMON ? records : columns)(a, large, 0);
            (a->pointer == IO_COMMON ? records : columns)(a, large, 1);
            if (!check_library("Open MPI")) ends(a, large); /* where reads that wait never end behind the last byte */
            nothing(a, large);
        }
    outstanding();
    splits();
    statuses();
    return io_end();
}
