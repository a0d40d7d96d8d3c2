/* Every collective that moves data, with a layout of its own at each rank and each end: gaps, elements in reverse
 * and in any order, rows of one rank between those of others, no data at all; in place, too. What arrives is what
 * was sent, element by element of the signature (MPI 5.0, 6.1), and nothing between is touched. */
/* ranks: 1 2 3 4 5 */
#include "../check.h"

enum { BLOCK = 12, MOST = 8, ROOM = 4096, MIDDLE = 1024, KINDS = 8 }; /* ints */

/* A layout of BLOCK ints as `count` elements of a type of `each` ints, `extent` ints apart. */
typedef struct { MPI_Datatype type; int count, each, extent, place[BLOCK]; } layout;

static layout kinds[KINDS];
static MPI_Datatype nothing;
static int round_, used = KINDS, out[ROOM], in[ROOM], want[ROOM];

static void commit(layout *l, int count, int each, int extent, MPI_Datatype t)
{
    MPI_Type_create_resized(t, 0, extent * (MPI_Aint)sizeof(int), &l->type);
    MPI_Type_free(&t);
    MPI_Type_commit(&l->type);
    l->count = count, l->each = each, l->extent = extent;
}

static void make_kinds(void)
{
    int lens[4], at[BLOCK], k = 0;
    MPI_Aint bytes[4];
    MPI_Datatype t, u, of[4];
    layout *l;
#define NEXT (l = &kinds[k++])
    MPI_Type_contiguous(1, MPI_INT, &t); /* a run */
    NEXT->place[0] = 0;
    commit(l, BLOCK, 1, 1, t);
    MPI_Type_vector(4, 1, 2, MPI_INT, &t); /* every other */
    NEXT;
    for (int i = 0; i < 4; i++) l->place[i] = 2 * i;
    commit(l, 3, 4, 9, t);
    MPI_Type_create_hvector(BLOCK, 1, -(MPI_Aint)sizeof(int), MPI_INT, &t); /* backwards */
    NEXT;
    for (int i = 0; i < BLOCK; i++) l->place[i] = -i;
    commit(l, 1, BLOCK, BLOCK, t);
    for (int i = 0; i < BLOCK; i++) at[i] = i * 5 % BLOCK * 2; /* any order */
    MPI_Type_create_indexed_block(BLOCK, 1, at, MPI_INT, &t);
    NEXT;
    memcpy(l->place, at, sizeof at);
    commit(l, 1, BLOCK, 2 * BLOCK, t);
    MPI_Type_vector(BLOCK, 1, 2 * MOST, MPI_INT, &t); /* columns side by side */
    NEXT;
    for (int i = 0; i < BLOCK; i++) l->place[i] = 2 * MOST * i;
    commit(l, 1, BLOCK, 1, t);
    for (int i = 0; i < 3; i++) lens[i] = i, at[i] = 4 - 2 * i; /* blocks of several lengths, one empty */
    MPI_Type_indexed(3, lens, at, MPI_INT, &t);
    NEXT;
    l->place[0] = 2, l->place[1] = 0, l->place[2] = 1;
    commit(l, 4, 3, 5, t);
    MPI_Type_vector(2, 1, 3, MPI_INT, &u); /* a structure of a vector and ints */
    of[0] = u, of[1] = MPI_INT, of[2] = nothing;
    lens[0] = 1, lens[1] = 4, lens[2] = 3;
    bytes[0] = 5 * sizeof(int), bytes[1] = 0, bytes[2] = 77;
    MPI_Type_create_struct(3, lens, bytes, of, &t);
    MPI_Type_free(&u);
    NEXT;
    l->place[0] = 5, l->place[1] = 8;
    for (int i = 0; i < 4; i++) l->place[2 + i] = i;
    commit(l, 2, 6, 11, t);
    MPI_Type_contiguous(BLOCK, MPI_INT, &t); /* a negative extent */
    NEXT;
    for (int i = 0; i < BLOCK; i++) l->place[i] = i;
    commit(l, 1, BLOCK, -BLOCK - 1, t);
#undef NEXT
    CHECK_EQ(k, KINDS);
}

