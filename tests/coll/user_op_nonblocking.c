/* Functions of the program in nonblocking and persistent reductions: called by a thread of the program inside a call
 * of MPI, in rank order if they do not commute, with the type that the program knows. They may ask MPI things. */
/* needs: MPI_Iallreduce MPI_Allreduce_init */
#include "forms.h"
#include <pthread.h>

/* Affine maps x -> a x + b modulo a prime: composition is associative and does not commute. */
typedef struct { uint64_t a, b; } map;
enum { PRIME = 1000003, SHORT = 5, LONG = 20000 };

static MPI_Datatype map_type;
static pthread_t main_thread;
static volatile int inside; /* a call of MPI */
static long calls;

/* Every call of MPI that may carry out a reduction stands in this. */
#define IN_MPI(call) (inside = 1, (call), inside = 0)

static void compose_many(const map *first, map *second, MPI_Count n)
{
    for (MPI_Count i = 0; i < n; i++) {
        map m = {first[i].a * second[i].a % PRIME, (first[i].b * second[i].a + second[i].b) % PRIME};
        second[i] = m;
    }
}

static void called(MPI_Datatype type)
{
    int size = 0, rank = -1;
    MPI_Aint lb = -1, extent = -1;
    CHECK(inside && pthread_equal(pthread_self(), main_thread));
    CHECK(type == map_type);
    MPI_Type_size(type, &size);
    CHECK_EQ(size, sizeof(map));
    MPI_Type_get_extent(type, &lb, &extent);
    CHECK(lb == 0 && extent == (MPI_Aint)sizeof(map));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_EQ(rank, check_rank);
    CHECK(MPI_Wtime() > 0);
    calls++;
}

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    called(*type);
    compose_many(in, inout, *n);
}

static void compose_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    called(*type);
    compose_many(in, inout, *n);
}

static map of(int rank, int i, int turn)
{
    return (map){(uint64_t)(rank * 17 + i * 3 + turn + 2) % PRIME, (uint64_t)(rank * 5 + i + 7 * turn + 1) % PRIME};
}

/* Elements from .. from+n-1 of the result over the ranks first .. last. */
static void same(const map *got, int from, int n, int first, int last, int turn, const char *who)
{
    for (int i = 0; i < n; i++) {
        map m = of(first, from + i, turn);
        for (int r = first + 1; r <= last; r++) {
            map next = of(r, from + i, turn);
            compose_many(&m, &next, 1);
            m = next;
        }
        CHECK_SAY(got[i].a == m.a && got[i].b == m.b, "%s: element %d of %d", who, i, n);
    }
}

/* Computes for some time; no function may be called meanwhile. */
static volatile uint64_t sink;
static void compute(long n)
{
    check_stream s = check_seed(1);
    while (n-- > 0) check_next(&s);
    sink = s.state;
}

static map in[LONG], out[8 * LONG];

/* All reductions in all forms that return before they are done. */
static void ordered(MPI_Op op, int n)
{
    int counts[8], first = 0, last = check_size - 1;
    MPI_Count counts_c[8];
    for (int r = 0; r < check_size; r++) {
        counts_c[r] = counts[r] = n * (r + 1) / check_size - n * r / check_size;
        if (r < check_rank) first += counts[r];
    }
    const int kinds[] = {FORMS_NONBLOCKING, FORMS_PERSISTENT, FORMS_NONBLOCKING_C, FORMS_PERSISTENT_C};
    for (int what = FORMS_REDUCE; what <= FORMS_EXSCAN; what++)
        for (int k = 0; k < 4; k++) {
            int persistent = k % 2, root = (what + k) % check_size, block = n / check_size;
            MPI_Request q;
            forms_side s = {.buf = in, .count = n, .type = map_type};
            forms_side r = {.buf = out, .count = block, .counts = counts, .counts_c = counts_c};
            forms_args a = {.s = s, .r = r, .op = op, .root = root, .comm = MPI_COMM_WORLD, .info = MPI_INFO_NULL};
            for (int turn = 0; turn < 1 + 2 * persistent; turn++) {
                for (int i = 0; i < n; i++) in[i] = of(check_rank, i, turn);
                memset(out, 0xff, sizeof(map) * (size_t)n);
                if (turn == 0) IN_MPI(forms_call(&a, what, kinds[k], &q));
                if (persistent) IN_MPI(MPI_Start(&q));
                compute(100 * n);
                if (turn == 1) {
                    for (int flag = 0; !flag; sched_yield()) IN_MPI(MPI_Test(&q, &flag, MPI_STATUS_IGNORE));
                } else IN_MPI(MPI_Wait(&q, MPI_STATUS_IGNORE));
                const char *who = forms_name[what];
                switch (what) {
                case FORMS_REDUCE:
                    if (check_rank == root) same(out, 0, n, 0, last, turn, who);
                    break;
                case FORMS_ALLREDUCE: same(out, 0, n, 0, last, turn, who); break;
                case FORMS_SCAN: same(out, 0, n, 0, check_rank, turn, who); break;
                case FORMS_EXSCAN:
                    if (check_rank > 0) same(out, 0, n, 0, check_rank - 1, turn, who);
                    break;
                case FORMS_REDUCE_SCATTER: same(out, first, counts[check_rank], 0, last, turn, who); break;
                default: same(out, check_rank * block, block, 0, last, turn, who);
                }
            }
            if (persistent) MPI_Request_free(&q);
        }
}

