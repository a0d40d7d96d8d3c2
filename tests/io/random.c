/* Random views, memory and accesses, against an oracle: every rank knows what every byte of the file has to be. */
/* needs: MPI_File_set_view MPI_File_iwrite_at_all MPI_File_write_all_begin MPI_File_read_ordered MPI_File_sync */
#include "io.h"
#include <time.h>

/* All ranks draw the same numbers, and so know what each of them is about to do. An access that would conflict with
 * one of another rank since the last sync-barrier-sync, or pass the end of what is known, is made shorter until it does
 * not; the result is defined then without atomic mode (MPI 5.0, 14.6.1), and each byte that is read, and at last the
 * whole file, must be what it is in the oracle. */
enum { FILE_BYTES = 40000, MEMORY = 20000, RANKS = 16, STEPS = 24, PENDING = 3 };
static const double LIMIT = 0.5; /* seconds, after which no new file is begun */

typedef struct {
    io_type filetype;
    MPI_Offset at;
} view;

/* What a rank does in a step: this many bytes, from this etype of its view on, between these places in memory. */
typedef struct {
    int writes, bytes, count;
    long etype;
    io_type memory;
} plan;

static check_stream draw;
static unsigned char oracle[FILE_BYTES], known[FILE_BYTES]; /* known: written by somebody, or there from the start */
static uint32_t readers[FILE_BYTES], writers[FILE_BYTES];   /* ranks, since the last time that all agreed */
static unsigned char memory[PENDING][MEMORY], expected[PENDING][MEMORY];
static MPI_File file;
static view views[RANKS];
static io_type basic, etype;
static long pointer[RANKS], shared_pointer; /* in etypes */
static int seed, step, grows;

static MPI_Offset place(int rank, const plan *p, int i)
{
    return views[rank].at + io_byte(&views[rank].filetype, p->etype * etype.bytes + i);
}

/* Memory: any type, also one whose parts lie in descending order. */
static io_type random_memory(void)
{
    io_type t = io_random_type(&draw, &basic, check_below(&draw, 3));
    if (check_below(&draw, 2)) return t;
    int n = 1 + check_below(&draw, 3), length[3];
    MPI_Aint at[3], apart = t.extent + check_below(&draw, 2) * basic.extent;
    MPI_Datatype made;
    for (int i = 0; i < n; i++) length[i] = 1, at[i] = (n - 1 - i) * apart;
    MPI_Type_create_hindexed(n, length, at, t.type, &made);
    io_type reversed = io_made(made, &t, n, length, at);
    io_release(&t);
    t = io_resized(&reversed, 0, reversed.lb + reversed.extent + check_below(&draw, 3) * basic.extent);
    io_release(&reversed);
    return t;
}

/* As many of the bytes as may be moved: no conflict, nothing unknown is read, and whole elements and etypes. */
static void shorten(int rank, plan *p)
{
    int n = 0, both = etype.bytes;
    while (both % p->memory.bytes) both += etype.bytes;
    for (; n < p->bytes; n++) {
        MPI_Offset at = place(rank, p, n);
        uint32_t others = ~(1u << rank);
        if (at >= FILE_BYTES || (!p->writes && !known[at])) break;
        if (writers[at] & others || (p->writes && readers[at] & others)) break;
        if (p->memory.lb + p->memory.extent * (n / p->memory.bytes + 1) > MEMORY) break;
    }
    p->bytes = n / both * both;
    p->count = p->bytes / p->memory.bytes;
    for (int i = 0; i < p->bytes; i++) {
        MPI_Offset at = place(rank, p, i);
        if (p->writes) writers[at] |= 1u << rank;
        else readers[at] |= 1u << rank;
    }
}

static void settle(void)
{
    io_settle(file);
    memset(readers, 0, sizeof readers);
    memset(writers, 0, sizeof writers);
}

static unsigned char new_byte(int rank, int i)
{
    return (unsigned char)(seed * 31 + step * 7 + rank * 17 + i * 3 + i / 251);
}

/* What the access does to the oracle's file and to this rank's memory. */
static void carry_out(int rank, const plan *p, unsigned char *mem, unsigned char *want)
{
    if (rank == check_rank) memset(mem, 0xa5, MEMORY), memset(want, 0xa5, MEMORY);
    for (int i = 0; i < p->bytes; i++) {
        MPI_Offset at = place(rank, p, i);
        long m = io_byte(&p->memory, i);
        if (p->writes) {
            oracle[at] = new_byte(rank, i), known[at] = 1;
            if (rank == check_rank) mem[m] = want[m] = oracle[at];
        } else if (rank == check_rank) {
            want[m] = oracle[at];
        }
    }
}

