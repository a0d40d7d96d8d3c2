/* Two buffers that begin at the same address are not the same memory for that: MPI_BOTTOM with types whose
 * displacements are addresses, and one array in which blocks that are sent and received have displacements of their own
 * (MPI 5.0, 3.12 and 5.1.12). Each collective operation in each of its forms, from one element to long blocks; and
 * reductions in place at MPI_BOTTOM. */
/* ranks: 1 2 3 4 */
#include "../check.h"

enum { LONGEST = 20000, SIZES = 4, FORMS = 3, STARTS = 2 };

static const int lengths[SIZES] = {1, 20, 3000, LONGEST};

static int *mem, *in, *out, k; /* blocks of k elements that are sent, and those that are received, in one array */
static int ones[8], many[8], nth[8], nth_out[8], zeros[8], bytes_in[8], bytes_out[8];
static MPI_Aint none[8], far_in[8], far_out[8];
static MPI_Datatype to[8], from[8], ints[8], sent, received, first;
static MPI_Comm all; /* each rank is its own neighbor, too */

/* A type of k elements at an address, of which the next one's block begins behind it. */
static MPI_Datatype block_at(const int *p)
{
    MPI_Aint at;
    MPI_Datatype t, sized, i = MPI_INT;
    MPI_Get_address(p, &at);
    MPI_Type_create_struct(1, &k, &at, &i, &t);
    MPI_Type_create_resized(t, 0, (MPI_Aint)sizeof(int) * k, &sized);
    MPI_Type_commit(&sized);
    MPI_Type_free(&t);
    return sized;
}

static int value(int rank, int block, int i) { return rank * 1000 + block * 100 + i % 97; }

static void fill(void)
{
    for (int b = 0; b < check_size; b++)
        for (int i = 0; i < k; i++) in[b * k + i] = value(check_rank, b, i), out[b * k + i] = -1;
}

/* Block b is the one that a rank has for this one, or its first one. */
static void check_blocks(const char *what, int ranks, int own)
{
    for (int b = 0; b < ranks; b++)
        for (int i = 0; i < k; i++) {
            int want = own < 0 ? value(0, check_rank, i) : value(b, own, i);
            CHECK_SAY(out[b * k + i] == want, "%s, blocks of %d: element %d of block %d is %d, not %d", what, k, i, b,
                      out[b * k + i], want);
        }
}