static const layout *of(int rank, int end) { return &kinds[(round_ + 3 * rank + 5 * end) % used]; }

/* Where int i of block b is. */
static int where(const layout *l, int b, int i)
{
    return MIDDLE + (b * l->count + i / l->each) * l->extent + l->place[i % l->each];
}

static int value(int from, int to, int i) { return 1 + from * 10000 + to * 1000 + round_ % 7 * 100 + i; }

static void clear(void)
{
    for (int i = 0; i < ROOM; i++) in[i] = want[i] = out[i] = -5;
}

static void put(int *memory, const layout *l, int b, int from, int to)
{
    for (int i = 0; i < BLOCK; i++) memory[where(l, b, i)] = value(from, to, i);
}

static void same(const char *what)
{
    for (int i = 0; i < ROOM; i++)
        CHECK_SAY(in[i] == want[i], "%s, round %d: int %d is %d, not %d", what, round_, i - MIDDLE, in[i], want[i]);
}

static void rooted(int root)
{
    const layout *s = of(check_rank, 0), *r = of(check_rank, 1);
    int counts[MOST], places[MOST], me = check_rank == root;
    clear();
    put(want, s, 0, root, 9);
    if (me) put(in, s, 0, root, 9);
    MPI_Bcast(in + MIDDLE, s->count, s->type, root, MPI_COMM_WORLD);
    same("bcast");

    clear();
    put(out, s, 0, check_rank, 9);
    if (me) for (int i = 0; i < check_size; i++) put(want, r, i, i, 9);
    MPI_Gather(out + MIDDLE, s->count, s->type, in + MIDDLE, r->count, r->type, root, MPI_COMM_WORLD);
    same("gather");

    clear();
    for (int i = 0; i < check_size; i++) counts[i] = r->count, places[i] = (check_size - 1 - i) * r->count;
    put(out, s, 0, check_rank, 9);
    if (me) put(in, r, check_size - 1 - root, root, 9);
    if (me) for (int i = 0; i < check_size; i++) put(want, r, check_size - 1 - i, i, 9);
    MPI_Gatherv(me ? MPI_IN_PLACE : out + MIDDLE, s->count, s->type, in + MIDDLE, counts, places, r->type, root,
                MPI_COMM_WORLD);
    same("gatherv in place");

    clear();
    if (me) for (int i = 0; i < check_size; i++) put(out, s, i, root, i);
    put(want, r, 0, root, check_rank);
    MPI_Scatter(out + MIDDLE, s->count, s->type, in + MIDDLE, r->count, r->type, root, MPI_COMM_WORLD);
    same("scatter");

    clear();
    for (int i = 0; i < check_size; i++) counts[i] = s->count, places[i] = (check_size - 1 - i) * s->count;
    if (me) for (int i = 0; i < check_size; i++) put(out, s, check_size - 1 - i, root, i);
    if (!me) put(want, r, 0, root, check_rank);
    MPI_Scatterv(out + MIDDLE, counts, places, s->type, me ? MPI_IN_PLACE : in + MIDDLE, r->count, r->type, root,
                 MPI_COMM_WORLD);
    same("scatterv in place");
}

