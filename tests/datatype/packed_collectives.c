/* Collective operations in which some ranks give or get packed what is typed at others: all that move data, blocking,
 * nonblocking and persistent, also in place, between two groups, and among neighbors.
 *
 * ranks: 1 2 3 4
 */
#include "../coll/forms.h"
#include "packed.h"

static int patterns; /* which ranks pack; see packs */

/* Does a rank pack what it gives (side 0) or gets (side 1)? */
static int packs(int rank, int side)
{
    return patterns < 2 ? (rank + side + patterns) & 1 : (rank == side) == (patterns == 2);
}

typedef struct {
    packed_block b;
    forms_side side;
} blocks;

/* Describes n blocks to an operation, in all ways at once. */
static blocks describe(packed_block b, int n)
{
    blocks s = {.b = b};
    s.side.buf = b.buf;
    s.side.count = b.count;
    s.side.type = b.type;
    s.side.counts = calloc((size_t)n, sizeof(int));
    s.side.displs = calloc((size_t)n, sizeof(int));
    s.side.displs_c = calloc((size_t)n, sizeof(MPI_Aint));
    s.side.types = calloc((size_t)n, sizeof(MPI_Datatype));
    for (int k = 0; k < n; k++) {
        s.side.counts[k] = b.count;
        s.side.displs[k] = k * b.count;
        s.side.displs_c[k] = (MPI_Aint)k * b.bytes;
        s.side.types[k] = b.type;
    }
    return s;
}

static void done(blocks *s)
{
    packed_free(&s->b);
    free(s->side.counts);
    free(s->side.displs);
    free(s->side.displs_c);
    free(s->side.types);
}

/* The displacements of alltoallw are bytes. */
static void in_bytes(blocks *s, int n)
{
    for (int k = 0; k < n; k++) s->side.displs[k] = (int)s->side.displs_c[k];
}

static void carry_out(forms_args *a, int op, int kind)
{
    MPI_Request q = MPI_REQUEST_NULL;
    forms_call(a, op, kind, &q);
    if (kind == FORMS_PERSISTENT) MPI_Start(&q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    if (q != MPI_REQUEST_NULL) MPI_Request_free(&q);
}

static int has_root(int op) { return op >= FORMS_BCAST && op <= FORMS_SCATTERV; }
static int scatters(int op) { return op == FORMS_SCATTER || op == FORMS_SCATTERV; }
static int gathers(int op) { return op == FORMS_GATHER || op == FORMS_GATHERV; }
static int all_to_all(int op)
{
    return op == FORMS_ALLTOALL || op == FORMS_ALLTOALLV || op == FORMS_ALLTOALLW || op == FORMS_NEIGHBOR_ALLTOALL ||
           op == FORMS_NEIGHBOR_ALLTOALLV || op == FORMS_NEIGHBOR_ALLTOALLW;
}
static int is_w(int op) { return op == FORMS_ALLTOALLW || op == FORMS_NEIGHBOR_ALLTOALLW; }

/* The first id of what a rank gives: to rank k it gives id + k where there is a block for each. */
static int id(int rank) { return 10 * rank; }

/* An operation of one group. */
static void one_group(int op, int kind, int root, int in_place, int items)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    int n = check_size, me = check_rank;
    int many = scatters(op) ? (me == root ? n : 0) : all_to_all(op) ? n : 1; /* blocks that this rank gives */
    in_place = in_place && (!has_root(op) || (op != FORMS_BCAST && me == root));
    blocks s = describe(packed_give(comm, packs(me, 0), many, items, id(me)), n);
    blocks r = describe(packed_room(comm, packs(me, 1), n, items), n);
    if (in_place && all_to_all(op))
        for (int k = 0; k < n; k++) packed_set(&r.b, k, id(me) + k);
    else if (in_place && !scatters(op)) packed_set(&r.b, me, id(me));
    if (op == FORMS_BCAST && me == root) packed_set(&r.b, 0, id(me));
    if (op == FORMS_ALLTOALLW) in_bytes(&s, n), in_bytes(&r, n);
    forms_args a = {s.side, r.side, MPI_OP_NULL, root, comm, MPI_INFO_NULL};
    if (in_place && scatters(op)) a.r.buf = MPI_IN_PLACE;
    else if (in_place) a.s.buf = MPI_IN_PLACE;
    carry_out(&a, op, kind);
    int blocks_in = scatters(op) ? !in_place : op == FORMS_BCAST ? 1 : gathers(op) ? (me == root ? n : 0) : n;
    for (int k = 0; k < blocks_in; k++) {
        int from = scatters(op) || op == FORMS_BCAST ? root : k;
        packed_check(&r.b, k, id(from) + (scatters(op) || all_to_all(op) ? me : 0), forms_name[op]);
    }
    done(&s);
    done(&r);
}

