/* Short broadcasts whose root and readers describe the same data by different types: plain on one side; on the other,
 * blocks, structures, absolute addresses, subarrays, nested types and types with gaps. */
#include "../check.h"

enum { ROUNDS = 40 };

static int memory[4096];
static int base = 1000; /* where data lies in memory */

/* A type of n ints, where they lie, and from which address. */
struct way { const char *name; MPI_Datatype type; int count, at[14]; void *from; };

static struct way ways[32];
static int n_ways;

static struct way *add(const char *name, MPI_Datatype type, int count, int n, const int *at)
{
    struct way *w = &ways[n_ways++];
    w->name = name;
    w->type = type;
    w->count = count;
    w->from = &memory[base];
    for (int i = 0; i < n; i++) w->at[i] = base + at[i];
    if (type != MPI_INT) MPI_Type_commit(&w->type);
    return w;
}

/* Each way describes n ints. */
static void describe(int n)
{
    MPI_Datatype t, u;
    int at[14] = {0}, ones[14], sizes[2] = {14, 3}, subsizes[2], starts[2] = {0, 1};
    MPI_Aint bytes[14], here;
    MPI_Datatype ints[14];
    n_ways = 0;
    for (int i = 0; i < n; i++) at[i] = i;
    add("ints", MPI_INT, n, n, at);
    MPI_Type_contiguous(n, MPI_INT, &t);
    add("contiguous", t, 1, n, at);
    for (int i = 0; i < n; i++) at[i] = 3 * i;
    MPI_Type_vector(n, 1, 3, MPI_INT, &t);
    add("vector", t, 1, n, at);
    MPI_Type_create_resized(MPI_INT, 0, 12, &t);
    add("resized", t, n, n, at);
    MPI_Type_create_resized(MPI_INT, 0, -12, &t);
    for (int i = 0; i < n; i++) at[i] = -3 * i;
    add("backward", t, n, n, at);
    for (int i = 0; i < n; i++) at[i] = (5 * i + 2) % 59, ones[i] = 1, bytes[i] = 4 * at[i], ints[i] = MPI_INT;
    MPI_Type_indexed(n, ones, at, MPI_INT, &t);
    add("indexed", t, 1, n, at);
    MPI_Type_create_hindexed(n, ones, bytes, MPI_INT, &t);
    add("hindexed", t, 1, n, at);
    MPI_Type_create_struct(n, ones, bytes, ints, &t);
    add("struct", t, 1, n, at);
    MPI_Type_dup(t, &u);
    add("dup", u, 1, n, at);
    for (int i = 0; i < n; i++) MPI_Get_address(&memory[base + at[i]], &bytes[i]);
    MPI_Type_create_struct(n, ones, bytes, ints, &t);
    add("absolute", t, 1, n, at)->from = MPI_BOTTOM;
    MPI_Get_address(&memory[base], &here);
    MPI_Type_create_hindexed(1, ones, &here, MPI_INT, &t);
    MPI_Type_create_resized(t, 0, 8, &u);
    MPI_Type_free(&t);
    for (int i = 0; i < n; i++) at[i] = 2 * i;
    add("absolute, several", u, n, n, at)->from = MPI_BOTTOM;
    subsizes[0] = n, subsizes[1] = 1;
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &t);
    for (int i = 0; i < n; i++) at[i] = 1 + 3 * i;
    add("subarray", t, 1, n, at);
    for (int i = 0; i < n; i++) at[i] = i % 2 ? 2 * i + 3 : 2 * i;
    for (int i = 0; i < n; i++) bytes[i] = 4 * at[i];
    MPI_Type_create_hindexed_block(n, 1, bytes, MPI_INT, &t);
    MPI_Type_create_struct(1, ones, (MPI_Aint[]){0}, &t, &u);
    MPI_Type_free(&t);
    add("nested", u, 1, n, at);
}

static void forget(void)
{
    for (int i = 0; i < n_ways; i++)
        if (ways[i].type != MPI_INT) MPI_Type_free(&ways[i].type);
}

static void send(const struct way *w, int root)
{
#if MPI_VERSION >= 4
    if (check_rank % 2) {
        CHECK_EQ(MPI_Bcast_c(w->from, w->count, w->type, root, MPI_COMM_WORLD), MPI_SUCCESS);
        return;
    }
#endif
    CHECK_EQ(MPI_Bcast(w->from, w->count, w->type, root, MPI_COMM_WORLD), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    check_stream s = check_seed(3);
    for (int round = 0; round < ROUNDS; round++) {
        int n = 1 + round % 14; /* 56 bytes, if not less */
        describe(n);
        for (int i = 0; i < n_ways; i++) {
            int root = check_below(&s, check_size), other = check_below(&s, n_ways), turned = check_below(&s, 2);
            const struct way *w = (check_rank == root) != turned ? &ways[i] : &ways[other];
            for (int k = 0; k < 4096; k++) memory[k] = -k;
            if (check_rank == root)
                for (int k = 0; k < n; k++) memory[w->at[k]] = 1000 * round + i * 20 + k;
            send(w, root);
            for (int k = 0; k < n; k++) {
                int got = memory[w->at[k]];
                CHECK_SAY(got == 1000 * round + i * 20 + k, "int %d of %d as %s, root %d", k, n, w->name, root);
                memory[w->at[k]] = -w->at[k];
            }
            for (int k = 0; k < 4096; k++) CHECK_SAY(memory[k] == -k, "as %s: word %d has changed", w->name, k);
        }
        forget();
    }
    return check_end();
}
