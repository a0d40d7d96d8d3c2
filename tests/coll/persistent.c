/* Persistent collectives: made once, in the same order everywhere, and then started in any order, as often as wanted,
 * by ranks of different speed. Nothing grows meanwhile. */
/* needs: MPI_Allreduce_init */
#include "forms.h"
#include <unistd.h>

enum { ALIVE = 300 };

static forms_case cases[ALIVE];
static MPI_Request q[ALIVE];
static int alive; /* fewer where ranks are many */
static int often; /* as often what is quick inside a machine is done: less often between clients */

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

static void make(const forms_world *w, int n)
{
    static const int counts[] = {1, 0, 3, 500, 9};
    for (int i = 0; i < n; i++) {
        int op = i % FORMS_OPS, kind = i % 2 ? FORMS_PERSISTENT : FORMS_PERSISTENT_C;
        int in_place = i % 3 == 0 && forms_may_be_in_place(op);
        forms_make(&cases[i], w, op, counts[i % 5], 0, i % check_size, in_place, i % 4 == 0);
        forms_fill(&cases[i], i);
        forms_call(&cases[i].args, op, kind, &q[i]);
        CHECK(q[i] != MPI_REQUEST_NULL);
    }
}

static void drop(int n)
{
    for (int i = 0; i < n; i++) {
        CHECK_EQ(MPI_Request_free(&q[i]), MPI_SUCCESS);
        CHECK(q[i] == MPI_REQUEST_NULL);
        forms_free(&cases[i]);
    }
}

/* Hundreds alive, some started by one call, among them messages of which each rank has one. */
static void in_any_order(void)
{
    int order[ALIVE], in = -1, flag = 0, next = (check_rank + 1) % check_size, n = alive;
    int before = (check_rank + check_size - 1) % check_size;
    static MPI_Request some[ALIVE + 2];
    for (int round = 0; round < 4; round++) {
        shuffle(order, n, round);
        for (int i = 0; i < n; i++) forms_fill(&cases[i], i + round);
        for (int k = 0; k < n / 2; k++) MPI_Start(&q[order[k]]);
        MPI_Recv_init(&in, 1, MPI_INT, before, 3, MPI_COMM_WORLD, &some[0]);
        MPI_Send_init(&round, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &some[1]);
        for (int k = n / 2; k < n; k++) some[2 + k - n / 2] = q[order[k]];
        MPI_Startall(2 + n - n / 2, some);
        shuffle(order, n, round + 10);
        if (round % 2) {
            for (int k = 0; k < n; k++, flag = 0)
                for (; !flag; sched_yield()) MPI_Test(&q[order[k]], &flag, MPI_STATUS_IGNORE);
        } else MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
        MPI_Waitall(2, some, MPI_STATUSES_IGNORE);
        CHECK_EQ(in, round);
        for (int i = 0; i < n; i++) forms_check(&cases[i], "one of hundreds");
        MPI_Request_free(&some[0]);
        MPI_Request_free(&some[1]);
    }
}

/* Computes for some time. */
static volatile uint64_t sink;
static void compute(long n)
{
    check_stream s = check_seed(1);
    while (n-- > 0) check_next(&s);
    sink = s.state;
}

/* Ranks begin the next time while others are in the last one, or have not begun that. */
static void others_lag(void)
{
    for (int round = 0; round < alive / 15; round++)
        for (int op = 0; op < FORMS_OPS; op++) {
            forms_fill(&cases[op], round);
            MPI_Start(&q[op]);
            if ((round + op) % (2 * check_size) == check_rank) compute(300000);
            MPI_Wait(&q[op], MPI_STATUS_IGNORE);
            forms_check(&cases[op], "while others lag");
        }
}

/* What is active cannot be started, alone or among others, and goes on unharmed. */
static void active_ones(void)
{
    MPI_Request b, two[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &b);
    MPI_Start(&b);
    two[0] = two[1] = b;
    CHECK_CLASS(MPI_Start(&b), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Startall(2, two), MPI_ERR_REQUEST);
    MPI_Wait(&b, MPI_STATUS_IGNORE);
    MPI_Start(&b);
    MPI_Wait(&b, MPI_STATUS_IGNORE);
    MPI_Status status;
    MPI_Wait(&b, &status); /* an inactive one has an empty status */
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG && status.MPI_ERROR == MPI_SUCCESS);
    MPI_Request_free(&b);
    MPI_Ibarrier(MPI_COMM_WORLD, &b); /* not persistent */
    CHECK_CLASS(MPI_Start(&b), MPI_ERR_REQUEST);
    MPI_Wait(&b, MPI_STATUS_IGNORE);
    CHECK_CLASS(MPI_Start(&b), MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* A request outlives the communicator's handle. */
static void communicator_goes_first(void)
{
    MPI_Comm comm, after;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    forms_world w = forms_world_of(comm, 0);
    make(&w, FORMS_OPS);
    MPI_Comm_free(&comm);
    forms_world_free(&w);
    MPI_Comm_dup(MPI_COMM_WORLD, &after);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FORMS_OPS; i++) forms_fill(&cases[i], round);
        MPI_Startall(FORMS_OPS, q);
        MPI_Barrier(after);
        MPI_Waitall(FORMS_OPS, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < FORMS_OPS; i++) forms_check(&cases[i], "without its communicator");
    }
    drop(FORMS_OPS);
    MPI_Comm_free(&after);
}