static void to_all(void)
{
    const layout *s = of(check_rank, 0), *r = of(check_rank, 1);
    int counts[MOST], places[MOST], in_counts[MOST], in_places[MOST];
    MPI_Datatype types[MOST], in_types[MOST];
    clear();
    put(out, s, 0, check_rank, 9);
    for (int i = 0; i < check_size; i++) put(want, r, i, i, 9);
    MPI_Allgather(out + MIDDLE, s->count, s->type, in + MIDDLE, r->count, r->type, MPI_COMM_WORLD);
    same("allgather");

    clear();
    for (int i = 0; i < check_size; i++) counts[i] = r->count, places[i] = (i + 1) * r->count;
    put(in, r, check_rank + 1, check_rank, 9);
    for (int i = 0; i < check_size; i++) put(want, r, i + 1, i, 9);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in + MIDDLE, counts, places, r->type, MPI_COMM_WORLD);
    same("allgatherv in place");

    clear();
    for (int i = 0; i < check_size; i++) put(out, s, i, check_rank, i), put(want, r, i, i, check_rank);
    MPI_Alltoall(out + MIDDLE, s->count, s->type, in + MIDDLE, r->count, r->type, MPI_COMM_WORLD);
    same("alltoall");

    clear();
    for (int i = 0; i < check_size; i++) put(in, r, i, check_rank, i), put(want, r, i, i, check_rank);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in + MIDDLE, r->count, r->type, MPI_COMM_WORLD);
    same("alltoall in place");

    clear(); /* nothing between some of them */
    for (int i = 0; i < check_size; i++) {
        int none = (i + check_rank) % 3 == 1, j = check_size - 1 - i;
        counts[i] = none ? 0 : s->count, in_counts[i] = none ? 0 : r->count;
        places[i] = j * s->count, in_places[i] = (i + 1) * r->count;
        put(out, s, j, check_rank, i);
        if (!none) put(want, r, i + 1, i, check_rank);
    }
    MPI_Alltoallv(out + MIDDLE, counts, places, s->type, in + MIDDLE, in_counts, in_places, r->type, MPI_COMM_WORLD);
    same("alltoallv");

    clear();
    for (int i = 0; i < check_size; i++) {
        int empty = (i + check_rank) % 3 == 2;
        const layout *a = of(i, 2), *b = of(i, 3);
        types[i] = empty ? nothing : a->type, in_types[i] = empty ? nothing : b->type;
        counts[i] = a->count, in_counts[i] = b->count; /* of nothing, any number */
        places[i] = (i * 220 - 20) * (int)sizeof(int), in_places[i] = (220 * (check_size - i) - 50) * (int)sizeof(int);
        for (int k = 0; k < BLOCK && !empty; k++) {
            out[where(a, 0, k) + places[i] / (int)sizeof(int)] = value(check_rank, i, k);
            want[where(b, 0, k) + in_places[i] / (int)sizeof(int)] = value(i, check_rank, k);
        }
    }
    MPI_Alltoallw(out + MIDDLE, counts, places, types, in + MIDDLE, in_counts, in_places, in_types, MPI_COMM_WORLD);
    same("alltoallw");

    clear();
    for (int i = 0; i < check_size; i++) {
        const layout *b = &kinds[(round_ + i + check_rank) % used]; /* the same at both ends of a pair */
        in_types[i] = b->type, in_counts[i] = b->count, in_places[i] = (220 * (i + 1) - 50) * (int)sizeof(int);
        for (int k = 0; k < BLOCK; k++) {
            in[where(b, 0, k) + in_places[i] / (int)sizeof(int)] = value(check_rank, i, k);
            want[where(b, 0, k) + in_places[i] / (int)sizeof(int)] = value(i, check_rank, k);
        }
    }
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in + MIDDLE, in_counts, in_places, in_types, MPI_COMM_WORLD);
    same("alltoallw in place");
}

/* An operation on a layout, which knows where the ints of an element are. Each int is a map x -> a x + b modulo a
 * prime, a * PRIME + b; to apply one after the other is associative, and does not commute. */
enum { PRIME = 97 };
static const layout *reduced;

static int then(int v, int w)
{
    return v / PRIME * (w / PRIME) % PRIME * PRIME + (v % PRIME * (w / PRIME) + w) % PRIME;
}

static int map_of(int from, int to, int i) { return value(from, to, i) % (PRIME * PRIME); }

