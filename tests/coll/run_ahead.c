/* Ranks at different speeds: roots that run ahead of their readers, and readers that are late, for so long that those
 * who wait for them go to sleep; in Bcast, in Reduce, in Barrier; and beside messages that only a rank that waits in a
 * collective can bring on. */
#include "../check.h"

enum { ROUNDS = 500 };

/* Computes for some time. */
static volatile uint64_t sink;
static void compute(long n)
{
    check_stream s = check_seed(1);
    while (n-- > 0) check_next(&s);
    sink = s.state;
}

static int slow; /* this rank is */

static void bcasts(int root)
{
    if (slow) compute(8000000);
    for (int i = 0; i < ROUNDS; i++) {
        int word[3] = {-1, -1, -1};
        if (check_rank == root) word[0] = word[1] = word[2] = i + root;
        MPI_Bcast(word, 3, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(word[0] == i + root && word[2] == i + root);
        if (slow && i % 100 == 0) compute(1000000);
    }
}

static void reduces(int root)
{
    if (slow) compute(8000000);
    for (int i = 0; i < ROUNDS; i++) {
        long in = check_rank + i, sum = -1;
        MPI_Reduce(&in, &sum, 1, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD);
        CHECK_EQ(sum, check_rank == root ? check_size * (check_size - 1) / 2 + (long)i * check_size : -1);
        if (slow && i % 100 == 0) compute(1000000);
    }
}

static void barriers(void)
{
    for (int i = 0; i < 10; i++) {
        if (i % check_size == check_rank) compute(8000000);
        for (int k = 0; k < 10; k++) MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* A long message to a rank that waits in collectives, and one to everybody. */
static void beside_messages(void)
{
    enum { LONG = 1 << 20 };
    static char in[LONG], out[LONG];
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < 5; i++) {
        MPI_Request r[2];
        check_fill(out, LONG, (uint64_t)(check_rank * 10 + i));
        MPI_Irecv(in, LONG, MPI_CHAR, previous, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, LONG, MPI_CHAR, next, 1, MPI_COMM_WORLD, &r[1]);
        for (int k = 0; k < 50; k++) {
            int sum = 0;
            MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK_EQ(sum, check_size * (check_size - 1) / 2);
        }
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK(check_differs(in, LONG, (uint64_t)(previous * 10 + i)) < 0);
    }
    if (check_size == 1) return;
    if (check_rank == 0) { /* must get through although rank 1 only waits in a barrier */
        MPI_Ssend(out, LONG, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Request r = MPI_REQUEST_NULL;
        if (check_rank == 1) MPI_Irecv(in, LONG, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &r);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    slow = check_rank == check_size - 1;
    bcasts(0);
    reduces(0);
    reduces(check_size - 1);
    slow = check_rank == 0;
    bcasts(check_size - 1);
    reduces(0);
    barriers();
    beside_messages();
    return check_end();
}
