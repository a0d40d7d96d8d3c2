/* IMPI_CHECK=1: every operation on data as one rank calls it with another root, operation or amount, or MPI_IN_PLACE,
 * while the others call something else. */
/* ranks: 2 3 */
#include "differ.h"

enum { BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, REDUCE,
       ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, KINDS };

static const char *const names[KINDS] = {
    "MPI_Bcast", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv",
    "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Reduce", "MPI_Allreduce",
    "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan"};

/* How an operation is called: n elements for each rank. */
struct way { int n, root; MPI_Op op; int in_place; MPI_Datatype type; };

static int call(int kind, struct way w)
{
    static int out[64], in[64], counts[8], displs[8], bytes[8];
    MPI_Datatype types[8];
    MPI_Comm c = MPI_COMM_WORLD;
    for (int r = 0; r < check_size; r++) {
        counts[r] = w.n;
        displs[r] = 4 * r;
        bytes[r] = (int)sizeof(int) * 4 * r;
        types[r] = w.type;
    }
    const void *from = w.in_place ? MPI_IN_PLACE : out;
    switch (kind) {
    case BCAST: return MPI_Bcast(in, w.n, w.type, w.root, c);
    case GATHER: return MPI_Gather(out, w.n, w.type, in, w.n, w.type, w.root, c);
    case GATHERV: return MPI_Gatherv(out, w.n, w.type, in, counts, displs, w.type, w.root, c);
    case SCATTER: return MPI_Scatter(out, w.n, w.type, in, w.n, w.type, w.root, c);
    case SCATTERV: return MPI_Scatterv(out, counts, displs, w.type, in, w.n, w.type, w.root, c);
    case ALLGATHER: return MPI_Allgather(from, w.n, w.type, in, w.n, w.type, c);
    case ALLGATHERV: return MPI_Allgatherv(from, w.n, w.type, in, counts, displs, w.type, c);
    case ALLTOALL: return MPI_Alltoall(from, w.n, w.type, in, w.n, w.type, c);
    case ALLTOALLV: return MPI_Alltoallv(from, counts, displs, w.type, in, counts, displs, w.type, c);
    case ALLTOALLW: return MPI_Alltoallw(from, counts, bytes, types, in, counts, bytes, types, c);
    case REDUCE: return MPI_Reduce(out, in, w.n, w.type, w.op, w.root, c);
    case ALLREDUCE: return MPI_Allreduce(from, in, w.n, w.type, w.op, c);
    case REDUCE_SCATTER: return MPI_Reduce_scatter(from, in, counts, w.type, w.op, c);
    case REDUCE_SCATTER_BLOCK: return MPI_Reduce_scatter_block(from, in, w.n, w.type, w.op, c);
    case SCAN: return MPI_Scan(from, in, w.n, w.type, w.op, c);
    default: return MPI_Exscan(from, in, w.n, w.type, w.op, c);
    }
}

static int is_rooted(int kind) { return kind <= SCATTERV || kind == REDUCE; }

/* Operations in which all ranks have to pass MPI_IN_PLACE if one does. In MPI_Reduce_scatter they need not. */
static int all_in_place(int kind)
{
    return (kind >= ALLGATHER && kind <= ALLTOALLW) || kind == ALLREDUCE || kind == REDUCE_SCATTER_BLOCK;
}

/* Data that goes to all of the same size is compared as such, and other data pair by pair. */
static int is_equal(int kind) { return kind == BCAST || (kind >= REDUCE && kind != REDUCE_SCATTER); }

static void twist(int value, int *at) { if (ODD) *at = value; }