/* A rank that waits for something else carries reductions out: without it the others would never come that far. */
static void while_something_else_is_awaited(MPI_Op op)
{
    if (check_size == 1) return;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int way = 0; way < 6; way++) {
        MPI_Request q, other;
        MPI_Status status;
        static int token[50000];
        int flag = 0, n = 50000;
        for (int i = 0; i < LONG; i++) in[i] = of(check_rank, i, way);
        IN_MPI(MPI_Iallreduce(in, out, LONG, map_type, op, MPI_COMM_WORLD, &q));
        if (check_rank == check_size - 1) { /* goes on once its reduction is done, which needs rank 0 */
            IN_MPI(MPI_Wait(&q, MPI_STATUS_IGNORE));
            if (way == 3) IN_MPI(MPI_Recv(token, n, MPI_INT, 0, 1, copy, MPI_STATUS_IGNORE));
            else IN_MPI(MPI_Send(token, n, MPI_INT, 0, 1, copy));
        } else if (check_rank == 0) {
            switch (way) {
            case 0: IN_MPI(MPI_Recv(token, n, MPI_INT, check_size - 1, 1, copy, MPI_STATUS_IGNORE)); break;
            case 1: IN_MPI(MPI_Probe(check_size - 1, 1, copy, &status)); break;
            case 2:
                for (; !flag; sched_yield()) IN_MPI(MPI_Iprobe(check_size - 1, 1, copy, &flag, &status));
                break;
            case 3: IN_MPI(MPI_Ssend(token, n, MPI_INT, check_size - 1, 1, copy)); break;
            case 4:
                MPI_Irecv(token, n, MPI_INT, check_size - 1, 1, copy, &other);
                for (; !flag; sched_yield()) IN_MPI(MPI_Test(&other, &flag, MPI_STATUS_IGNORE));
                break;
            default:
                MPI_Irecv(token, n, MPI_INT, check_size - 1, 1, copy, &other);
                IN_MPI(MPI_Waitall(1, &other, MPI_STATUSES_IGNORE));
            }
            if (way == 1 || way == 2)
                IN_MPI(MPI_Recv(token, n, MPI_INT, check_size - 1, 1, copy, MPI_STATUS_IGNORE));
            IN_MPI(MPI_Wait(&q, MPI_STATUS_IGNORE));
        } else IN_MPI(MPI_Wait(&q, MPI_STATUS_IGNORE));
        same(out, 0, LONG, 0, check_size - 1, way, "while something else is awaited");
        /* The same inside a blocking collective of another communicator. */
        IN_MPI(MPI_Iscan(in, out, LONG, map_type, op, MPI_COMM_WORLD, &q));
        if (check_rank == check_size - 1) IN_MPI(MPI_Wait(&q, MPI_STATUS_IGNORE));
        IN_MPI(MPI_Bcast(token, way % 2 ? n : 1, MPI_INT, check_size - 1, copy));
        IN_MPI(MPI_Barrier(copy));
        if (check_rank < check_size - 1) IN_MPI(MPI_Wait(&q, MPI_STATUS_IGNORE));
        same(out, 0, LONG, 0, check_rank, way, "inside a blocking collective");
    }
    MPI_Comm_free(&copy);
}