enum { SHORT = 24 };

/* Short ones of a communicator whose members have met in a blocking operation before: reductions, a broadcast from each
 * rank, a gather to each, barriers. */
typedef struct {
    MPI_Comm comm;
    MPI_Request q[SHORT];
    int64_t in[SHORT], out[SHORT][8];
} short_ones;

static void make_short(short_ones *s)
{
    for (int i = 0; i < SHORT; i++) {
        int root = i % check_size;
        switch (i % 4) {
        case 0:
            MPI_Allreduce_init(&s->in[i], s->out[i], 1, MPI_INT64_T, MPI_SUM, s->comm, MPI_INFO_NULL, &s->q[i]);
            break;
        case 1: MPI_Bcast_init(&s->in[i], 1, MPI_INT64_T, root, s->comm, MPI_INFO_NULL, &s->q[i]); break;
        case 2:
            MPI_Gather_init(&s->in[i], 1, MPI_INT64_T, s->out[i], 1, MPI_INT64_T, root, s->comm, MPI_INFO_NULL,
                            &s->q[i]);
            break;
        default: MPI_Barrier_init(s->comm, MPI_INFO_NULL, &s->q[i]);
        }
    }
}

static int64_t short_value(int i, int rank, int round) { return 1000003LL * round + 1009 * i + rank; }

static void start_short(short_ones *s, int i, int round)
{
    s->in[i] = short_value(i, check_rank, round);
    memset(s->out[i], 0, sizeof s->out[i]);
    MPI_Start(&s->q[i]);
}

static void check_short(const short_ones *s, int i, int round)
{
    int root = i % check_size;
    int64_t sum = 0;
    for (int r = 0; r < check_size; r++) {
        sum += short_value(i, r, round);
        if (i % 4 == 2 && check_rank == root) CHECK_EQ(s->out[i][r], short_value(i, r, round));
    }
    if (i % 4 == 0) CHECK_EQ(s->out[i][0], sum);
    if (i % 4 == 1) CHECK_EQ(s->in[i], short_value(i, root, round));
}

static void in_turn(short_ones *s, int rounds)
{
    int order[SHORT], sum = 0, one = 1;
    for (int round = 0; round < rounds; round++) {
        MPI_Request other = MPI_REQUEST_NULL;
        shuffle(order, SHORT, round);
        for (int k = 0; k < SHORT; k++) start_short(s, order[k], round);
        if (round % 3 == 0) MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, s->comm, &other);
        if (round % 5 == 0) MPI_Barrier(s->comm);
        if (round % 2) MPI_Waitall(SHORT, s->q, MPI_STATUSES_IGNORE);
        for (int k = SHORT; k-- > 0 && round % 2 == 0;) MPI_Wait(&s->q[order[k]], MPI_STATUS_IGNORE);
        for (int i = 0; i < SHORT; i++) check_short(s, i, round);
        MPI_Wait(&other, MPI_STATUS_IGNORE);
        if (round % 3 == 0) CHECK_EQ(sum, check_size);
    }
}

/* One after the other, hundreds of times: ranks that give nothing, or get nothing, run ahead of the others. */
static void again_and_again(short_ones *s, int i)
{
    MPI_Status status;
    for (int round = 0; round < 20 * often; round++) {
        start_short(s, i, round);
        CHECK_CLASS(MPI_Start(&s->q[i]), MPI_ERR_REQUEST); /* be it over or not */
        CHECK_CLASS(MPI_Request_free(&s->q[i]), MPI_ERR_REQUEST);
        int flag = 0;
        for (; !flag && round % 3 == 0; sched_yield()) MPI_Test(&s->q[i], &flag, &status);
        if (round % 3 == 1) MPI_Wait(&s->q[i], &status);
        for (; !flag && round % 3 == 2; sched_yield()) MPI_Request_get_status(s->q[i], &flag, &status);
        MPI_Wait(&s->q[i], &status);
        CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
        check_short(s, i, round);
        if (round % (10 * often) == check_rank) compute(300000);
    }
}

