/* files.c - a file of all members of the first communicator: accesses of each kind, by one process or by all, with
 * numbers that tell who has written them.
 *
 * No access shares its place with another one. A view has blocks of all members, side by side or, if it is apart, dealt
 * out in short pieces, so that members move each other's data. What a process does alone needs nobody: it succeeds
 * whoever is lost, and what it has written is there until the end. Errors are those of messages: a loss takes away no
 * file, nor memory, nor the right to use them, so that nothing of that kind may be raised after one.
 */
#include "survive.h"
#include <stdio.h>
#include <unistd.h>

static MPI_File file = MPI_FILE_NULL;
static char name[4200];
static int deleted;      /* when it is closed */
static MPI_Offset begin; /* of the view, in bytes */
static int used;         /* numbers of each member that the view has already */
static int piece;        /* numbers, in a view that is apart; else 0 */
static struct {
    MPI_Offset at;
    int n, tag;
} kept; /* the last own data in this view */

/* Where in the view of this process the next block is of the member who is so many ranks further. */
static MPI_Offset place(const Where *w, int further, int n)
{
    if (piece) return used;
    return (MPI_Offset)used * w->size + (MPI_Offset)(w->rank + further) % w->size * n;
}

/* Of the member who is so many ranks further, which matters if the view is apart. */
static int set_view(const Where *w, int further)
{
    int extent = (int)sizeof(int), code;
    MPI_Datatype pieces, type = MPI_INT;
    MPI_Offset at = begin;
    kept.n = 0;
    if (piece) {
        MPI_Type_contiguous(piece, MPI_INT, &pieces);
        MPI_Type_create_resized(pieces, 0, (MPI_Aint)extent * piece * w->size, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&pieces);
        at += (MPI_Offset)extent * piece * ((w->rank + further) % w->size);
    }
    code = MPI_File_set_view(file, at, MPI_INT, type, "native", MPI_INFO_NULL);
    if (piece) MPI_Type_free(&type);
    return code;
}

/* Another view begins behind this one. */
static int use_view(const Where *w, int new_piece)
{
    if (!piece && !new_piece) return MPI_SUCCESS;
    begin += (MPI_Offset)sizeof(int) * (used + piece) * w->size;
    used = 0;
    piece = new_piece;
    return set_view(w, 0);
}

/* What all have written before it others read after it. */
static int synchronize(const Where *w)
{
    int code = MPI_File_sync(file);
    if (code == MPI_SUCCESS) code = MPI_Barrier(w->comm);
    return code == MPI_SUCCESS ? MPI_File_sync(file) : code;
}

/* verb_alone and verb_all move numbers at an offset of the call or at the own pointer, at once, with a request, or in
 * two calls. */
#define IN_TWO_CALLS(verb, ...) \
    code = MPI_File_##verb##_begin(__VA_ARGS__); \
    return code == MPI_SUCCESS ? MPI_File_##verb##_end(file, data, MPI_STATUS_IGNORE) : code

