/* Operations with a state of the program's (mpix.h): a function is told the state of its operation, of which there may
 * be any number; a destructor is called once, when the operation is freed and nothing uses it any more. */
/* ranks: 1 2 4 */
/* needs: MPIX_Op_create_x */
#include "../check.h"
#include <mpix.h>

struct offset { long more; int ended; };

/* inout += in + what the state says. */
static void added(void *in, void *inout, MPI_Count n, MPI_Datatype type, void *extra_state)
{
    const struct offset *s = extra_state;
    const long *a = in;
    long *b = inout;
    CHECK(type == MPI_LONG && !s->ended);
    for (MPI_Count i = 0; i < n; i++) b[i] += a[i] + s->more;
}

static void ended(void *extra_state) { ((struct offset *)extra_state)->ended++; }

/* What n ranks make of rank + 1. */
static long expected(long more, int n) { return n * (n + 1) / 2 + (n - 1) * more; }

static void any_number_at_once(void)
{
    enum { MANY = 600 };
    static struct offset states[MANY];
    MPI_Op ops[MANY];
    for (int i = 0; i < MANY; i++) {
        states[i] = (struct offset){i % 5, 0};
        MPIX_Op_create_x(added, ended, 0, &states[i], &ops[i]);
    }
    for (int i = 0; i < MANY; i += i < MANY - 8 ? 97 : 1) {
        long mine = check_rank + 1, all = 0, twice = 10;
        int commutes = -1;
        MPI_Op_commutative(ops[i], &commutes);
        CHECK_EQ(commutes, 0);
        MPI_Allreduce(&mine, &all, 1, MPI_LONG, ops[i], MPI_COMM_WORLD);
        CHECK_EQ(all, expected(i % 5, check_size));
        MPI_Reduce_local(&mine, &twice, 1, MPI_LONG, ops[i]);
        CHECK_EQ(twice, mine + 10 + i % 5);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(states[i].ended, 0);
        MPI_Op_free(&ops[i]);
        CHECK(ops[i] == MPI_OP_NULL);
        CHECK_EQ(states[i].ended, 1);
    }
}

/* Those that come and go leave nothing: each handle stands for the newest. */
static void one_after_the_other(void)
{
    struct offset s = {2, 0};
    for (int i = 0; i < 5000; i++) {
        MPI_Op op;
        long a = 1, b = 3;
        MPIX_Op_create_x(added, i % 2 ? ended : NULL, 1, &s, &op);
        s.ended = 0;
        MPI_Reduce_local(&a, &b, 1, MPI_LONG, op);
        CHECK_EQ(b, 6);
        MPI_Op_free(&op);
        CHECK_EQ(s.ended, i % 2);
    }
}

/* An operation lasts as long as what uses it, whether the program has freed it or not. */
static struct offset later = {3, 0}, whole = {2, 0};

static void freed_before_its_last_use(void)
{
    MPI_Op op;
    MPI_Request request;
    long mine = 0, all = 0;
    MPIX_Op_create_x(added, ended, 0, &later, &op);
    MPI_Allreduce_init(&mine, &all, 1, MPI_LONG, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Op_free(&op);
    for (int i = 0; i < 5; i++) {
        mine = check_rank + 1;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_EQ(all, expected(3, check_size));
    }
    MPI_Request_free(&request);
    MPIX_Op_create_x(added, ended, 0, &whole, &op);
    mine = check_rank + 1;
    MPI_Iallreduce(&mine, &all, 1, MPI_LONG, op, MPI_COMM_WORLD, &request);
    MPI_Op_free(&op);
    CHECK_EQ(whole.ended, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(all, expected(2, check_size));
}

static void wrong_arguments(void)
{
    MPI_Op op;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPIX_Op_create_x(NULL, ended, 1, &whole, &op), MPI_ERR_ARG);
    CHECK_CLASS(MPIX_Op_create_x(added, ended, 1, &whole, NULL), MPI_ERR_ARG);
    CHECK_EQ(whole.ended, 0);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    wrong_arguments();
    any_number_at_once();
    one_after_the_other();
    freed_before_its_last_use();
    int status = check_end();
    CHECK_EQ(later.ended, 1);
    CHECK_EQ(whole.ended, 1);
    return status;
}