/* An operation of two groups: the lower ranks and the others. The root is a rank of the lower ones. */
static void two_groups(MPI_Comm comm, int op, int kind, int root, int items)
{
    int n, me, mine = check_rank >= check_size / 2, at_root = !mine && check_rank == root;
    MPI_Comm_remote_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    int first = mine ? 0 : check_size / 2; /* the world's rank of the other group's first */
    int many = scatters(op) ? (at_root ? n : 0) : all_to_all(op) ? n : 1;
    blocks s = describe(packed_give(comm, packs(check_rank, 0), many, items, id(check_rank)), n);
    blocks r = describe(packed_room(comm, packs(check_rank, 1), n, items), n);
    if (op == FORMS_BCAST && at_root) packed_set(&r.b, 0, id(check_rank));
    if (op == FORMS_ALLTOALLW) in_bytes(&s, n), in_bytes(&r, n);
    forms_args a = {s.side, r.side, MPI_OP_NULL, mine ? root : at_root ? MPI_ROOT : MPI_PROC_NULL, comm, MPI_INFO_NULL};
    carry_out(&a, op, kind);
    int blocks_in = scatters(op) || op == FORMS_BCAST ? mine : gathers(op) ? (at_root ? n : 0) : n;
    for (int k = 0; k < blocks_in; k++) {
        int from = scatters(op) || op == FORMS_BCAST ? root : first + k;
        packed_check(&r.b, k, id(from) + (scatters(op) || all_to_all(op) ? me : 0), forms_name[op]);
    }
    done(&s);
    done(&r);
}

/* Among neighbors: the previous rank and the rank itself. */
static void neighbors(MPI_Comm ring, int op, int kind, int items)
{
    int previous = (check_rank + check_size - 1) % check_size, many = all_to_all(op) ? 2 : 1;
    blocks s = describe(packed_give(ring, packs(check_rank, 0), many, items, id(check_rank)), 2);
    blocks r = describe(packed_room(ring, packs(check_rank, 1), 2, items), 2);
    if (is_w(op)) in_bytes(&s, 2), in_bytes(&r, 2);
    forms_args a = {s.side, r.side, MPI_OP_NULL, 0, ring, MPI_INFO_NULL};
    carry_out(&a, op, kind);
    packed_check(&r.b, 0, id(previous), forms_name[op]);
    packed_check(&r.b, 1, id(check_rank) + (all_to_all(op) ? 1 : 0), forms_name[op]);
    done(&s);
    done(&r);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 100, 3000};
    MPI_Comm part, both = MPI_COMM_NULL, ring;
    check_start(&argc, &argv);
    packed_start();
    int upper = check_rank >= check_size / 2;
    if (check_size > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &part);
        MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, upper ? 0 : check_size / 2, 1, &both);
        MPI_Comm_free(&part);
    }
    int in[2] = {(check_rank + check_size - 1) % check_size, check_rank};
    int out[2] = {(check_rank + 1) % check_size, check_rank}, even[2] = {1, 1};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, even, 2, out, even, MPI_INFO_NULL, 0, &ring);

    for (int k = 0; k < 3; k++)
        for (int kind = FORMS_BLOCKING; kind <= FORMS_PERSISTENT; kind++) {
            patterns = (patterns + 1) % 4;
            for (int op = FORMS_BCAST; op <= FORMS_ALLTOALLW; op++) {
                for (int root = 0; root < (has_root(op) ? check_size : 1); root++)
                    for (int in_place = 0; in_place < 2; in_place++) one_group(op, kind, root, in_place, lengths[k]);
                if (check_size > 1) two_groups(both, op, kind, check_size / 2 - 1, lengths[k]);
            }
            for (int op = FORMS_NEIGHBOR_ALLGATHER; op < FORMS_ALL; op++) neighbors(ring, op, kind, lengths[k]);
        }
    MPI_Comm_free(&ring);
    if (both != MPI_COMM_NULL) MPI_Comm_free(&both);
    MPI_Type_free(&packed_type);
    return check_end();
}