#define ACCESS(verb) \
    static int verb##_alone(const Where *w, int way, MPI_Offset at, int *data, int n) \
    { \
        MPI_Request q; \
        int code = way % 2 ? MPI_File_seek(file, at, MPI_SEEK_SET) : MPI_SUCCESS; \
        if (code != MPI_SUCCESS) return code; \
        switch (way) { \
        case 0: return MPI_File_##verb##_at(file, at, data, n, MPI_INT, MPI_STATUS_IGNORE); \
        case 1: return MPI_File_##verb(file, data, n, MPI_INT, MPI_STATUS_IGNORE); \
        case 2: return completed(w, MPI_File_i##verb##_at(file, at, data, n, MPI_INT, &q), &q); \
        default: return completed(w, MPI_File_i##verb(file, data, n, MPI_INT, &q), &q); \
        } \
    } \
    static int verb##_all(const Where *w, int way, MPI_Offset at, int *data, int n) \
    { \
        MPI_Request q; \
        int code = way % 2 ? MPI_File_seek(file, at, MPI_SEEK_SET) : MPI_SUCCESS; \
        if (code != MPI_SUCCESS) return code; \
        switch (way) { \
        case 0: return MPI_File_##verb##_at_all(file, at, data, n, MPI_INT, MPI_STATUS_IGNORE); \
        case 1: return MPI_File_##verb##_all(file, data, n, MPI_INT, MPI_STATUS_IGNORE); \
        case 2: return completed(w, MPI_File_i##verb##_at_all(file, at, data, n, MPI_INT, &q), &q); \
        case 3: return completed(w, MPI_File_i##verb##_all(file, data, n, MPI_INT, &q), &q); \
        case 4: IN_TWO_CALLS(verb##_at_all, file, at, data, n, MPI_INT); \
        default: IN_TWO_CALLS(verb##_all, file, data, n, MPI_INT); \
        } \
    } \
    static int verb##_shared(const Where *w, int way, int *data, int n) \
    { \
        MPI_Request q; \
        if (way == 0) return MPI_File_##verb##_shared(file, data, n, MPI_INT, MPI_STATUS_IGNORE); \
        return completed(w, MPI_File_i##verb##_shared(file, data, n, MPI_INT, &q), &q); \
    } \
    static int verb##_ordered(int way, int *data, int n) \
    { \
        int code; \
        if (way == 0) return MPI_File_##verb##_ordered(file, data, n, MPI_INT, MPI_STATUS_IGNORE); \
        IN_TWO_CALLS(verb##_ordered, file, data, n, MPI_INT); \
    }

ACCESS(write)
ACCESS(read)

static void keep(MPI_Offset at, int n)
{
    kept.at = at;
    kept.n = n;
    kept.tag = p.tag;
}

/* The code of what a process does alone. One that others may end can meet the end of its launcher. */
static void need_nobody(int code)
{
    check_code(code);
    if (code != MPI_SUCCESS && !(p.mortal >> p.id & 1)) wrong("an access of one process fails");
}

static int alone(const Where *w, Random *r)
{
    int n = length(r) / 4, way = below(r, 4), *out = numbers(n), *in = numbers(n);
    MPI_Offset at = place(w, 0, n);
    fill(out, n, w->rank);
    int code = write_alone(w, way, at, out, n);
    if (code == MPI_SUCCESS) code = read_alone(w, below(r, 4), at, in, n);
    need_nobody(code);
    if (code != MPI_SUCCESS) return code;
    check(in, n, w->rank, "own data of a file");
    keep(at, n);
    used += n;
    return MPI_SUCCESS;
}

/* All write, and each reads what one that is some ranks further has written. */
static int together(const Where *w, Random *r)
{
    int n = length(r) / 4, apart = below(r, 2) ? 1 + below(r, 40) : 0, way = below(r, 6), further = below(r, w->size);
    int *out = numbers(n), *in = numbers(n);
    int code = use_view(w, apart);
    if (code != MPI_SUCCESS) return code;
    fill(out, n, w->rank);
    code = write_all(w, way, place(w, 0, n), out, n);
    if (code != MPI_SUCCESS) return code;
    keep(place(w, 0, n), n);
    code = synchronize(w);
    if (code == MPI_SUCCESS && apart && further) code = set_view(w, further);
    if (code == MPI_SUCCESS) code = read_all(w, below(r, 6), place(w, further, n), in, n);
    if (code == MPI_SUCCESS) check(in, n, (w->rank + further) % w->size, "a file's");
    if (code == MPI_SUCCESS && apart && further) code = set_view(w, 0);
    used += n;
    return code;
}

/* The shared pointer goes to where nobody has written yet. */
static int seek_shared(const Where *w, int n)
{
    int code = use_view(w, 0);
    MPI_Offset at = (MPI_Offset)used * w->size, now = 0;
    if (code == MPI_SUCCESS) code = MPI_File_seek_shared(file, at, MPI_SEEK_SET);
    if (code == MPI_SUCCESS) code = MPI_Barrier(w->comm);
    if (code == MPI_SUCCESS) code = MPI_File_get_position_shared(file, &now);
    if (code == MPI_SUCCESS && (now < at || now > at + (MPI_Offset)n * w->size))
        wrong("the shared pointer is %d and not %d", (int)now, (int)at);
    return code;
}

static int in_order(const Where *w, Random *r)
{
    int n = length(r) / 4, way = below(r, 2), *out = numbers(n), *in = numbers(n);
    int code = seek_shared(w, n);
    if (code != MPI_SUCCESS) return code;
    fill(out, n, w->rank);
    code = write_ordered(way, out, n);
    if (code == MPI_SUCCESS) keep(place(w, 0, n), n);
    if (code == MPI_SUCCESS) code = synchronize(w);
    if (code == MPI_SUCCESS) code = read_alone(w, below(r, 4), place(w, 1, n), in, n);
    if (code == MPI_SUCCESS) check(in, n, (w->rank + 1) % w->size, "in order");
    if (code == MPI_SUCCESS) code = seek_shared(w, n);
    if (code == MPI_SUCCESS) code = read_ordered(below(r, 2), in, n);
    if (code == MPI_SUCCESS) check(in, n, w->rank, "read in order");
    used += n;
    return code;
}

/* Whose numbers these are. */
static int writer_of(const Where *w, const int *data, int n)
{
    int from = 0;
    while (from < w->size && data[0] != from * 7919 + p.tag * 31) from++;
    check(data, n, from, "by the shared pointer");
    return from;
}

static int by_shared_pointer(const Where *w, Random *r)
{
    int n = 1 + length(r) / 4, way = below(r, 2), seen = 0, *out = numbers(n), *in = numbers(n * w->size);
    int code = seek_shared(w, n);
    if (code != MPI_SUCCESS) return code;
    fill(out, n, w->rank);
    code = write_shared(w, way, out, n);
    if (code == MPI_SUCCESS) code = synchronize(w);
    if (code == MPI_SUCCESS) code = read_alone(w, below(r, 4), (MPI_Offset)used * w->size, in, n * w->size);
    for (int i = 0; i < w->size && code == MPI_SUCCESS; i++) seen |= 1 << writer_of(w, in + n * i, n);
    if (code == MPI_SUCCESS && seen != (1 << w->size) - 1) wrong("only %x of %d have written", seen, w->size);
    if (code == MPI_SUCCESS) code = seek_shared(w, n);
    if (code == MPI_SUCCESS) code = read_shared(w, below(r, 2), in, n);
    if (code == MPI_SUCCESS) writer_of(w, in, n);
    used += n;
    return code;
}

/* It gets longer, not shorter: there may be data of others. */
static int resize(const Where *w, Random *r)
{
    int n = length(r) / 4, way = below(r, 2), code;
    MPI_Offset bytes = begin + (MPI_Offset)sizeof(int) * (used + piece + n) * w->size, now = 0;
    code = way ? MPI_File_set_size(file, bytes) : MPI_File_preallocate(file, bytes);
    if (code == MPI_SUCCESS) need_nobody(MPI_File_get_size(file, &now));
    if (code == MPI_SUCCESS && now < bytes) wrong("the file has %d bytes and not %d", (int)now, (int)bytes);
    return code;
}

static int atomic(const Where *w, Random *r)
{
    int flag = below(r, 2), is = !flag;
    (void)w;
    int code = MPI_File_set_atomicity(file, flag);
    if (code == MPI_SUCCESS) code = MPI_File_get_atomicity(file, &is);
    if (code == MPI_SUCCESS && is != flag) wrong("atomicity is %d and not %d", is, flag);
    return code;
}

const Named files[] = {{"alone", alone}, {"alone", alone}, {"together", together}, {"together", together},
    {"together", together}, {"in order", in_order}, {"by shared pointer", by_shared_pointer}, {"resize", resize},
    {"atomic", atomic}, {0}};

int have_file(void)
{
    Where *all = &p.where[0];
    Random r = seeded(p.seed, (uint64_t)p.tag, 5);
    if (file != MPI_FILE_NULL) return 1;
    deleted = below(&r, 2);
    snprintf(name, sizeof name, "%s/file-%d", p.scratch, p.tag);
    note("open %s", name);
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | (deleted ? MPI_MODE_DELETE_ON_CLOSE : 0);
    int code = MPI_File_open(all->comm, name, mode, MPI_INFO_NULL, &file);
    begin = used = piece = 0;
    if (code == MPI_SUCCESS) code = set_view(all, 0);
    if (code != MPI_SUCCESS) {
        check_code(code);
        give_up();
    }
    if (agree(all, code == MPI_SUCCESS)) return 1;
    if (code == MPI_SUCCESS) give_up();
    return 0;
}

/* Some revoke it; to others who wait in it the loss alone has to tell. */
void give_up_file(void)
{
    Random r = seeded(p.seed, (uint64_t)p.round, 2000 + (uint64_t)p.id);
    int flag = 0;
    if (file == MPI_FILE_NULL || below(&r, 2)) return;
    MPIX_File_revoke(file);
    MPIX_File_is_revoked(file, &flag);
    if (!flag) wrong("the file is not revoked");
}

static void check_kept(const Where *w)
{
    int tag = p.tag, *in = numbers(kept.n);
    int code = read_alone(w, 0, kept.at, in, kept.n);
    need_nobody(code);
    p.tag = kept.tag;
    if (code == MPI_SUCCESS) check(in, kept.n, w->rank, "own data at the end");
    p.tag = tag;
    release();
}

/* All who are left close it, also after an error. */
void leave_file(int good)
{
    const Where *w = &p.where[0];
    MPI_Group lost;
    int n;
    if (file == MPI_FILE_NULL) return;
    note("close the file");
    check_kept(w);
    MPIX_File_get_failed(file, &lost);
    MPI_Group_size(lost, &n);
    MPI_Group_free(&lost);
    int class = check_code(MPI_File_close(&file));
    if (file != MPI_FILE_NULL) wrong("a file that is closed has a handle");
    if (class == MPI_SUCCESS && n > 0) wrong("a file is closed without an error, and %d have failed", n);
    if (!good || class != MPI_SUCCESS) unlink(name);
    else if (deleted && access(name, F_OK) == 0) wrong("a file that is closed is not deleted");
    else if (!deleted && w->rank == 0) need_nobody(MPI_File_delete(name, MPI_INFO_NULL));
}