/* Makes a call in a form, and looks at what came of it: so many blocks; own < 0: the one of rank 0. */
#define ALL_FORMS(NAME, LATER, COMM, RANKS, OWN, ...) \
    for (int form = 0; form < FORMS; form++) { \
        MPI_Request q = MPI_REQUEST_NULL; \
        if (form == 2) MPI_##NAME##_init(__VA_ARGS__, COMM, MPI_INFO_NULL, &q); \
        for (int start = 0; start < (form == 2 ? STARTS : 1); start++) { \
            fill(); \
            if (form == 0) MPI_##NAME(__VA_ARGS__, COMM); \
            if (form == 1) MPI_I##LATER(__VA_ARGS__, COMM, &q); \
            if (form == 2) MPI_Start(&q); \
            MPI_Wait(&q, MPI_STATUS_IGNORE); \
            check_blocks(#NAME, RANKS, OWN); \
        } \
        if (form == 2) MPI_Request_free(&q); \
    }

#define BOTTOM MPI_BOTTOM

static void at_bottom(void)
{
    const int p = check_size, r = check_rank, root = r == 0;
    ALL_FORMS(Alltoall, alltoall, MPI_COMM_WORLD, p, r, BOTTOM, 1, sent, BOTTOM, 1, received)
    ALL_FORMS(Alltoallv, alltoallv, MPI_COMM_WORLD, p, r, BOTTOM, ones, nth, sent, BOTTOM, ones, nth, received)
    ALL_FORMS(Alltoallw, alltoallw, MPI_COMM_WORLD, p, r, BOTTOM, ones, zeros, to, BOTTOM, ones, zeros, from)
    ALL_FORMS(Allgather, allgather, MPI_COMM_WORLD, p, 0, BOTTOM, 1, sent, BOTTOM, 1, received)
    ALL_FORMS(Allgatherv, allgatherv, MPI_COMM_WORLD, p, 0, BOTTOM, 1, sent, BOTTOM, ones, nth, received)
    ALL_FORMS(Gather, gather, MPI_COMM_WORLD, root ? p : 0, 0, BOTTOM, 1, sent, BOTTOM, 1, received, 0)
    ALL_FORMS(Gatherv, gatherv, MPI_COMM_WORLD, root ? p : 0, 0, BOTTOM, 1, sent, BOTTOM, ones, nth, received, 0)
    ALL_FORMS(Scatter, scatter, MPI_COMM_WORLD, 1, -1, BOTTOM, 1, sent, BOTTOM, 1, received, 0)
    ALL_FORMS(Scatterv, scatterv, MPI_COMM_WORLD, 1, -1, BOTTOM, ones, nth, sent, BOTTOM, 1, received, 0)
    ALL_FORMS(Neighbor_allgather, neighbor_allgather, all, p, 0, BOTTOM, 1, sent, BOTTOM, 1, received)
    ALL_FORMS(Neighbor_allgatherv, neighbor_allgatherv, all, p, 0, BOTTOM, 1, sent, BOTTOM, ones, nth, received)
    ALL_FORMS(Neighbor_alltoall, neighbor_alltoall, all, p, r, BOTTOM, 1, sent, BOTTOM, 1, received)
    ALL_FORMS(Neighbor_alltoallv, neighbor_alltoallv, all, p, r, BOTTOM, ones, nth, sent, BOTTOM, ones, nth, received)
    ALL_FORMS(Neighbor_alltoallw, neighbor_alltoallw, all, p, r, BOTTOM, ones, none, to, BOTTOM, ones, none, from)
}

/* A type whose data begin where the blocks do that are received, and the array. */
static void at_one_base(void)
{
    const int p = check_size, r = check_rank, root = r == 0;
    ALL_FORMS(Alltoall, alltoall, MPI_COMM_WORLD, p, r, mem, k, MPI_INT, mem, 1, first)
    ALL_FORMS(Alltoallv, alltoallv, MPI_COMM_WORLD, p, r, mem, many, nth, MPI_INT, mem, many, nth_out, MPI_INT)
    ALL_FORMS(Alltoallw, alltoallw, MPI_COMM_WORLD, p, r, mem, many, bytes_in, ints, mem, many, bytes_out, ints)
    ALL_FORMS(Allgather, allgather, MPI_COMM_WORLD, p, 0, mem, k, MPI_INT, mem, 1, first)
    ALL_FORMS(Allgatherv, allgatherv, MPI_COMM_WORLD, p, 0, mem, k, MPI_INT, mem, many, nth_out, MPI_INT)
    ALL_FORMS(Gather, gather, MPI_COMM_WORLD, root ? p : 0, 0, mem, k, MPI_INT, mem, 1, first, 0)
    ALL_FORMS(Gatherv, gatherv, MPI_COMM_WORLD, root ? p : 0, 0, mem, k, MPI_INT, mem, many, nth_out, MPI_INT, 0)
    ALL_FORMS(Scatter, scatter, MPI_COMM_WORLD, 1, -1, mem, k, MPI_INT, mem, 1, first, 0)
    ALL_FORMS(Scatterv, scatterv, MPI_COMM_WORLD, 1, -1, mem, many, nth, MPI_INT, mem, 1, first, 0)
    ALL_FORMS(Neighbor_allgather, neighbor_allgather, all, p, 0, mem, k, MPI_INT, mem, 1, first)
    ALL_FORMS(Neighbor_allgatherv, neighbor_allgatherv, all, p, 0, mem, k, MPI_INT, mem, many, nth_out, MPI_INT)
    ALL_FORMS(Neighbor_alltoall, neighbor_alltoall, all, p, r, mem, k, MPI_INT, mem, 1, first)
    ALL_FORMS(Neighbor_alltoallv, neighbor_alltoallv, all, p, r, mem, many, nth, MPI_INT, mem, many, nth_out, MPI_INT)
    ALL_FORMS(Neighbor_alltoallw, neighbor_alltoallw, all, p, r, mem, many, far_in, ints, mem, many, far_out, ints)
}

/* Adds vectors of one block whose type has an address: those are at MPI_BOTTOM, or as far from it as copies are. */
static void add(void *a, void *b, int *n, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_true_extent(*type, &lb, &extent);
    for (int i = 0; i < *n * k; i++) {
        int *x = (int *)((uintptr_t)a + (uintptr_t)lb) + i, *y = (int *)((uintptr_t)b + (uintptr_t)lb) + i;
        *y += *x;
    }
}

/* The sum of what so many ranks have in their block 0. */
static void check_sum(const char *what, const int *p, int ranks)
{
    for (int i = 0; i < k; i++) {
        int want = 0;
        for (int r = 0; r < ranks; r++) want += value(r, 0, i);
        CHECK_SAY(p[i] == want, "%s of %d: element %d is %d, not %d", what, k, i, p[i], want);
    }
}

static void reductions(void)
{
    MPI_Op sum;
    MPI_Op_create(add, 1, &sum);
    const int root = check_rank == 0;
    fill();
    MPI_Reduce(root ? MPI_IN_PLACE : BOTTOM, root ? BOTTOM : NULL, 1, sent, sum, 0, MPI_COMM_WORLD);
    if (root) check_sum("Reduce", in, check_size);
    fill();
    MPI_Allreduce(MPI_IN_PLACE, BOTTOM, 1, sent, sum, MPI_COMM_WORLD);
    check_sum("Allreduce", in, check_size);
    fill();
    MPI_Scan(MPI_IN_PLACE, BOTTOM, 1, sent, sum, MPI_COMM_WORLD);
    check_sum("Scan", in, check_rank + 1);
    fill();
    MPI_Exscan(MPI_IN_PLACE, BOTTOM, 1, sent, sum, MPI_COMM_WORLD);
    if (check_rank > 0) check_sum("Exscan", in, check_rank);
    MPI_Op_free(&sum);
}

int main(int argc, char **argv)
{
    int ranks[8];
    check_start(&argc, &argv);
    const int p = check_size;
    mem = malloc(sizeof(int) * LONGEST * 2 * (size_t)p);
    for (int r = 0; r < p; r++) ranks[r] = r, ones[r] = 1, ints[r] = MPI_INT;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, p, ranks, ones, p, ranks, ones, MPI_INFO_NULL, 0, &all);
    for (int s = 0; s < SIZES; s++) {
        k = lengths[s], in = mem, out = mem + k * p;
        MPI_Aint at = (MPI_Aint)sizeof(int) * k * p;
        MPI_Datatype t, i = MPI_INT;
        MPI_Type_create_struct(1, &k, &at, &i, &t);
        MPI_Type_create_resized(t, 0, (MPI_Aint)sizeof(int) * k, &first);
        MPI_Type_commit(&first);
        MPI_Type_free(&t);
        sent = block_at(in), received = block_at(out);
        for (int r = 0; r < p; r++) {
            to[r] = block_at(in + r * k), from[r] = block_at(out + r * k);
            nth[r] = r, many[r] = k;
        }
        at_bottom();
        reductions();
        for (int r = 0; r < p; r++) {
            nth[r] = r * k, nth_out[r] = (p + r) * k;
            bytes_in[r] = (int)sizeof(int) * nth[r], bytes_out[r] = (int)sizeof(int) * nth_out[r];
            far_in[r] = bytes_in[r], far_out[r] = bytes_out[r];
        }
        at_one_base();
        for (int r = 0; r < p; r++) MPI_Type_free(&to[r]), MPI_Type_free(&from[r]);
        MPI_Type_free(&sent), MPI_Type_free(&received), MPI_Type_free(&first);
    }
    MPI_Comm_free(&all);
    free(mem);
    return check_end();
}
