/* Persistent operations of uneven blocks and with neighbors: made once, started again and again, by each rank in its
 * own order, with others between them: of no bytes, of few, of as many as a line or a long slot of the board takes, and
 * of more; blocks that do not lie in one run, edges to oneself; requests that outlive their communicator; at last a
 * block that is too long, at each start. */
/* ranks: 1 2 3 4 8 */
/* needs: MPI_Alltoallv_init */
#include "../check.h"

enum { RANKS = 8, MOST = 20000, KINDS = 7, LENGTHS = 7, ALL = KINDS * LENGTHS, STARTS = 12 };

static const int length[LENGTHS] = {0, 3, 8, 50, 700, 3000, MOST};

/* How many bytes go from one rank to another, or from each to all: n, or less, or none. */
static int bytes(int n, int from, int to)
{
    return (from * 3 + to) % 5 == 4 ? 0 : (from + 2 * to) % 3 == 2 ? n / 2 : n;
}

static char value(int turn, int from, int to, int k) { return (char)(turn * 31 + from * 17 + to * 5 + k % 251); }

struct operation {
    int kind, n, root;
    char *in, *out;
    int sends[RANKS], gets[RANKS], at[RANKS], bytes_at[RANKS];
    MPI_Datatype types[RANKS];
    MPI_Request request;
};

static struct operation all[ALL];

/* The rank to which block r of an operation goes, or from which it comes: on the ring the one before, and the next. */
static int peer(const struct operation *o, int r)
{
    return o->kind < 5 ? r : (check_rank + (r ? 1 : check_size - 1)) % check_size;
}

static int blocks(const struct operation *o) { return o->kind < 5 ? check_size : 2; }

/* What a block holds depends on these: whom it is for, or along which edge it goes. */
static int mark(const struct operation *o, int to) { return o->kind == 2 ? 0 : to; }

static int sent(const struct operation *o, int r)
{
    if (o->kind == 5) return o->n / RANKS;
    if (o->kind == 6) return bytes(o->n, check_rank + 8 * r, 1);
    return bytes(o->n, check_rank, mark(o, r));
}

static int got(const struct operation *o, int r)
{
    if (o->kind == 5) return o->n / RANKS;
    if (o->kind == 6) return bytes(o->n, peer(o, r) + 8 * (1 - r), 1);
    return bytes(o->n, r, mark(o, check_rank));
}

static void fill(struct operation *o, int turn)
{
    memset(o->out, 99, (size_t)RANKS * (MOST + 1));
    for (int r = 0; r < blocks(o); r++)
        for (int k = 0; k < o->sends[r]; k++) o->in[o->at[r] + k] = value(turn, check_rank, mark(o, r), k);
}

static void check(const struct operation *o, int turn)
{
    if (o->kind == 0 && check_rank != o->root) return;
    for (int r = 0; r < blocks(o); r++) {
        const int here = o->kind == 1 ? o->root : r, to = o->kind < 5 ? mark(o, check_rank) : 1 - r;
        const char *block = o->kind == 1 ? o->out : o->out + o->at[r];
        for (int k = 0; k < o->gets[here]; k++) CHECK_EQ(block[k], value(turn, peer(o, here), to, k));
        if (o->kind != 5) CHECK_EQ(block[o->gets[here]], 99);
        if (o->kind == 1) return;
    }
}

static void make(struct operation *o, int i, MPI_Comm comm, MPI_Comm ring)
{
    const int me = check_rank;
    *o = (struct operation){.kind = i % KINDS, .n = length[i / KINDS], .root = i % check_size};
    const int root = o->root;
    o->in = malloc((size_t)RANKS * (MOST + 1)), o->out = malloc((size_t)RANKS * (MOST + 1));
    for (int r = 0; r < blocks(o); r++) {
        o->sends[r] = sent(o, r), o->gets[r] = got(o, r);
        o->at[r] = o->bytes_at[r] = o->kind == 5 ? r * (o->n / RANKS) : r * (MOST + 1);
        o->types[r] = MPI_CHAR;
    }
    switch (o->kind) {
    case 0:
        MPI_Gatherv_init(o->in + o->at[root], o->sends[root], MPI_CHAR, o->out, o->gets, o->at, MPI_CHAR, root, comm,
                         MPI_INFO_NULL, &o->request);
        break;
    case 1:
        MPI_Scatterv_init(o->in, o->sends, o->at, MPI_CHAR, o->out, o->gets[root], MPI_CHAR, root, comm, MPI_INFO_NULL,
                          &o->request);
        break;
    case 2:
        MPI_Allgatherv_init(o->in, o->sends[me], MPI_CHAR, o->out, o->gets, o->at, MPI_CHAR, comm, MPI_INFO_NULL,
                            &o->request);
        break;
    case 3:
        MPI_Alltoallv_init(o->in, o->sends, o->at, MPI_CHAR, o->out, o->gets, o->at, MPI_CHAR, comm, MPI_INFO_NULL,
                           &o->request);
        break;
    case 4:
        MPI_Alltoallw_init(o->in, o->sends, o->bytes_at, o->types, o->out, o->gets, o->bytes_at, o->types, comm,
                           MPI_INFO_NULL, &o->request);
        break;
    case 5:
        MPI_Neighbor_alltoall_init(o->in, o->n / RANKS, MPI_CHAR, o->out, o->n / RANKS, MPI_CHAR, ring, MPI_INFO_NULL,
                                   &o->request);
        break;
    default:
        MPI_Neighbor_alltoallv_init(o->in, o->sends, o->at, MPI_CHAR, o->out, o->gets, o->at, MPI_CHAR, ring,
                                    MPI_INFO_NULL, &o->request);
    }
    if (o->kind == 2) /* the own block is at the same place for all */
        for (int r = 0; r < blocks(o); r++) o->sends[r] = r == 0 ? o->sends[me] : 0;
}

