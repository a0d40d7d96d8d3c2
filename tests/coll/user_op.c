/* Operations of the program's own: called with the right types and lengths, and where they do not commute, in rank
 * order. */
#include "../check.h"

/* Affine maps x -> a x + b modulo a prime: composition is associative and does not commute. */
typedef struct { uint64_t a, b; } map;
enum { PRIME = 1000003, N = 600 };

static MPI_Datatype map_type;

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const map *first = in;
    map *second = inout;
    CHECK(*type == map_type);
    for (int i = 0; i < *n; i++) {
        map m = {first[i].a * second[i].a % PRIME, (first[i].b * second[i].a + second[i].b) % PRIME};
        second[i] = m;
    }
}

static map of(int rank, int i)
{
    return (map){(uint64_t)(rank * 17 + i * 3 + 2) % PRIME, (uint64_t)(rank * 5 + i + 1) % PRIME};
}

static map expected(int last, int i)
{
    map m = of(0, i);
    for (int r = 1; r <= last; r++) {
        map next = of(r, i);
        int one = 1;
        compose(&m, &next, &one, &map_type);
        m = next;
    }
    return m;
}

static void same(const map *got, int from, int n, int last, const char *who)
{
    for (int i = 0; i < n; i++) {
        map want = expected(last, from + i);
        CHECK_SAY(got[i].a == want.a && got[i].b == want.b, "%s: element %d", who, i);
    }
}

static void ordered(int n)
{
    static map in[N * 8], out[N * 8];
    MPI_Op op;
    int commutes = -1, counts[64], first = 0, total = 0;
    MPI_Op_create(compose, 0, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK_EQ(commutes, 0);
    for (int i = 0; i < n; i++) in[i] = of(check_rank, i);
    for (int root = 0; root < check_size; root++) {
        memset(out, 0, sizeof out);
        MPI_Reduce(in, out, n, map_type, op, root, MPI_COMM_WORLD);
        if (check_rank == root) same(out, 0, n, check_size - 1, "Reduce");
        memcpy(out, in, sizeof(map) * (size_t)n);
        MPI_Reduce(check_rank == root ? MPI_IN_PLACE : (void *)in, out, n, map_type, op, root, MPI_COMM_WORLD);
        if (check_rank == root) same(out, 0, n, check_size - 1, "Reduce in place");
    }
    MPI_Allreduce(in, out, n, map_type, op, MPI_COMM_WORLD);
    same(out, 0, n, check_size - 1, "Allreduce");
    MPI_Scan(in, out, n, map_type, op, MPI_COMM_WORLD);
    same(out, 0, n, check_rank, "Scan");
    MPI_Exscan(in, out, n, map_type, op, MPI_COMM_WORLD);
    if (check_rank > 0) same(out, 0, n, check_rank - 1, "Exscan");
    for (int r = 0; r < check_size; r++) {
        counts[r] = n * (r + 1) / check_size - n * r / check_size;
        if (r < check_rank) first += counts[r];
        total += counts[r];
    }
    CHECK_EQ(total, n);
    MPI_Reduce_scatter(in, out, counts, map_type, op, MPI_COMM_WORLD);
    same(out, first, counts[check_rank], check_size - 1, "Reduce_scatter");
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
}

/* An operation on a type with holes: they must not be touched. */
static void add_first(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *n; i++) b[3 * i] += a[3 * i];
}

static void holes(void)
{
    MPI_Op op;
    MPI_Datatype sparse;
    int in[30], out[30];
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    MPI_Op_create(add_first, 1, &op);
    for (int i = 0; i < 30; i++) in[i] = i % 3 ? -7 : check_rank + i, out[i] = -9;
    MPI_Allreduce(in, out, 10, sparse, op, MPI_COMM_WORLD);
    for (int i = 0; i < 30; i++) CHECK_EQ(out[i], i % 3 ? -9 : check_size * (check_size - 1) / 2 + check_size * i);
    MPI_Op_free(&op);
    MPI_Type_free(&sparse);
}

int main(int argc, char **argv)
{
    int commutes = -1;
    check_start(&argc, &argv);
    MPI_Type_contiguous(2, MPI_UINT64_T, &map_type);
    MPI_Type_commit(&map_type);
    ordered(1);
    ordered(N);
    holes();
    MPI_Op_commutative(MPI_SUM, &commutes);
    CHECK_EQ(commutes, 1);
    MPI_Type_free(&map_type);
    return check_end();
}
