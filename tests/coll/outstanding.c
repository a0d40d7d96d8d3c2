/* Many collectives under way on the same communicators, of all kinds, are completed in any order and by any call,
 * beside blocking ones and messages. What they need may be freed meanwhile. */
/* needs: MPI_Iallreduce MPI_Allreduce_init */
#include "forms.h"

enum { MANY = 32, WAYS = 9 };

static forms_case cases[MANY];
static MPI_Request q[MANY];
static int open_cases; /* requests that are not complete yet */

static void completed(int i)
{
    if (q[i] != MPI_REQUEST_NULL) MPI_Request_free(&q[i]); /* of a persistent one */
    forms_check(&cases[i], "one of many");
    forms_free(&cases[i]);
    open_cases--;
}

/* Numbers below n, in an order that rank and seed decide. */
static void shuffle(int *order, int n, int seed)
{
    check_stream s = check_seed((uint64_t)(seed * 64 + check_rank));
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = check_below(&s, i + 1), t = order[i];
        order[i] = order[j], order[j] = t;
    }
}

/* Completed ones do not stay among the requests: a persistent one would be found again and again. */
static void complete(int way, int seed)
{
    int order[MANY], at[MANY], n = MANY, index, flag = 0, some;
    shuffle(order, MANY, seed);
    switch (way) {
    case 0:
    case 1:
        for (int k = MANY - 1; k >= 0; k--) {
            int i = way ? order[k] : k;
            MPI_Wait(&q[i], MPI_STATUS_IGNORE);
            completed(i);
        }
        break;
    case 2: /* one after the other */
        for (int k = 0; k < MANY; k++, flag = 0) {
            for (; !flag; sched_yield()) MPI_Test(&q[order[k]], &flag, MPI_STATUS_IGNORE);
            completed(order[k]);
        }
        break;
    case 3: /* all of them in turn */
        for (; n > 0; sched_yield())
            for (int k = 0; k < n; k++) {
                MPI_Test(&q[order[k]], &flag, MPI_STATUS_IGNORE);
                if (!flag) continue;
                completed(order[k]);
                order[k--] = order[--n];
            }
        break;
    case 4:
    case 5:
        while (open_cases > 0) {
            flag = 1;
            if (way == 4) MPI_Waitany(MANY, q, &index, MPI_STATUS_IGNORE);
            else MPI_Testany(MANY, q, &index, &flag, MPI_STATUS_IGNORE);
            if (flag) {
                CHECK(index >= 0 && index < MANY);
                completed(index);
            } else sched_yield();
        }
        break;
    case 6:
    case 7:
        while (open_cases > 0) {
            if (way == 6) MPI_Waitsome(MANY, q, &some, at, MPI_STATUSES_IGNORE);
            else MPI_Testsome(MANY, q, &some, at, MPI_STATUSES_IGNORE);
            CHECK(some >= (way == 6) && some <= open_cases);
            for (int k = 0; k < some; k++) completed(at[k]);
            if (some == 0) sched_yield();
        }
        break;
    default:
        for (; !flag; sched_yield()) MPI_Testall(MANY, q, &flag, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MANY; i++) completed(i);
    }
    CHECK_EQ(open_cases, 0);
}

/* What else happens on the communicator. */
static void beside(MPI_Comm comm, int i)
{
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    int out = 100 * i + check_rank, in = -1, sum = -1;
    MPI_Status status;
    switch (i % 5) {
    case 0:
        MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK_EQ(sum, 100 * i * check_size + check_size * (check_size - 1) / 2);
        break;
    case 1:
        MPI_Sendrecv(&out, 1, MPI_INT, next, i % 3, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                     MPI_STATUS_IGNORE);
        CHECK_EQ(in, 100 * i + before);
        break;
    case 2:
        MPI_Bcast(&out, 1, MPI_INT, i % check_size, comm);
        CHECK_EQ(out, 100 * i + i % check_size);
        break;
    case 3: MPI_Barrier(comm); break;
    default:
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &in, &status); /* finds nothing but messages of case 1 */
        CHECK(!in || (status.MPI_SOURCE == before && status.MPI_TAG < 3));
    }
}

/* Starts one of the first so many kinds: two that do not block, and two that are persistent. */
static void start(int i, const forms_world *w, check_stream *s, int of_kinds)
{
    static const int counts[] = {0, 1, 3, 100, 4000}, kinds[] = {FORMS_NONBLOCKING, FORMS_NONBLOCKING_C,
                                                                 FORMS_PERSISTENT, FORMS_PERSISTENT_C};
    int op = check_below(s, FORMS_OPS), kind = kinds[check_below(s, of_kinds)], n = counts[check_below(s, 5)];
    int root = check_below(s, check_size), in_place = check_below(s, 2) && forms_may_be_in_place(op);
    forms_make(&cases[i], w, op, n, 0, root, in_place, check_below(s, 2));
    forms_fill(&cases[i], i);
    forms_call(&cases[i].args, op, kind, &q[i]);
    if (kind == FORMS_PERSISTENT || kind == FORMS_PERSISTENT_C) MPI_Start(&q[i]);
    open_cases++;
}