/* More than can be short cuts at the same time, freed and made anew, and some that outlive their communicator. */
static void short_ones_in_any_order(void)
{
    static short_ones s;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int again = 0; again < 3; again++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &s.comm);
        MPI_Barrier(s.comm);
        make_short(&s);
        in_turn(&s, 40);
        for (int i = 0; i < 4; i++) again_and_again(&s, i + 4 * again);
        for (int i = 0; i < SHORT; i++) MPI_Request_free(&s.q[i]);
        make_short(&s);
        in_turn(&s, 20);
        for (int i = 0; i < SHORT; i++) start_short(&s, i, 1);
        MPI_Comm_free(&s.comm);
        for (int i = 0; i < SHORT; i++) {
            MPI_Wait(&s.q[i], MPI_STATUS_IGNORE);
            check_short(&s, i, 1);
            MPI_Request_free(&s.q[i]);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* Each operation by the shortest way there is for so many elements, in place and not, each rank once the root, also
 * when the communicator's handle is gone. Each time another one is the first: the last ones may find no such way. */
static void every_short_one(int least, int more, int rounds)
{
    for (int variant = 0; variant < 2 * check_size; variant++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        forms_world w = forms_world_of(comm, 0);
        MPI_Barrier(comm);
        for (int k = 0; k < FORMS_OPS; k++) {
            int i = (k + 5 * variant) % FORMS_OPS, in_place = variant % 2 && forms_may_be_in_place(i);
            forms_make(&cases[i], &w, i, least + more * (variant % 3), 0, variant / 2, in_place, variant % 5 == 4);
            forms_fill(&cases[i], 0);
            forms_call(&cases[i].args, i, FORMS_PERSISTENT, &q[i]);
        }
        for (int round = 0; round < rounds; round++) {
            if (round == rounds * 2 / 3) MPI_Comm_free(&comm);
            for (int i = 0; i < FORMS_OPS; i++) forms_fill(&cases[i], round);
            if (round % 20 == check_rank) compute(100000);
            for (int i = 0; i < FORMS_OPS; i++) {
                MPI_Start(&q[i]);
                MPI_Wait(&q[i], MPI_STATUS_IGNORE);
                forms_check(&cases[i], "the shortest way");
            }
        }
        drop(FORMS_OPS);
        forms_world_free(&w);
    }
}

static long resident_pages(void)
{
    long all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &all, &resident) == 2);
    fclose(f);
    return resident;
}

static void cycles(int n)
{
    for (int i = 0; i < n; i++) {
        int op = i % FORMS_OPS;
        MPI_Start(&q[op]);
        MPI_Wait(&q[op], MPI_STATUS_IGNORE);
    }
}

/* Made, started once or never, and freed. */
static void lives(int n)
{
    for (int i = 0; i < n; i++) {
        MPI_Request r;
        forms_call(&cases[i % FORMS_OPS].args, i % FORMS_OPS, FORMS_PERSISTENT, &r);
        if (i % 2) {
            MPI_Start(&r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&r);
        forms_call(&cases[i % FORMS_OPS].args, i % FORMS_OPS, FORMS_NONBLOCKING, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void nothing_grows(const forms_world *w)
{
    /* 64 KiB each: what leaks once a cycle shows. */
    for (int i = 0; i < FORMS_OPS; i++) {
        forms_make(&cases[i], w, i, 16000 / check_size, 0, 0, 0, i % 2);
        forms_fill(&cases[i], i);
        forms_call(&cases[i].args, i, FORMS_PERSISTENT, &q[i]);
    }
    cycles(200);
    lives(60);
    long before = resident_pages();
    cycles(300);
    long between = resident_pages();
    lives(300);
    long after = resident_pages(), page = sysconf(_SC_PAGESIZE);
    CHECK_SAY((between - before) * page < 16 << 20, "300 starts left %ld bytes behind", (between - before) * page);
    CHECK_SAY((after - between) * page < 16 << 20, "300 requests left %ld bytes behind", (after - between) * page);
    drop(FORMS_OPS);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 8);
    forms_world w = forms_world_of(MPI_COMM_WORLD, 0);
    often = check_spans() ? 2 : 10;
    alive = check_size < 8 ? ALIVE : ALIVE / 3;
    make(&w, alive);
    drop(alive); /* never started */
    make(&w, alive);
    in_any_order();
    others_lag();
    drop(alive);
    active_ones();
    communicator_goes_first();
    short_ones_in_any_order();
    every_short_one(1, 1, 6 * often);
    every_short_one(20, 73, 2 * often);
    if (check_size <= 4) every_short_one(3000, 3000, 2);
    nothing_grows(&w);
    forms_world_free(&w);
    return check_end();
}