static void one(int kind)
{
    const struct way right = {2, 0, MPI_SUM, 0, MPI_INT};
    struct way w = right;
    CHECK_EQ(call(kind, w), MPI_SUCCESS);
    twist(1, &w.n);
    DIFFERS(call(kind, w), is_equal(kind) ? MPI_ERR_COUNT : MPI_ERR_TYPE, names[kind], differ_odd());

    w = right;
    if (ODD) w.type = MPI_FLOAT;
    DIFFERS(call(kind, w), MPI_ERR_TYPE, names[kind], differ_odd());

    w = right;
    if (is_rooted(kind)) {
        twist(check_size - 1, &w.root);
        DIFFERS(call(kind, w), MPI_ERR_ROOT, names[kind], differ_odd());
    }
    w = right;
    if (kind >= REDUCE) {
        if (ODD) w.op = MPI_MAX;
        DIFFERS(call(kind, w), MPI_ERR_OP, "MPI_SUM", "MPI_MAX");
    }
    w = right;
    twist(1, &w.in_place);
    if (all_in_place(kind))
        DIFFERS(call(kind, w), MPI_ERR_BUFFER, "MPI_IN_PLACE", differ_odd());
    else if (kind > ALLTOALLW && kind != REDUCE)
        CHECK_EQ(call(kind, w), MPI_SUCCESS);
    if (all_in_place(kind)) {
        w.in_place = 1;
        CHECK_EQ(call(kind, w), MPI_SUCCESS);
    }
    OTHER_CALL(MPI_Barrier(MPI_COMM_WORLD), call(kind, right), MPI_ERR_OTHER, "MPI_Barrier", names[kind]);
}

/* The forms are told apart, and what is wrong with a nonblocking operation is said when it is waited for. */
static void nonblocking(void)
{
    int value = 1, sum;
    MPI_Request request;
    CHECK_EQ(MPI_Iallreduce(&value, &sum, 1, MPI_INT, ODD ? MPI_MIN : MPI_SUM, MPI_COMM_WORLD, &request), MPI_SUCCESS);
    DIFFERS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_OP, "MPI_Iallreduce", "MPI_MIN");
    CHECK_EQ(MPI_Iallreduce(ODD ? MPI_IN_PLACE : &value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
             MPI_SUCCESS);
    DIFFERS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_BUFFER, "MPI_Iallreduce", differ_odd());
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

/* Of the program's operations it is known whether they commute. */
static void operations_of_the_program(void)
{
    int value = 1, sum;
    MPI_Op one_way, other;
    MPI_Op_create(add, 1, &one_way);
    MPI_Op_create(add, 0, &other);
    CHECK_EQ(MPI_Allreduce(&value, &sum, 1, MPI_INT, one_way, MPI_COMM_WORLD), MPI_SUCCESS);
    DIFFERS(MPI_Allreduce(&value, &sum, 1, MPI_INT, ODD ? other : one_way, MPI_COMM_WORLD), MPI_ERR_OP, "MPI_Allreduce",
            differ_odd());
    DIFFERS(MPI_Allreduce(&value, &sum, 1, MPI_INT, ODD ? MPI_SUM : one_way, MPI_COMM_WORLD), MPI_ERR_OP,
            "MPI_Allreduce", "MPI_SUM");
    MPI_Op_free(&one_way);
    MPI_Op_free(&other);
}

/* Along the edges of a ring each rank sends to both neighbors what these expect, or not. */
static void neighbors(void)
{
    int one = 1, out[8] = {0}, in[8], counts[2] = {1, 1}, displs[2] = {0, 4};
    MPI_Comm ring;
    CHECK_EQ(MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &one, 0, &ring), MPI_SUCCESS);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring), MPI_SUCCESS);
    DIFFERS(MPI_Neighbor_allgather(out, 1 + ODD, MPI_INT, in, 1, MPI_INT, ring), MPI_ERR_TYPE, "MPI_Neighbor_allgather",
            differ_odd());
    DIFFERS(MPI_Neighbor_alltoall(out, 1, ODD ? MPI_FLOAT : MPI_INT, in, 1, MPI_INT, ring), MPI_ERR_TYPE,
            "MPI_Neighbor_alltoall", differ_odd());
    counts[1] += ODD;
    DIFFERS(MPI_Neighbor_alltoallv(out, counts, displs, MPI_INT, in, (int[]){1, 1}, displs, MPI_INT, ring),
            MPI_ERR_TYPE, "MPI_Neighbor_alltoallv", differ_odd());
    OTHER_CALL(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring),
               MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring), MPI_ERR_OTHER, "MPI_Neighbor_alltoall",
               "MPI_Neighbor_allgather");
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    differ_start(&argc, &argv);
    for (int kind = 0; kind < KINDS; kind++) one(kind);
    nonblocking();
    operations_of_the_program();
    neighbors();
    CHECK_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    return check_end();
}
