/* typebench.c - what small datatypes cost: to make, to ask of, to pack for other machines, and to send.
 *
 * Plain MPI-2 C, like mpibench.c. Rank 0 prints one "name value unit" line per measurement, the best of REPS batches.
 * Two ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPS = 7, TURNS = 5000, QUERIES = 50000 };
static int rank;

static void report(const char *group, const char *name, const char *of, double seconds)
{
    char label[64];
    snprintf(label, sizeof label, "%s/%s%s%s", group, name, of ? "-" : "", of ? of : "");
    if (rank == 0) { printf("%-28s %14.4f us\n", label, seconds * 1e6); fflush(stdout); }
}

static int lens[8] = {1, 2, 1, 3, 1, 2, 1, 1}, at[8] = {0, 2, 7, 9, 14, 16, 20, 23};
static MPI_Aint bytes[8] = {0, 16, 56, 72, 112, 128, 160, 184};
static MPI_Datatype columns; /* a type that others are made of */

static MPI_Datatype contiguous(void) { MPI_Datatype t; MPI_Type_contiguous(8, MPI_DOUBLE, &t); return t; }
static MPI_Datatype vector(void) { MPI_Datatype t; MPI_Type_vector(8, 1, 4, MPI_DOUBLE, &t); return t; }
static MPI_Datatype hvector(void) { MPI_Datatype t; MPI_Type_create_hvector(8, 1, 32, MPI_DOUBLE, &t); return t; }
static MPI_Datatype indexed(void) { MPI_Datatype t; MPI_Type_indexed(8, lens, at, MPI_DOUBLE, &t); return t; }
static MPI_Datatype hindexed(void)
{
    MPI_Datatype t;
    MPI_Type_create_hindexed(8, lens, bytes, MPI_DOUBLE, &t);
    return t;
}
static MPI_Datatype indexed_block(void)
{
    MPI_Datatype t;
    MPI_Type_create_indexed_block(8, 1, at, MPI_DOUBLE, &t);
    return t;
}
static MPI_Datatype resized(void) { MPI_Datatype t; MPI_Type_create_resized(columns, 0, 8, &t); return t; }
static MPI_Datatype dup(void) { MPI_Datatype t; MPI_Type_dup(columns, &t); return t; }
static MPI_Datatype nested(void) { MPI_Datatype t; MPI_Type_contiguous(8, columns, &t); return t; }

static MPI_Datatype hindexed_block(void)
{
#if MPI_VERSION >= 3
    MPI_Datatype t;
    MPI_Type_create_hindexed_block(8, 1, bytes, MPI_DOUBLE, &t);
    return t;
#else
    return hindexed();
#endif
}

