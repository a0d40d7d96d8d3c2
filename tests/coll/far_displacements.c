/* Displacements and counts that need 64 bits, in the forms that have them: blocks that lie gigabytes apart, in memory
 * of which only these blocks are ever touched, and billions of elements that have no size. */
/* ranks: 1 2 3 */
/* needs: MPI_Iallreduce MPI_Allreduce_init */
#include "forms.h"
#include <sys/mman.h>

enum { N = 1000 };

static const MPI_Count apart = ((MPI_Count)1 << 32) + 3; /* bytes */

/* What rank from sends to rank to as byte i. */
static char value(int from, int to, int i) { return (char)(from * 31 + to * 7 + i); }

static void put(char *all)
{
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < N; i++) all[r * apart + i] = value(check_rank, r, i);
}

static void arrived(char *all, int alltoall, const char *who)
{
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < N; i++) {
            char want = value(r, alltoall ? check_rank : 0, i);
            CHECK_SAY(all[r * apart + i] == want, "%s: byte %d of rank %d", who, i, r);
            all[r * apart + i] = 0;
        }
}

static void run(const forms_args *a, int op, int kind)
{
    MPI_Request q = MPI_REQUEST_NULL;
    forms_call(a, op, kind, &q);
    if (kind == FORMS_PERSISTENT_C || kind == FORMS_PERSISTENT) MPI_Start(&q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    if (q != MPI_REQUEST_NULL) MPI_Request_free(&q);
}

static void blocks(char *out, char *in)
{
    static char mine[N];
    const int kinds[] = {FORMS_BLOCKING_C, FORMS_NONBLOCKING_C, FORMS_PERSISTENT_C};
    int counts[3] = {N, N, N}, dims[1] = {check_size}, periods[1] = {1};
    MPI_Count counts_c[3] = {N, N, N};
    MPI_Aint displs_c[3] = {0, apart, 2 * apart};
    MPI_Datatype types[3] = {MPI_CHAR, MPI_CHAR, MPI_CHAR};
    forms_side s = {.buf = out, .count = N, .type = MPI_CHAR, .counts = counts, .counts_c = counts_c,
                    .displs_c = displs_c, .types = types};
    forms_args a = {.s = s, .r = s, .comm = MPI_COMM_WORLD, .info = MPI_INFO_NULL};
    for (int k = 0; k < 3; k++) {
        a.s.buf = out, a.r.buf = in;
        put(out);
        run(&a, FORMS_ALLTOALLV, kinds[k]);
        arrived(in, 1, "alltoallv");
        run(&a, FORMS_ALLTOALLW, kinds[k]);
        arrived(in, 1, "alltoallw");
        a.r.buf = mine;
        for (a.root = 0; a.root < check_size; a.root++) {
            run(&a, FORMS_SCATTERV, kinds[k]);
            for (int i = 0; i < N; i++) CHECK(mine[i] == value(a.root, check_rank, i));
        }
        a.s.buf = mine, a.r.buf = in;
        for (int i = 0; i < N; i++) mine[i] = value(check_rank, 0, i);
        run(&a, FORMS_ALLGATHERV, kinds[k]);
        arrived(in, 0, "allgatherv");
        a.root = check_size - 1;
        run(&a, FORMS_GATHERV, kinds[k]);
        if (check_rank == a.root) arrived(in, 0, "gatherv");
        /* In place: the blocks change sides. */
        put(in);
        a.s.buf = MPI_IN_PLACE;
        run(&a, FORMS_ALLTOALLV, kinds[k]);
        arrived(in, 1, "alltoallv in place");
    }
    /* Displacements of neighbors are MPI_Aint in all forms. */
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &a.comm);
    int before = (check_rank + check_size - 1) % check_size, next = (check_rank + 1) % check_size;
    put(out);
    a.s.buf = out, a.r.buf = in;
    for (int kind = 0; kind < FORMS_KINDS; kind++) {
        run(&a, FORMS_NEIGHBOR_ALLTOALLW, kind);
        for (int i = 0; i < N; i++) {
            CHECK(in[i] == value(before, 1, i) && in[apart + i] == value(next, 0, i));
            in[i] = in[apart + i] = 0;
        }
    }
    MPI_Comm_free(&a.comm);
}

static void without_size(void)
{
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    char byte = 7, other = 8;
    MPI_Count many = ((MPI_Count)1 << 33) + 1;
    forms_side s = {.buf = &byte, .count = many, .type = nothing}, r = {.buf = &other, .count = many, .type = nothing};
    forms_args a = {.s = s, .r = r, .comm = MPI_COMM_WORLD, .info = MPI_INFO_NULL};
    const int ops[] = {FORMS_BCAST, FORMS_GATHER, FORMS_SCATTER, FORMS_ALLGATHER, FORMS_ALLTOALL};
    for (int k = 0; k < 5; k++)
        for (int kind = FORMS_BLOCKING_C; kind < FORMS_KINDS; kind++) run(&a, ops[k], kind);
    CHECK(byte == 7 && other == 8);
    MPI_Type_free(&nothing);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 3);
    size_t size = (size_t)(3 * apart);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *out = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    char *in = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    int have = out != MAP_FAILED && in != MAP_FAILED, all = 0;
    MPI_Allreduce(&have, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all) blocks(out, in);
    else if (check_rank == 0) printf("skipped: no room for %zu bytes of addresses\n", 2 * size);
    without_size();
    return check_end();
}
