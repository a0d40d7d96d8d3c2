/* Large files, large counts and views of very many pieces; files with holes, so that nothing large is ever written. */
/* needs: MPI_File_set_size MPI_File_set_view MPI_File_write_at MPI_File_read_at_c MPI_File_get_byte_offset */
#include "io.h"
#include <sys/mman.h>

static MPI_File file;

/* Bytes that this process has in memory, with what it has touched and given back. */
static long most_memory(void)
{
    long kib = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
    fclose(f);
    return kib * 1024;
}

/* Offsets beyond 4 GiB, by every pointer, and a size to match. */
static void far_offsets(void)
{
    const MPI_Offset far = 5ll << 30, mine = far + 8 * check_rank;
    char *path = io_path("far");
    MPI_Offset at = -1;
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    for (int k = 0; k < 10; k++) { /* all but those of the shared pointer */
        const io_access *a = &io_accesses[k];
        long long out = 1000 * k + check_rank, in = -1;
        if (a->pointer == IO_OWN) IO_OK(MPI_File_seek(file, mine, MPI_SEEK_SET));
        io_do(file, a, 1, k % 2, mine, &out, 8, MPI_BYTE, 8);
        IO_OK(MPI_File_get_position(file, &at));
        if (a->pointer == IO_OWN) CHECK_EQ(at, mine + 8);
        if (a->pointer == IO_OWN) IO_OK(MPI_File_seek(file, -8, MPI_SEEK_CUR));
        io_do(file, a, 0, k % 2, mine, &in, 8, MPI_BYTE, 8);
        CHECK_EQ(in, out);
    }
    io_settle(file);
    IO_OK(MPI_File_get_size(file, &at));
    CHECK_EQ(at, far + 8 * check_size);
    IO_OK(MPI_File_seek_shared(file, far, MPI_SEEK_SET));
    char byte = 'o';
    IO_OK(MPI_File_write_ordered(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    IO_OK(MPI_File_get_position_shared(file, &at));
    CHECK_EQ(at, far + check_size);
    MPI_Barrier(MPI_COMM_WORLD);
    IO_OK(MPI_File_set_size(file, 10ll << 30));
    IO_OK(MPI_File_get_size(file, &at));
    CHECK_EQ(at, 10ll << 30);
    IO_OK(MPI_File_seek(file, -10, MPI_SEEK_END));
    IO_OK(MPI_File_get_position(file, &at));
    CHECK_EQ(at, (10ll << 30) - 10);
    io_view(file, 6ll << 30, MPI_INT, MPI_INT);
    IO_OK(MPI_File_get_byte_offset(file, 1000000000, &at));
    CHECK_EQ(at, (6ll << 30) + 4000000000ll);
    IO_OK(MPI_File_close(&file));
}

/* Pieces that are a GiB apart: what lies between is neither read nor written. */
static void far_apart(int collective)
{
    enum { PIECES = 6 };
    char *path = io_path("far apart"), out[PIECES], in[PIECES] = {0};
    MPI_Datatype filetype;
    const io_access *a = &io_accesses[collective ? 2 : 0];
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_Type_create_resized(MPI_CHAR, 0, 1 << 30, &filetype);
    MPI_Type_commit(&filetype);
    io_view(file, 7 * check_rank, MPI_CHAR, filetype);
    for (int i = 0; i < PIECES; i++) out[i] = (char)('a' + i + check_rank);
    io_do(file, a, 1, 0, 0, out, PIECES, MPI_CHAR, PIECES);
    io_settle(file);
    io_do(file, a, 0, 0, 0, in, PIECES, MPI_CHAR, PIECES);
    CHECK(!memcmp(in, out, PIECES));
    struct stat s;
    CHECK_EQ(stat(path, &s), 0);
    CHECK_EQ(s.st_size, (PIECES - 1ll) * (1 << 30) + 7 * (check_size - 1) + 1);
    CHECK_SAY(s.st_blocks * 512ll < 64 << 20, "%lld bytes on the disk", s.st_blocks * 512ll);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&filetype);
    IO_OK(MPI_File_close(&file));
}

/* More than 2^31 bytes are asked for; the file has a few. */
static void large_counts(void)
{
#if MPI_VERSION >= 4
    const MPI_Count asked = (1ll << 31) + 16;
    char *path = io_path("counts");
    MPI_Status s;
    MPI_Count got = -1;
    MPI_Datatype pair;
    MPI_Request r;
    char *room = mmap(NULL, (size_t)asked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(room != MAP_FAILED);
    io_make(path, "0123456789abcdefghij", 20);
    file = io_open(path, MPI_MODE_RDONLY);
    IO_OK(MPI_File_read_at_c(file, 2, room, asked, MPI_CHAR, &s));
    MPI_Get_count_c(&s, MPI_CHAR, &got);
    CHECK_EQ(got, 18);
    CHECK(!memcmp(room, "23456789abcdefghij", 18));
    MPI_Type_contiguous(2, MPI_CHAR, &pair);
    MPI_Type_commit(&pair);
    memset(room, 0, 20);
    IO_OK(MPI_File_iread_at_c(file, 4, room, asked / 2, pair, &r));
    MPI_Wait(&r, &s);
    MPI_Get_count_c(&s, pair, &got);
    CHECK_EQ(got, 8);
    CHECK(!memcmp(room, "456789abcdefghij", 16));
    IO_OK(MPI_File_seek(file, 10, MPI_SEEK_SET));
    IO_OK(MPI_File_read_all_c(file, room, check_rank % 2 ? 3 : asked, MPI_CHAR, &s));
    MPI_Get_count_c(&s, MPI_CHAR, &got);
    if (!check_library("MPICH")) CHECK_EQ(got, check_rank % 2 ? 3 : 10); /* there it is what was asked */
    CHECK(!memcmp(room, "abc", 3));
    MPI_Type_free(&pair);
    IO_OK(MPI_File_close(&file));
    munmap(room, (size_t)asked);
    io_delete(path);
#endif
}

/* A view of as many pieces as the square of n: ints, every other one of a row, in every other row. */
static void many_pieces(int n)
{
    char *path = io_path("pieces");
    const long long middle = (long long)n / 2 * n + 2 * (n / 4) + 1; /* an int in the middle row */
    const MPI_Offset row = middle / n, column = middle % n;
    MPI_Datatype inner, outer;
    MPI_Offset at = -1;
    int out[7], in[7];
    long before = most_memory();
    MPI_Type_vector(n, 1, 2, MPI_INT, &inner);
    MPI_Type_create_hvector(n, 1, (MPI_Aint)16 * n, inner, &outer);
    MPI_Type_commit(&outer);
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    io_view(file, 0, MPI_INT, outer);
    IO_OK(MPI_File_get_byte_offset(file, middle, &at));
    CHECK_EQ(at, row * 16 * n + column * 8);
    for (int i = 0; i < 7; i++) out[i] = 100 * (check_rank + 1) + i;
    io_do(file, &io_accesses[2], 1, 0, middle + 7 * check_rank, out, 7, MPI_INT, 7);
    io_settle(file);
    io_do(file, &io_accesses[0], 0, 0, middle + 7 * check_rank, in, 7, MPI_INT, 7);
    CHECK(!memcmp(in, out, sizeof in));
    io_do(file, &io_accesses[2], 0, 0, middle + 7 * ((check_rank + 1) % check_size), in, 7, MPI_INT, 7);
    CHECK_EQ(in[3], 100 * ((check_rank + 1) % check_size + 1) + 3);
    if (check_library("libimpi")) {
        IO_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
        IO_OK(MPI_File_get_position(file, &at));
        CHECK_EQ(at, middle + 7 * check_size);
    }
    MPI_Type_free(&inner);
    MPI_Type_free(&outer);
    IO_OK(MPI_File_close(&file));
    long grown = most_memory() - before;
    if (check_library("libimpi")) CHECK_SAY(grown < 40l << 20, "%ld bytes for a view of %d^2 pieces", grown, n);
}

/* Every byte is in memory that is used again and again, and every piece in a file with holes. */
static void many_pieces_of_memory(void)
{
    enum { N = 200000 };
    char *path = io_path("memory");
    MPI_Datatype memory, column;
    short *out = malloc(N * 6), *in = calloc(N, 6);
    MPI_Type_create_hvector(N, 1, 6, MPI_SHORT, &memory);
    MPI_Type_create_resized(MPI_SHORT, 0, 2 * check_size, &column);
    MPI_Type_commit(&memory), MPI_Type_commit(&column);
    file = io_open(path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    io_view(file, 2 * check_rank, MPI_SHORT, column);
    for (int i = 0; i < 3 * N; i++) out[i] = (short)(i * 3 + check_rank);
    io_do(file, &io_accesses[2], 1, 0, 0, out, 1, memory, 1);
    io_settle(file);
    io_do(file, &io_accesses[0], 0, 0, 0, in, 1, memory, 1);
    for (int i = 0; i < N; i++) CHECK_EQ(in[3 * i], out[3 * i]);
    MPI_Type_free(&memory), MPI_Type_free(&column);
    free(out), free(in);
    IO_OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    int libimpi = check_library("libimpi");
    far_offsets();
    far_apart(0);
    if (libimpi) far_apart(1); /* others fill what lies between, or read it */
    if (!check_library("MPICH Version:\t4")) large_counts(); /* which takes counts of an int */
    many_pieces(libimpi ? 10000 : 300); /* others make a list of the pieces */
    many_pieces_of_memory();
    return io_end();
}