static MPI_Datatype structure(void)
{
    int ones[3] = {1, 1, 1};
    MPI_Aint fields[3] = {0, 8, 16};
    MPI_Datatype t, of[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Type_create_struct(3, ones, fields, of, &t);
    return t;
}

static MPI_Datatype subarray(void)
{
    int sizes[3] = {16, 16, 16}, part[3] = {4, 4, 4}, start[3] = {4, 4, 4};
    MPI_Datatype t;
    MPI_Type_create_subarray(3, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &t);
    return t;
}

static MPI_Datatype darray(int how, int arg)
{
    int sizes[2] = {64, 64}, hows[2], args[2], grid[2] = {2, 2};
    MPI_Datatype t;
    hows[0] = hows[1] = how, args[0] = args[1] = arg;
    MPI_Type_create_darray(4, 1, 2, sizes, hows, args, grid, MPI_ORDER_C, MPI_DOUBLE, &t);
    return t;
}
static MPI_Datatype darray_block(void) { return darray(MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG); }
static MPI_Datatype darray_cyclic(void) { return darray(MPI_DISTRIBUTE_CYCLIC, 3); }

/* Create, commit, free. */
static void constructors(void)
{
    static const struct { const char *label; MPI_Datatype (*make)(void); } table[] = {
        {"contiguous", contiguous}, {"vector", vector}, {"hvector", hvector}, {"indexed", indexed},
        {"hindexed", hindexed}, {"indexed-block", indexed_block}, {"hindexed-block", hindexed_block},
        {"struct", structure}, {"subarray", subarray}, {"darray-block", darray_block}, {"darray-cyclic", darray_cyclic},
        {"resized", resized}, {"dup", dup}, {"nested", nested},
    };
    for (size_t c = 0; c < sizeof table / sizeof *table; c++) {
        double best = 1e30;
        for (int r = 0; r < REPS; r++) {
            double t = MPI_Wtime();
            for (int i = 0; i < TURNS; i++) {
                MPI_Datatype type = table[c].make();
                MPI_Type_commit(&type);
                MPI_Type_free(&type);
            }
            t = (MPI_Wtime() - t) / TURNS;
            if (t < best) best = t;
        }
        report("make", table[c].label, NULL, best);
    }
}

static char buf[8192], packed[8192];
static MPI_Status status;

static void size_of(MPI_Datatype t) { int n; MPI_Type_size(t, &n); }
static void extent(MPI_Datatype t) { MPI_Aint lb, n; MPI_Type_get_extent(t, &lb, &n); }
static void true_extent(MPI_Datatype t) { MPI_Aint lb, n; MPI_Type_get_true_extent(t, &lb, &n); }
static void count(MPI_Datatype t) { int n; MPI_Get_count(&status, t, &n); }
static void elements(MPI_Datatype t) { int n; MPI_Get_elements(&status, t, &n); }
static void address(MPI_Datatype t) { MPI_Aint n; (void)t; MPI_Get_address(buf, &n); }
static void envelope(MPI_Datatype t) { int i, a, d, c; MPI_Type_get_envelope(t, &i, &a, &d, &c); }
static void contents(MPI_Datatype t)
{
    int integers[16], i, a, d, c;
    MPI_Aint addresses[8];
    MPI_Datatype types[8];
    MPI_Type_get_envelope(t, &i, &a, &d, &c);
    MPI_Type_get_contents(t, i, a, d, integers, addresses, types); /* all are predefined */
}
static void pack_size(MPI_Datatype t) { int n; MPI_Pack_size(1, t, MPI_COMM_WORLD, &n); }
static void pack(MPI_Datatype t) { int n = 0; MPI_Pack(buf, 1, t, packed, sizeof packed, &n, MPI_COMM_WORLD); }
static void unpack(MPI_Datatype t) { int n = 0; MPI_Unpack(packed, sizeof packed, &n, buf, 1, t, MPI_COMM_WORLD); }
static void external(MPI_Datatype t)
{
    MPI_Aint n = 0;
    MPI_Pack_external("external32", buf, 1, t, packed, sizeof packed, &n);
}
static void internal(MPI_Datatype t)
{
    MPI_Aint n = 0;
    MPI_Unpack_external("external32", packed, sizeof packed, &n, buf, 1, t);
}

/* What has an answer at once. A structure in external32 is left out: MPICH 4.0 ends with it. */
static void questions(void)
{
    static const struct { const char *label; void (*ask)(MPI_Datatype); int uniform; } table[] = {
        {"size", size_of, 0}, {"extent", extent, 0}, {"true-extent", true_extent, 0}, {"count", count, 0},
        {"elements", elements, 0}, {"address", address, 0}, {"envelope", envelope, 0}, {"contents", contents, 0},
        {"pack-size", pack_size, 0}, {"pack", pack, 0}, {"unpack", unpack, 0}, {"pack-external", external, 1},
        {"unpack-external", internal, 1},
    };
    struct { const char *label; MPI_Datatype type; } types[] = {{"vector", vector()}, {"indexed", indexed()},
        {"struct", structure()}};
    for (int k = 0; k < 3; k++) {
        MPI_Type_commit(&types[k].type);
        MPI_Status_set_elements(&status, types[k].type, 24);
        for (size_t c = 0; c < sizeof table / sizeof *table; c++) {
            double best = 1e30;
            if (k == 2 && table[c].uniform) continue;
            for (int r = 0; r < REPS; r++) {
                double t = MPI_Wtime();
                for (int i = 0; i < QUERIES; i++) table[c].ask(types[k].type);
                t = (MPI_Wtime() - t) / QUERIES;
                if (t < best) best = t;
            }
            report("ask", table[c].label, types[k].label, best);
        }
        MPI_Type_free(&types[k].type);
    }
}

static void ping_pong(MPI_Datatype t)
{
    if (rank == 0) MPI_Send(buf, 1, t, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(packed, 1, t, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(buf, 1, t, 0, 1, MPI_COMM_WORLD);
}

static void nonblocking(MPI_Datatype t)
{
    MPI_Request q[2];
    MPI_Status s[2];
    MPI_Irecv(packed, 1, t, 1 - rank, 2, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(buf, 1, t, 1 - rank, 2, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, s);
}

static void sendrecv(MPI_Datatype t)
{
    MPI_Sendrecv(buf, 1, t, 1 - rank, 3, packed, 1, t, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void replace(MPI_Datatype t)
{
    MPI_Sendrecv_replace(buf, 1, t, 1 - rank, 4, 1 - rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One message each way. */
static void messages(void)
{
    static const struct { const char *label; void (*exchange)(MPI_Datatype); } table[] = {
        {"ping-pong", ping_pong}, {"nonblocking", nonblocking}, {"sendrecv", sendrecv}, {"replace", replace},
    };
    struct { const char *label; MPI_Datatype type; } types[] = {
        {"contiguous", contiguous()}, {"vector", vector()}, {"indexed", indexed()}, {"struct", structure()}};
    for (int k = 0; k < 4; k++) {
        MPI_Type_commit(&types[k].type);
        for (size_t c = 0; c < sizeof table / sizeof *table; c++) {
            double best = 1e30;
            for (int r = 0; r < REPS; r++) {
                MPI_Barrier(MPI_COMM_WORLD);
                double t = MPI_Wtime();
                for (int i = 0; i < TURNS && rank < 2; i++) table[c].exchange(types[k].type);
                t = (MPI_Wtime() - t) / TURNS;
                if (t < best) best = t;
            }
            report("message", table[c].label, types[k].label, best);
        }
        MPI_Type_free(&types[k].type);
    }
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) { fprintf(stderr, "typebench: run on 2 ranks or more\n"); MPI_Abort(MPI_COMM_WORLD, 2); }
    MPI_Type_vector(8, 1, 4, MPI_DOUBLE, &columns);
    MPI_Type_commit(&columns);
    constructors();
    questions();
    messages();
    MPI_Type_free(&columns);
    MPI_Finalize();
    return 0;
}
