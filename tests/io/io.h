/* io.h - a folder for the files of a test, all data accesses by one call, and datatypes that are known byte by byte.
 *
 * A test calls io_start first and returns io_end() from main. Its files are io_path("name"), in a folder that rank 0
 * makes under $TMPDIR or the current one; at the end nothing but the folder may be left of them.
 */
#ifndef IO_H
#define IO_H

#include "../check.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

/* The call succeeds; its error is told if not. */
#define IO_OK(call) CHECK_CLASS(call, MPI_SUCCESS)

/* The call fails, in libimpi with this class. Other libraries name some errors otherwise, or not at all. */
#define IO_WRONG(call, want) \
    do { \
        int wrong_ = (call), is_; \
        MPI_Error_class(wrong_, &is_); \
        CHECK_SAY(wrong_ != MPI_SUCCESS, "%s succeeds, which should be %s", #call, #want); \
        if (is_ != (want) && (check_library("libimpi") || getenv("CHECK_STRICT"))) \
            check_fail(__FILE__, __LINE__, "%s gives class %s, not %s", #call, check_class_name(is_), #want); \
    } while (0)

/* The same where others do anything at all, and are not asked. */
#define IO_PROMISED(call, want) \
    do { \
        if (check_library("libimpi")) IO_WRONG(call, want); \
    } while (0)

#if MPI_VERSION >= 4
#define IO_EITHER(large, f, ...) ((large) ? f##_c(__VA_ARGS__) : f(__VA_ARGS__))
#else
#define IO_EITHER(large, f, ...) ((void)(large), f(__VA_ARGS__))
#endif

static char io_folder[512];

/* A file of this test; the text lives until eight others were asked for. */
static UNUSED char *io_path(const char *name)
{
    static char text[8][640];
    static int next;
    char *path = text[next++ % 8];
    snprintf(path, sizeof text[0], "%s/%s", io_folder, name);
    return path;
}

static UNUSED void io_start(int *argc, char ***argv)
{
    check_start(argc, argv);
    if (check_rank == 0) {
        const char *under = getenv("TMPDIR");
        char here[256] = "/tmp";
        if (!under && !getcwd(here, sizeof here)) check_fail(__FILE__, __LINE__, "where is this?");
        snprintf(io_folder, sizeof io_folder, "%s/mpi-io-%d", under ? under : here, (int)getpid());
        CHECK_SAY(mkdir(io_folder, 0700) == 0, "mkdir %s: %s", io_folder, strerror(errno));
    }
    MPI_Bcast(io_folder, sizeof io_folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Files that the test has not deleted, hidden ones too, are a fault. */
static UNUSED int io_end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        DIR *folder = opendir(io_folder);
        struct dirent *entry;
        CHECK(folder);
        while ((entry = readdir(folder)))
            CHECK_SAY(!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."), "%s is left", entry->d_name);
        closedir(folder);
        CHECK_EQ(rmdir(io_folder), 0);
    }
    return check_end();
}

/* The file's bytes, as the system sees them; to be freed. */
static UNUSED unsigned char *io_contents(const char *path, long *n)
{
    FILE *f = fopen(path, "rb");
    CHECK_SAY(f, "%s: %s", path, strerror(errno));
    fseek(f, 0, SEEK_END);
    *n = ftell(f);
    rewind(f);
    unsigned char *bytes = malloc((size_t)*n + 1);
    CHECK_EQ(fread(bytes, 1, (size_t)*n, f), *n);
    fclose(f);
    return bytes;
}

/* Rank 0 of the world makes a file of n bytes by means of the system; all return when it is there. */
static UNUSED void io_make(const char *path, const void *bytes, size_t n)
{
    if (check_rank == 0) {
        FILE *f = fopen(path, "wb");
        CHECK_SAY(f, "%s: %s", path, strerror(errno));
        CHECK_EQ(fwrite(bytes, 1, n, f), n);
        CHECK_EQ(fclose(f), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 of the world deletes the file when all are here. */
static UNUSED void io_delete(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) IO_OK(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What one rank wrote before, every other reads after (MPI 5.0, 14.6.10). */
static UNUSED void io_settle(MPI_File file)
{
    IO_OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    IO_OK(MPI_File_sync(file));
}

static UNUSED MPI_File io_open(const char *path, int mode)
{
    MPI_File file = MPI_FILE_NULL;
    IO_OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
    CHECK(file != MPI_FILE_NULL);
    return file;
}

static UNUSED void io_view(MPI_File file, MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype)
{
    IO_OK(MPI_File_set_view(file, at, etype, filetype, "native", MPI_INFO_NULL));
}

/* All data accesses of MPI 5.0, table 14.1; each both reads and writes, with counts of either size. */
typedef enum { IO_EXPLICIT, IO_OWN, IO_COMMON } io_pointer;
typedef enum { IO_BLOCKING, IO_NONBLOCKING, IO_COLLECTIVE, IO_ICOLLECTIVE, IO_SPLIT } io_manner;

typedef struct {
    const char *name;
    io_pointer pointer;
    io_manner manner;
} io_access;

enum { IO_ACCESSES = 14 };

static UNUSED const io_access io_accesses[IO_ACCESSES] = {
    {"at", IO_EXPLICIT, IO_BLOCKING},
    {"i at", IO_EXPLICIT, IO_NONBLOCKING},
    {"at_all", IO_EXPLICIT, IO_COLLECTIVE},
    {"i at_all", IO_EXPLICIT, IO_ICOLLECTIVE},
    {"at_all_begin", IO_EXPLICIT, IO_SPLIT},
    {"individual", IO_OWN, IO_BLOCKING},
    {"i individual", IO_OWN, IO_NONBLOCKING},
    {"all", IO_OWN, IO_COLLECTIVE},
    {"i all", IO_OWN, IO_ICOLLECTIVE},
    {"all_begin", IO_OWN, IO_SPLIT},
    {"shared", IO_COMMON, IO_BLOCKING},
    {"i shared", IO_COMMON, IO_NONBLOCKING},
    {"ordered", IO_COMMON, IO_COLLECTIVE},
    {"ordered_begin", IO_COMMON, IO_SPLIT},
};

static UNUSED int io_collective(const io_access *a) { return a->manner >= IO_COLLECTIVE; }
static UNUSED int io_waits(const io_access *a) { return a->manner == IO_NONBLOCKING || a->manner == IO_ICOLLECTIVE; }

/* A data access that has begun. A blocking one is then complete. */
typedef struct {
    MPI_File file;
    const io_access *access;
    int writes;
    void *buf;
    MPI_Request request;
    MPI_Status status;
} io_op;

#define IO_TRANSFER(name, ...) \
    (writes ? IO_EITHER(large, MPI_File_write##name, __VA_ARGS__) : \
              IO_EITHER(large, MPI_File_read##name, __VA_ARGS__))
#define IO_ITRANSFER(name, ...) \
    (writes ? IO_EITHER(large, MPI_File_iwrite##name, __VA_ARGS__) : \
              IO_EITHER(large, MPI_File_iread##name, __VA_ARGS__))
#define IO_END(name) \
    (op->writes ? MPI_File_write##name(op->file, op->buf, &op->status) : \
                  MPI_File_read##name(op->file, op->buf, &op->status))

/* Begin an access; at counts where its pointer is explicit, and large asks for the function that ends with _c. */
static UNUSED int io_begin(io_op *op, MPI_File f, const io_access *a, int writes, int large, MPI_Offset at, void *buf,
                           int count, MPI_Datatype type)
{
    *op = (io_op){.file = f, .access = a, .writes = writes, .buf = buf, .request = MPI_REQUEST_NULL};
    MPI_Status *s = &op->status;
    MPI_Request *r = &op->request;
    switch (a - io_accesses) {
    case 0: return IO_TRANSFER(_at, f, at, buf, count, type, s);
    case 1: return IO_ITRANSFER(_at, f, at, buf, count, type, r);
    case 2: return IO_TRANSFER(_at_all, f, at, buf, count, type, s);
    case 3: return IO_ITRANSFER(_at_all, f, at, buf, count, type, r);
    case 4: return IO_TRANSFER(_at_all_begin, f, at, buf, count, type);
    case 5: return IO_TRANSFER(, f, buf, count, type, s);
    case 6: return IO_ITRANSFER(, f, buf, count, type, r);
    case 7: return IO_TRANSFER(_all, f, buf, count, type, s);
    case 8: return IO_ITRANSFER(_all, f, buf, count, type, r);
    case 9: return IO_TRANSFER(_all_begin, f, buf, count, type);
    case 10: return IO_TRANSFER(_shared, f, buf, count, type, s);
    case 11: return IO_ITRANSFER(_shared, f, buf, count, type, r);
    case 12: return IO_TRANSFER(_ordered, f, buf, count, type, s);
    default: return IO_TRANSFER(_ordered_begin, f, buf, count, type);
    }
}

static UNUSED int io_finish(io_op *op)
{
    if (io_waits(op->access)) return MPI_Wait(&op->request, &op->status);
    if (op->access->manner != IO_SPLIT) return MPI_SUCCESS;
    switch (op->access->pointer) {
    case IO_EXPLICIT: return IO_END(_at_all_end);
    case IO_OWN: return IO_END(_all_end);
    default: return IO_END(_ordered_end);
    }
}

/* An access from beginning to end, which transfers as many elements of the type as are said here (-1: nobody knows). */
static UNUSED void io_do(MPI_File f, const io_access *a, int writes, int large, MPI_Offset at, void *buf, int count,
                         MPI_Datatype type, int transfers)
{
    io_op op;
    int got = -1, code = io_begin(&op, f, a, writes, large, at, buf, count, type);
    const char *verb = writes ? "write" : "read", *c = large ? "_c" : "";
    CHECK_SAY(code == MPI_SUCCESS, "%s %s%s begins with %s", verb, a->name, c, check_class_name(code));
    code = io_finish(&op);
    CHECK_SAY(code == MPI_SUCCESS, "%s %s%s ends with %s", verb, a->name, c, check_class_name(code));
    MPI_Get_count(&op.status, type, &got);
    CHECK_SAY(transfers < 0 || got == transfers, "%s %s%s transfers %d of %d", verb, a->name, c, got, transfers);
}

/* A datatype, and where each byte of it lies, in the order of its type map. */
typedef struct {
    MPI_Datatype type;
    int bytes;
    MPI_Aint *at, lb, extent;
} io_type;

/* The type that was made of blocks of another: blocks[i] of them in a row, at these displacements in bytes. */
static UNUSED io_type io_made(MPI_Datatype type, const io_type *of, int blocks, const int *length, const MPI_Aint *at)
{
    io_type t = {.type = type};
    int n = 0;
    for (int b = 0; b < blocks; b++) n += length[b] * of->bytes;
    t.at = malloc(((size_t)n + 1) * sizeof *t.at);
    for (int b = 0; b < blocks; b++)
        for (int k = 0; k < length[b]; k++)
            for (int i = 0; i < of->bytes; i++) t.at[t.bytes++] = at[b] + k * of->extent + of->at[i];
    MPI_Type_commit(&t.type);
    MPI_Type_get_extent(t.type, &t.lb, &t.extent);
    return t;
}

/* A named type. */
static UNUSED io_type io_named(MPI_Datatype type)
{
    io_type t = {.type = type};
    MPI_Type_size(type, &t.bytes);
    MPI_Type_get_extent(type, &t.lb, &t.extent);
    t.at = malloc((size_t)t.bytes * sizeof *t.at);
    for (int i = 0; i < t.bytes; i++) t.at[i] = i;
    return t;
}

static UNUSED void io_release(io_type *t)
{
    int n = 0, m, k, combiner;
    MPI_Type_get_envelope(t->type, &n, &m, &k, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&t->type);
    free(t->at);
    t->at = NULL;
}

static UNUSED io_type io_contiguous(const io_type *of, int n)
{
    MPI_Datatype made;
    MPI_Aint at = 0;
    MPI_Type_contiguous(n, of->type, &made);
    return io_made(made, of, 1, &n, &at);
}

static UNUSED io_type io_resized(const io_type *of, MPI_Aint lb, MPI_Aint extent)
{
    MPI_Datatype made;
    MPI_Aint at = 0;
    int one = 1;
    MPI_Type_create_resized(of->type, lb, extent, &made);
    return io_made(made, of, 1, &one, &at);
}

/* A type like those before, of units that are the etype or what it is made of, with bytes in ascending order and none
 * twice, that extends over all of them: it may be a filetype. */
static UNUSED io_type io_random_type(check_stream *s, const io_type *unit, int depth)
{
    io_type t = io_contiguous(unit, 1 + check_below(s, 3));
    for (; depth > 0 && t.extent < 600 && t.bytes < 300; depth--) {
        enum { MOST = 4 };
        int n = 1 + check_below(s, MOST), block = 1 + check_below(s, 3), stride = block + check_below(s, 3);
        int length[16], index[16];
        MPI_Aint at[16], end = 0, unit_bytes = unit->extent;
        MPI_Datatype made, all[MOST];
        io_type old = t;
        for (int i = 0; i < MOST; i++) all[i] = old.type;
        switch (check_below(s, old.lb ? 5 : 7)) {
        case 0:
            t = io_contiguous(&old, n);
            break;
        case 1:
            MPI_Type_vector(n, block, stride, old.type, &made);
            for (int i = 0; i < n; i++) length[i] = block, at[i] = i * stride * old.extent;
            t = io_made(made, &old, n, length, at);
            break;
        case 2:
            for (int i = 0; i < n; i++) {
                length[i] = i ? check_below(s, 3) : 1;
                index[i] = (int)end + check_below(s, 3);
                end = index[i] + length[i];
                at[i] = index[i] * old.extent;
            }
            MPI_Type_indexed(n, length, index, old.type, &made);
            t = io_made(made, &old, n, length, at);
            break;
        case 3:
            for (int i = 0; i < n; i++) {
                length[i] = 1 + check_below(s, 2);
                at[i] = end + check_below(s, 3) * unit_bytes;
                end = at[i] + length[i] * old.extent;
            }
            MPI_Type_create_struct(n, length, at, all, &made);
            t = io_made(made, &old, n, length, at);
            break;
        case 4: /* holes behind, and in front of it */
            end = old.lb + old.extent;
            t = io_resized(&old, check_below(s, 2) ? 0 : old.lb, end + check_below(s, 4) * unit_bytes);
            break;
        case 5: {
            int whole[2] = {1 + check_below(s, 4), 1 + check_below(s, 4)}, part[2], start[2], c = check_below(s, 2);
            for (int d = 0; d < 2; d++) part[d] = 1 + check_below(s, whole[d]);
            for (int d = 0; d < 2; d++) start[d] = check_below(s, whole[d] - part[d] + 1);
            MPI_Type_create_subarray(2, whole, part, start, c ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old.type, &made);
            for (int i = 0; i < part[!c]; i++) {
                length[i] = part[c];
                at[i] = ((start[!c] + i) * whole[c] + start[c]) * old.extent;
            }
            t = io_made(made, &old, part[!c], length, at);
            break;
        }
        default: { /* a rank's part of a vector that is dealt out in blocks */
            int procs = 1 + check_below(s, 3), rank = check_below(s, procs), total = (rank + 1) * block;
            int cyclic = MPI_DISTRIBUTE_CYCLIC, blocks = 0;
            total += check_below(s, procs * block + 1);
            MPI_Type_create_darray(procs, rank, 1, &total, &cyclic, &block, &procs, MPI_ORDER_C, old.type, &made);
            for (int i = rank * block; i < total; i += procs * block, blocks++) {
                length[blocks] = total - i < block ? total - i : block;
                at[blocks] = i * old.extent;
            }
            t = io_made(made, &old, blocks, length, at);
        }
        }
        io_release(&old);
    }
    return t;
}

/* Where byte i of a sequence of such types lies. */
static UNUSED long io_byte(const io_type *t, long i)
{
    return i / t->bytes * (long)t->extent + (long)t->at[i % t->bytes];
}

#endif