static void many(const forms_world *w, int way, int round)
{
    check_stream s = check_seed((uint64_t)(round * WAYS + way));
    for (int i = 0; i < MANY; i++) {
        start(i, w, &s, 4);
        if (check_below(&s, 4) == 0) beside(w->comm, i);
    }
    beside(w->comm, round);
    complete(way, round);
}

/* Ranks go from one communicator to the other at different times. They make no persistent operations: that is not local
 * (MPI 5.0, 6.13), so that ranks which do it in different orders may wait for each other. */
static void on_several(const forms_world *w, const forms_world *other, int way)
{
    check_stream s = check_seed((uint64_t)way), t = check_seed((uint64_t)(way + 100));
    for (int i = 0, a = 0, b = 0; i < MANY; i++) {
        int to_other = check_rank % 2 ? i >= MANY / 2 : i % 2;
        if (to_other) start(2 * b++ + 1, other, &t, 2);
        else start(2 * a++, w, &s, 2);
    }
    complete(way, way);
}

/* Each operation goes on though its communicator, and new ones, are freed and made. */
static void communicators_go_first(void)
{
    MPI_Comm comm, after;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    forms_world w = forms_world_of(comm, 0);
    CHECK_EQ((int)FORMS_OPS, 17); /* fewer than MANY */
    for (int op = 0; op < FORMS_OPS; op++) {
        forms_make(&cases[op], &w, op, op % 2 ? 2 : 3000, 0, op % check_size, 0, 1);
        forms_fill(&cases[op], op);
        forms_call(&cases[op].args, op, FORMS_NONBLOCKING, &q[op]);
    }
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &after);
    for (int i = 0; i < 5; i++) beside(after, i);
    forms_world_free(&w); /* and with it the type with gaps */
    open_cases = FORMS_OPS;
    MPI_Waitall(FORMS_OPS, q, MPI_STATUSES_IGNORE);
    for (int op = 0; op < FORMS_OPS; op++) completed(op);
    MPI_Comm_free(&after);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout, size = 0;
    MPI_Type_size(*type, &size);
    CHECK_EQ(size, 2 * sizeof(int));
    for (int i = 0; i < 2 * *n; i++) b[i] += a[i];
}

static void types_and_operations_go_first(void)
{
    enum { N = 2000 };
    static int in[2 * N], out[3][2 * N];
    MPI_Request r[3];
    MPI_Datatype pair;
    MPI_Op op;
    for (int i = 0; i < 2 * N; i++) in[i] = check_rank + i;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(in, out[0], N, pair, op, MPI_COMM_WORLD, &r[0]);
    MPI_Iscan(in, out[1], N, pair, op, MPI_COMM_WORLD, &r[1]);
    MPI_Allreduce_init(in, out[2], N, pair, op, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Type_contiguous(3, MPI_DOUBLE, &pair); /* likely in the places of the old ones */
    MPI_Op_create(add, 0, &op);
    MPI_Start(&r[2]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * N; i++) {
        CHECK_EQ(out[0][i], check_size * (check_size - 1) / 2 + check_size * i);
        CHECK_EQ(out[1][i], check_rank * (check_rank + 1) / 2 + (check_rank + 1) * i);
        CHECK_EQ(out[2][i], out[0][i]);
    }
    MPI_Request_free(&r[2]);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

/* Nobody leaves a barrier before the last one enters it, whatever is around it. */
static void barriers(void)
{
    MPI_Request b, chain[50];
    int flag = -1, token = 1;
    for (int last = 0; last < check_size; last++) {
        if (check_rank != last) {
            MPI_Ibarrier(MPI_COMM_WORLD, &b);
            for (int i = 0; i < 3; i++) {
                MPI_Test(&b, &flag, MPI_STATUS_IGNORE);
                CHECK_EQ(flag, 0);
                MPI_Request_get_status(b, &flag, MPI_STATUS_IGNORE);
                CHECK_EQ(flag, 0);
            }
            MPI_Send(&token, 1, MPI_INT, last, 5, MPI_COMM_WORLD);
        } else {
            for (int i = 1; i < check_size; i++)
                MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Ibarrier(MPI_COMM_WORLD, &b);
        }
        MPI_Wait(&b, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 50; i++) MPI_Ibarrier(MPI_COMM_WORLD, &chain[i]);
    for (int i = 49; i >= 0; i -= 2) MPI_Wait(&chain[i], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(50, chain, MPI_STATUSES_IGNORE);
    /* The next one begins when the one before has ended. */
    for (int i = 0; i < 200; i++) {
        MPI_Ibarrier(MPI_COMM_WORLD, &b);
        for (flag = 0; !flag; sched_yield()) MPI_Test(&b, &flag, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 8);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    forms_world w = forms_world_of(MPI_COMM_WORLD, 0), other = forms_world_of(copy, 0);
    for (int round = 0; round < 3; round++)
        for (int way = 0; way < WAYS; way++) many(&w, way, round);
    for (int way = 0; way < WAYS; way++) on_several(&w, &other, way);
    for (int round = 0; round < 10; round++) communicators_go_first();
    types_and_operations_go_first();
    barriers();
    forms_world_free(&w);
    forms_world_free(&other);
    MPI_Comm_free(&copy);
    return check_end();
}
