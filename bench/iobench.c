/* iobench.c - file access of several ranks, in the page cache of one machine.
 *
 * Plain MPI-2 C, like mpibench.c. Rank 0 prints one "name value unit" line per measurement, the best of REPS batches:
 * MB/s over all ranks, or us of a call. Names are of the call, then bytes: of the call, or of a piece of it.
 *
 *   iobench folder [group ...]     groups: open plain strided collective shared
 *
 * The file is made in the folder, and removed at the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPS = 5, TOTAL = 4 << 20, SIDE = 1024 };
static int rank, size;
static char path[4096], *data;
static MPI_File file;

static int wants(int argc, char **argv, const char *group)
{
    if (argc < 2) return 1;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], group)) return 1;
    return 0;
}

static void report(const char *name, int bytes, double value, const char *unit)
{
    char label[64];
    snprintf(label, sizeof label, "%s/%d", name, bytes);
    if (rank == 0) { printf("%-28s %14.4f %s\n", label, value, unit); fflush(stdout); }
}

/* Calls of all ranks, the time of the slowest. */
#define ALL(best, calls, BODY) \
    do { \
        best = 1e30; \
        for (int r_ = 0; r_ < REPS; r_++) { \
            MPI_Barrier(MPI_COMM_WORLD); \
            double t_ = MPI_Wtime(), slowest_; \
            for (int i_ = 0; i_ < (calls); i_++) { BODY; } \
            t_ = (MPI_Wtime() - t_) / (calls); \
            MPI_Allreduce(&t_, &slowest_, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); \
            if (slowest_ < best) best = slowest_; \
        } \
    } while (0)

static double rate(double bytes, double seconds) { return bytes * size / seconds / 1e6; }

/* Errors on files are returned, unless somebody asks for the opposite. */
static void done(int error)
{
    if (error != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
}

static void open_file(void)
{
    done(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
}

static void opening(void)
{
    double t;
    ALL(t, 20, open_file(); MPI_File_close(&file));
    report("open-close", 0, t * 1e6, "us");
}

/* Each rank in a part of its own. */
static void plain(void)
{
    double t;
    MPI_Offset at = (MPI_Offset)rank * TOTAL;
    open_file();
    for (int n = 4096; n <= TOTAL; n *= 32) {
        int calls = n <= 4096 ? 200 : 8;
        ALL(t, calls, done(MPI_File_write_at(file, at, data, n, MPI_BYTE, MPI_STATUS_IGNORE)));
        report("write-at", n, rate(n, t), "MB/s");
        ALL(t, calls, done(MPI_File_read_at(file, at, data, n, MPI_BYTE, MPI_STATUS_IGNORE)));
        report("read-at", n, rate(n, t), "MB/s");
    }
    MPI_File_close(&file);
}

typedef int access_at(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *);
static int write_at(MPI_File f, MPI_Offset at, void *b, int n, MPI_Datatype t, MPI_Status *s)
{
    return MPI_File_write_at(f, at, b, n, t, s);
}
static int write_at_all(MPI_File f, MPI_Offset at, void *b, int n, MPI_Datatype t, MPI_Status *s)
{
    return MPI_File_write_at_all(f, at, b, n, t, s);
}

/* Pieces of the file belong to the ranks in turn. */
static void in_turn(const char *name, access_at *access, int total)
{
    for (int piece = 64; piece <= 4096; piece *= 8) {
        double t;
        MPI_Datatype bytes, mine;
        MPI_Type_contiguous(piece, MPI_BYTE, &bytes);
        MPI_Type_create_resized(bytes, 0, (MPI_Aint)piece * size, &mine);
        MPI_Type_commit(&mine);
        open_file();
        done(MPI_File_set_view(file, (MPI_Offset)rank * piece, MPI_BYTE, mine, "native", MPI_INFO_NULL));
        ALL(t, 1, done(access(file, 0, data, total, MPI_BYTE, MPI_STATUS_IGNORE)));
        report(name, piece, rate(total, t), "MB/s");
        MPI_File_close(&file);
        MPI_Type_free(&mine);
        MPI_Type_free(&bytes);
    }
}

static void strided(void)
{
    in_turn("write-strided", write_at, TOTAL / 16);
    in_turn("read-strided", MPI_File_read_at, TOTAL / 16);
}

/* A matrix of doubles in blocks of both dimensions, as a checkpoint is written. */
static void tiles(void)
{
    double t;
    int dims[2] = {0, 0}, full[2] = {SIDE, SIDE}, part[2], from[2];
    MPI_Datatype tile;
    MPI_Dims_create(size, 2, dims);
    for (int d = 0; d < 2; d++) part[d] = full[d] / dims[d];
    from[0] = rank / dims[1] * part[0];
    from[1] = rank % dims[1] * part[1];
    MPI_Type_create_subarray(2, full, part, from, MPI_ORDER_C, MPI_DOUBLE, &tile);
    MPI_Type_commit(&tile);
    open_file();
    done(MPI_File_set_view(file, 0, MPI_DOUBLE, tile, "native", MPI_INFO_NULL));
    const int n = part[0] * part[1];
    ALL(t, 2, done(MPI_File_write_at_all(file, 0, data, n, MPI_DOUBLE, MPI_STATUS_IGNORE)));
    report("write-all-tiles", SIDE, rate(8.0 * n, t), "MB/s");
    ALL(t, 2, done(MPI_File_read_at_all(file, 0, data, n, MPI_DOUBLE, MPI_STATUS_IGNORE)));
    report("read-all-tiles", SIDE, rate(8.0 * n, t), "MB/s");
    MPI_File_close(&file);
    MPI_Type_free(&tile);
}

static void collective(void)
{
    in_turn("write-all-strided", write_at_all, TOTAL);
    in_turn("read-all-strided", MPI_File_read_at_all, TOTAL);
    tiles();
}

static void shared(void)
{
    double t;
    open_file();
    ALL(t, 50, done(MPI_File_write_shared(file, data, 64, MPI_BYTE, MPI_STATUS_IGNORE)));
    report("write-shared", 64, t * 1e6, "us");
    ALL(t, 50, done(MPI_File_write_ordered(file, data, 64, MPI_BYTE, MPI_STATUS_IGNORE)));
    report("write-ordered", 64, t * 1e6, "us");
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2) {
        if (rank == 0) fprintf(stderr, "usage: iobench folder [group ...]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    snprintf(path, sizeof path, "%s/iobench.dat", argv[1]);
    data = malloc(2 * TOTAL);
    memset(data, rank, 2 * TOTAL);
    argc--;
    argv++;
    if (wants(argc, argv, "open")) opening();
    if (wants(argc, argv, "plain")) plain();
    if (wants(argc, argv, "strided")) strided();
    if (wants(argc, argv, "collective")) collective();
    if (wants(argc, argv, "shared")) shared();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
    free(data);
    MPI_Finalize();
    return 0;
}