static void drop(struct operation *o)
{
    CHECK_EQ(MPI_Request_free(&o->request), MPI_SUCCESS);
    free(o->in), free(o->out);
}

/* Each rank starts them in its own order, in one call or in many, and ends them in another. */
static void in_any_order(int turn, MPI_Comm comm)
{
    static MPI_Request some[ALL];
    int n = 0, sum = 0;
    for (int i = 0; i < ALL; i++) {
        struct operation *o = &all[(i * (7 * check_rank + 3) + turn) % ALL]; /* each once, as there are 49 */
        fill(o, turn + (int)(o - all));
        if (turn % 2) some[n++] = o->request;
        else MPI_Start(&o->request);
    }
    if (n) MPI_Startall(n, some);
    MPI_Allreduce(&turn, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, turn * check_size);
    for (int i = ALL - 1; i >= 0; i--) {
        struct operation *o = &all[(i + check_rank) % ALL];
        MPI_Wait(&o->request, MPI_STATUS_IGNORE);
        check(o, turn + (int)(o - all));
    }
}

/* The edges of a square go to neighbors on a torus, columns as they lie. */
static void edges(MPI_Comm comm)
{
    enum { SIDE = 30 };
    static double field[SIDE][SIDE];
    int dims[2] = {0, 0}, periods[2] = {1, 1}, ones[4] = {1, 1, 1, 1}, neighbors[4];
    const MPI_Aint from[4] = {8 * SIDE, 8 * SIDE * (SIDE - 2), 8, 8 * (SIDE - 2)};
    const MPI_Aint to[4] = {0, 8 * SIDE * (SIDE - 1), 0, 8 * (SIDE - 1)};
    MPI_Datatype row, column;
    MPI_Comm torus;
    MPI_Request request;
    MPI_Dims_create(check_size, 2, dims);
    MPI_Cart_create(comm, 2, dims, periods, 0, &torus);
    MPI_Cart_shift(torus, 0, 1, &neighbors[0], &neighbors[1]);
    MPI_Cart_shift(torus, 1, 1, &neighbors[2], &neighbors[3]);
    MPI_Type_contiguous(SIDE - 2, MPI_DOUBLE, &row);
    MPI_Type_vector(SIDE - 2, 1, SIDE, MPI_DOUBLE, &column);
    MPI_Type_commit(&row), MPI_Type_commit(&column);
    const MPI_Datatype types[4] = {row, row, column, column};
    const MPI_Aint give[4] = {from[0] + 8, from[1] + 8, from[2] + 8 * SIDE, from[3] + 8 * SIDE};
    const MPI_Aint take[4] = {to[0] + 8, to[1] + 8, to[2] + 8 * SIDE, to[3] + 8 * SIDE};
    MPI_Neighbor_alltoallw_init(field, ones, give, types, field, ones, take, types, torus, MPI_INFO_NULL, &request);
    MPI_Type_free(&row), MPI_Type_free(&column);
    for (int turn = 0; turn < STARTS; turn++) {
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                const int inside = x > 0 && x < SIDE - 1 && y > 0 && y < SIDE - 1;
                field[y][x] = inside ? check_rank * 10000 + y * SIDE + x + turn : -1;
            }
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int k = 1; k < SIDE - 1; k++) {
            CHECK_EQ((int)field[0][k], neighbors[0] * 10000 + (SIDE - 2) * SIDE + k + turn);
            CHECK_EQ((int)field[SIDE - 1][k], neighbors[1] * 10000 + SIDE + k + turn);
            CHECK_EQ((int)field[k][0], neighbors[2] * 10000 + k * SIDE + SIDE - 2 + turn);
            CHECK_EQ((int)field[k][SIDE - 1], neighbors[3] * 10000 + k * SIDE + 1 + turn);
        }
        CHECK_EQ((int)field[0][0], -1);
    }
    MPI_Request_free(&request);
    MPI_Comm_free(&torus);
}

static void too_long(MPI_Comm comm)
{
    static char in[17 * RANKS], out[17 * RANKS];
    int sends[RANKS], gets[RANKS], at[RANKS];
    MPI_Request request;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int r = 0; r < check_size; r++) sends[r] = gets[r] = 16, at[r] = 17 * r;
    if (check_rank == 1) sends[0] = 17;
    MPI_Alltoallv_init(in, sends, at, MPI_CHAR, out, gets, at, MPI_CHAR, comm, MPI_INFO_NULL, &request);
    for (int turn = 0; turn < STARTS; turn++) {
        int class_ = MPI_SUCCESS, err = MPI_Start(&request);
        CHECK_EQ(err, MPI_SUCCESS);
        err = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (err != MPI_SUCCESS) MPI_Error_class(err, &class_);
        CHECK_EQ(class_, check_rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    int period = 1;
    MPI_Comm comm, ring;
    check_start(&argc, &argv);
    CHECK(check_size <= RANKS);
    for (int freed = 0; freed < 2; freed++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Cart_create(comm, 1, &check_size, &period, 0, &ring);
        for (int i = 0; i < ALL; i++) make(&all[i], i, comm, ring);
        if (freed) MPI_Comm_free(&comm), MPI_Comm_free(&ring); /* what was made stays */
        for (int turn = 0; turn < STARTS; turn++) in_any_order(turn, MPI_COMM_WORLD);
        for (int i = 0; i < ALL; i++) drop(&all[i]);
        if (!freed) MPI_Comm_free(&comm), MPI_Comm_free(&ring);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    edges(comm);
    if (check_size > 1) too_long(comm);
    MPI_Comm_free(&comm);
    return check_end();
}