static void compare(const plan *p, const io_op *op, const unsigned char *mem, const unsigned char *want)
{
    int got = -1;
    MPI_Get_count(&op->status, p->memory.type, &got);
    const char *verb = p->writes ? "write" : "read";
    CHECK_SAY(got == p->count, "seed %d, step %d: %s %s of %d elements moves %d", seed, step, verb, op->access->name,
              p->count, got);
    for (long i = 0; i < MEMORY; i++) {
        CHECK_SAY(mem[i] == want[i],
                  "seed %d, step %d: %s %s of %d bytes from etype %ld: byte %ld of memory is %d, not %d", seed,
                  step, verb, op->access->name, p->bytes, p->etype, i, mem[i], want[i]);
    }
}

/* New views: each rank its own, or all the same; rank by rank side by side, or wherever they fall. */
static int new_views(void)
{
    int same = check_below(&draw, 3) == 0, aside = check_below(&draw, 2);
    io_type one = io_random_type(&draw, &etype, check_below(&draw, 4)), tiled = one;
    MPI_Aint tile = one.lb + one.extent;
    if (same || aside) tiled = io_resized(&one, 0, same ? tile : tile * check_size);
    for (int r = 0; r < check_size; r++) {
        io_release(&views[r].filetype);
        if (same || aside) {
            views[r].filetype = io_resized(&tiled, 0, tiled.extent);
            views[r].at = aside && !same ? r * tile : 0;
        } else {
            views[r].filetype = io_random_type(&draw, &etype, check_below(&draw, 4));
            views[r].at = check_below(&draw, 3) ? check_below(&draw, FILE_BYTES / 2) : 0;
        }
        pointer[r] = 0;
    }
    if (same || aside) io_release(&tiled);
    io_release(&one);
    shared_pointer = 0;
    io_view(file, views[check_rank].at, etype.type, views[check_rank].filetype.type);
    return same;
}

/* How many etypes of the rank's view may be touched at all. */
static long etypes_of(int rank)
{
    const io_type *t = &views[rank].filetype;
    long tiles = (FILE_BYTES - (long)views[rank].at) / t->extent;
    return tiles > 0 ? tiles * t->bytes / etype.bytes : 0;
}

/* One step: all ranks move something. Those that wait are left open until the last of up to PENDING has begun. */
static void one_step(int same)
{
    io_op ops[PENDING];
    plan mine[PENDING];
    int pending = 1 + check_below(&draw, PENDING);
    if (!check_library("libimpi")) pending = 1; /* others move the pointer when an access ends, not when it begins */
    for (int k = 0; k < pending; k++) {
        const io_access *a = &io_accesses[check_below(&draw, same ? 14 : 10)];
        int alone = a->pointer == IO_COMMON && !io_collective(a) ? check_below(&draw, check_size) : -1;
        int all_write = check_below(&draw, 2), large = check_below(&draw, 2);
        plan all[RANKS];
        if (k && !io_waits(a)) {
            pending = k;
            break;
        }
        for (int r = 0; r < check_size; r++) {
            plan *p = &all[r];
            long room = etypes_of(r);
            p->memory = random_memory();
            p->writes = io_collective(a) ? all_write : check_below(&draw, 2);
            p->etype = room ? check_below(&draw, (int)room) : 0;
            p->bytes = check_below(&draw, 4) ? check_below(&draw, 2000) : check_below(&draw, 30);
            if (alone >= 0 && alone != r) p->bytes = 0;
            if (a->pointer == IO_OWN) {
                if (check_below(&draw, 2)) {
                    pointer[r] = p->etype;
                    if (r == check_rank) IO_OK(MPI_File_seek(file, p->etype, MPI_SEEK_SET));
                }
                p->etype = pointer[r];
            } else if (a->pointer == IO_COMMON) {
                p->etype = shared_pointer;
            }
            shorten(r, p);
            if (a->pointer == IO_OWN) pointer[r] += p->bytes / etype.bytes;
            if (a->pointer == IO_COMMON) shared_pointer += p->bytes / etype.bytes;
        }
        for (int r = 0; r < check_size; r++) carry_out(r, &all[r], memory[k], expected[k]);
        mine[k] = all[check_rank];
        for (int r = 0; r < check_size; r++)
            if (r != check_rank) io_release(&all[r].memory);
        plan *p = &mine[k];
        if (alone >= 0 && alone != check_rank) {
            ops[k] = (io_op){.access = &io_accesses[0]};
            IO_OK(MPI_File_read_at(file, 0, NULL, 0, MPI_BYTE, &ops[k].status));
        } else {
            IO_OK(io_begin(&ops[k], file, a, p->writes, large, p->etype, memory[k], p->count, p->memory.type));
        }
        if (a->pointer == IO_COMMON) MPI_Barrier(MPI_COMM_WORLD); /* the next begins where this one has ended */
        if (!io_waits(a)) {
            pending = k + 1;
            break;
        }
        if (k + 1 < pending) { /* those that are open at once must not conflict even within a rank */
            for (long i = 0; i < FILE_BYTES; i++) {
                if (writers[i]) writers[i] |= 1u << 31;
                if (readers[i]) readers[i] |= 1u << 31;
            }
        }
    }
    for (int k = 0; k < pending; k++) {
        IO_OK(io_finish(&ops[k]));
        compare(&mine[k], &ops[k], memory[k], expected[k]);
        io_release(&mine[k].memory);
    }
    for (long i = 0; i < FILE_BYTES; i++) writers[i] &= ~(1u << 31), readers[i] &= ~(1u << 31);
}