/* Several at once, and two groups of which each gets what the other has, in the order of its ranks. */
static void several(MPI_Op op)
{
    enum { AT_ONCE = 8, N = 300 };
    static map many_in[AT_ONCE][N], many_out[AT_ONCE][N];
    MPI_Request q[AT_ONCE];
    for (int k = 0; k < AT_ONCE; k++) {
        for (int i = 0; i < N; i++) many_in[k][i] = of(check_rank, i, k);
        if (k % 2) IN_MPI(MPI_Iscan(many_in[k], many_out[k], N, map_type, op, MPI_COMM_WORLD, &q[k]));
        else IN_MPI(MPI_Iallreduce(many_in[k], many_out[k], N, map_type, op, MPI_COMM_WORLD, &q[k]));
    }
    for (int k = AT_ONCE - 1; k >= 0; k--) {
        IN_MPI(MPI_Wait(&q[k], MPI_STATUS_IGNORE));
        same(many_out[k], 0, N, 0, k % 2 ? check_rank : check_size - 1, k, "several");
    }
    if (check_size == 1) return;
    MPI_Comm local, inter;
    int lows = check_size / 2, high = check_rank >= lows;
    IN_MPI(MPI_Comm_split(MPI_COMM_WORLD, high, check_rank, &local));
    IN_MPI(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, high ? 0 : lows, 3, &inter));
    for (int i = 0; i < N; i++) many_in[0][i] = of(check_rank, i, 1);
    IN_MPI(MPI_Iallreduce(many_in[0], many_out[0], N, map_type, op, inter, &q[0]));
    IN_MPI(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
    same(many_out[0], 0, N, high ? 0 : lows, high ? lows - 1 : check_size - 1, 1, "two groups");
    IN_MPI(MPI_Comm_free(&inter));
    IN_MPI(MPI_Comm_free(&local));
}

/* A type with holes: they must not be touched. */
static void add_first(void *a, void *b, MPI_Count *n, MPI_Datatype *type)
{
    const int *from = a;
    int *to = b;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    CHECK(lb == 0 && extent == 3 * (MPI_Aint)sizeof(int));
    for (MPI_Count i = 0; i < *n; i++) to[3 * i] += from[3 * i];
}

static void holes(void)
{
    enum { N = 3000 };
    static int from[3 * N], to[3 * N];
    MPI_Op op;
    MPI_Datatype sparse;
    MPI_Request q;
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &sparse);
    MPI_Type_commit(&sparse);
    MPI_Op_create_c(add_first, 1, &op);
    MPI_Allreduce_init(from, to, N, sparse, op, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 3 * N; i++) from[i] = i % 3 ? -7 : check_rank + i + turn, to[i] = -9;
        MPI_Start(&q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        for (int i = 0; i < 3 * N; i++)
            CHECK_EQ(to[i], i % 3 ? -9 : check_size * (check_size - 1) / 2 + check_size * (i + turn));
    }
    MPI_Request_free(&q);
    MPI_Op_free(&op);
    MPI_Type_free(&sparse);
}

int main(int argc, char **argv)
{
    MPI_Op op[2];
    check_start(&argc, &argv);
    CHECK(check_size <= 8);
    main_thread = pthread_self();
    MPI_Type_contiguous(2, MPI_UINT64_T, &map_type);
    MPI_Type_commit(&map_type);
    MPI_Op_create(compose, 0, &op[0]);
    MPI_Op_create_c(compose_c, 0, &op[1]);
    for (int k = 0; k < 2; k++) {
        ordered(op[k], SHORT);
        ordered(op[k], LONG);
        while_something_else_is_awaited(op[k]);
        several(op[k]);
        CHECK(check_size == 1 || calls > 0);
        calls = 0;
    }
    holes();
    MPI_Op_free(&op[0]);
    MPI_Op_free(&op[1]);
    MPI_Type_free(&map_type);
    return check_end();
}