static void put_maps(int *memory, int b, int from, int to)
{
    for (int i = 0; i < BLOCK; i++) memory[where(reduced, b, i)] = map_of(from, to, i);
}

static void compose(void *a, void *b, int *n, MPI_Datatype *type)
{
    int *first = (int *)a, *second = (int *)b;
    CHECK(*type == reduced->type);
    for (int k = 0; k < *n; k++)
        for (int i = 0; i < reduced->each; i++) {
            int at = k * reduced->extent + reduced->place[i];
            second[at] = then(first[at], second[at]);
        }
}

static int composed(int last, int to, int i)
{
    int v = map_of(0, to, i);
    for (int r = 1; r <= last; r++) v = then(v, map_of(r, to, i));
    return v;
}

static void wanted(int b, int last, int to)
{
    for (int i = 0; i < BLOCK; i++) want[where(reduced, b, i)] = composed(last, to, i);
}

static void reductions(void)
{
    MPI_Op op;
    int counts[MOST], total = 0;
    const layout *l = reduced = &kinds[round_ % used];
    MPI_Op_create(compose, 0, &op);
    for (int root = 0; root < check_size; root++) {
        clear();
        put_maps(out, 0, check_rank, 9);
        if (check_rank == root) put_maps(in, 0, root, 9), wanted(0, check_size - 1, 9);
        MPI_Reduce(check_rank == root ? MPI_IN_PLACE : out + MIDDLE, in + MIDDLE, l->count, l->type, op, root,
                   MPI_COMM_WORLD);
        same("reduce");
    }
    clear();
    put_maps(out, 0, check_rank, 9), wanted(0, check_size - 1, 9);
    MPI_Allreduce(out + MIDDLE, in + MIDDLE, l->count, l->type, op, MPI_COMM_WORLD);
    same("allreduce");
    MPI_Allreduce(out + MIDDLE, in + MIDDLE, 0, l->type, op, MPI_COMM_WORLD);
    same("allreduce of nothing");
    clear();
    put_maps(in, 0, check_rank, 9), wanted(0, check_rank, 9);
    MPI_Scan(MPI_IN_PLACE, in + MIDDLE, l->count, l->type, op, MPI_COMM_WORLD);
    same("scan");
    clear();
    put_maps(out, 0, check_rank, 9);
    if (check_rank > 0) wanted(0, check_rank - 1, 9);
    MPI_Exscan(out + MIDDLE, in + MIDDLE, l->count, l->type, op, MPI_COMM_WORLD);
    if (check_rank > 0) same("exscan");
    clear();
    for (int i = 0; i < check_size; i++) put_maps(out, i, check_rank, i);
    wanted(0, check_size - 1, check_rank);
    MPI_Reduce_scatter_block(out + MIDDLE, in + MIDDLE, l->count, l->type, op, MPI_COMM_WORLD);
    same("reduce_scatter_block");
    clear();
    for (int i = 0; i < check_size; i++) counts[i] = i == 1 ? 0 : l->count; /* rank 1 gets nothing */
    for (int i = 0; i < check_size; i++) {
        if (counts[i] == 0) continue;
        put_maps(out, total++, check_rank, i);
    }
    if (check_rank != 1) wanted(0, check_size - 1, check_rank);
    MPI_Reduce_scatter(out + MIDDLE, in + MIDDLE, counts, l->type, op, MPI_COMM_WORLD);
    same("reduce_scatter");
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    make_kinds();
    if (!check_library("libimpi")) used--; /* MPICH 4.0 and Open MPI 4.1 have no negative extents in collectives */
    for (round_ = 0; round_ < 2 * KINDS; round_++) {
        for (int root = 0; root < check_size; root++) rooted(root);
        to_all();
        reductions();
    }
    for (int i = 0; i < KINDS; i++) MPI_Type_free(&kinds[i].type);
    MPI_Type_free(&nothing);
    return check_end();
}