/* A file from its opening to its end. */
static void one_file(void)
{
    static const MPI_Datatype basics[] = {MPI_BYTE, MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    char *path = io_path("random");
    long n;
    int same;
    draw = check_seed((uint64_t)seed);
    grows = check_below(&draw, 4) == 0;
    basic = io_named(basics[check_below(&draw, 5)]);
    switch (check_library("Open MPI") ? 0 : check_below(&draw, 4)) {
    case 0: etype = io_named(basic.type); break;
    case 1: etype = io_contiguous(&basic, 1 + check_below(&draw, 3)); break;
    case 2: etype = io_resized(&basic, 0, basic.extent * (1 + check_below(&draw, 2))); break;
    default: etype = io_random_type(&draw, &basic, 1);
    }
    if (etype.lb) { /* an etype begins where it is put */
        io_type old = etype;
        etype = io_resized(&old, 0, old.lb + old.extent);
        io_release(&old);
    }
    for (int i = 0; i < FILE_BYTES; i++) oracle[i] = (unsigned char)(i * 5 + seed + i / 256);
    memset(known, !grows, sizeof known);
    io_make(path, oracle, grows ? 0 : FILE_BYTES);
    memset(readers, 0, sizeof readers);
    memset(writers, 0, sizeof writers);
    for (int r = 0; r < check_size; r++) views[r].filetype = io_contiguous(&basic, 1);
    file = io_open(path, MPI_MODE_RDWR);
    same = new_views();
    for (step = 0; step < STEPS; step++) {
        if (check_below(&draw, 3) == 0) settle();
        if (check_below(&draw, 8) == 0) same = new_views();
        one_step(same);
    }
    settle();
    unsigned char *bytes = io_contents(path, &n);
    long end = FILE_BYTES;
    while (end > 0 && !known[end - 1]) end--;
    CHECK_EQ(n, end);
    for (int i = 0; i < n; i++)
        CHECK_SAY(!known[i] || bytes[i] == oracle[i], "seed %d: byte %d of the file is %d, not %d, after %d steps",
                  seed, i, bytes[i], oracle[i], STEPS);
    free(bytes);
    IO_OK(MPI_File_close(&file));
    for (int r = 0; r < check_size; r++) io_release(&views[r].filetype);
    io_release(&etype);
    io_release(&basic);
    io_delete(path);
}

int main(int argc, char **argv)
{
    io_start(&argc, &argv);
    int go_on = 1, from = argc > 1 ? atoi(argv[1]) : 0, most = argc > 2 ? atoi(argv[2]) : 1000;
    double began = MPI_Wtime();
    CHECK(check_size <= RANKS);
    if (check_library("MPICH Version:\t4")) most = 0; /* it reads and writes elsewhere, in types with holes */
    for (seed = from; seed < from + most && go_on; seed++) {
        one_file();
        go_on = argc > 1 || MPI_Wtime() - began < LIMIT;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return io_end();
}
