/* Collectives on parts of the world, on several communicators in turn, and beside point-to-point messages that
 * look alike: none takes the others' messages. */
#include "../check.h"

static void beside_messages(void)
{
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    int in[3] = {-1, -1, -1}, sum = 0, word, all[64];
    MPI_Request request[3];
    MPI_Status status;
    for (int i = 0; i < 3; i++) MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[i]);
    /* Wild receives are open; collectives must pass them by. */
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    word = check_rank == 0 ? 99 : -1;
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK_EQ(word, 99);
    MPI_Allgather(&check_rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        word = check_rank * 10 + i;
        MPI_Send(&word, 1, MPI_INT, next, i, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        MPI_Wait(&request[i], &status);
        CHECK_EQ(in[i], previous * 10 + i);
        CHECK_EQ(status.MPI_TAG, i);
    }
}

static void sum_of(MPI_Comm comm, int want)
{
    int sum = -1;
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, want);
}

static int ranks_with(int modulus, int rest)
{
    int sum = 0;
    for (int r = 0; r < check_size; r++)
        if (r % modulus == rest) sum += r;
    return sum;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 64);
    MPI_Comm half, third, copy, reversed;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 3, -check_rank, &third);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
    beside_messages();
    for (int i = 0; i < 5; i++) {
        int word = -1, rank;
        sum_of(half, ranks_with(2, check_rank % 2));
        sum_of(copy, ranks_with(1, 0));
        sum_of(third, ranks_with(3, check_rank % 3));
        MPI_Comm_rank(reversed, &rank);
        CHECK_EQ(rank, check_size - 1 - check_rank);
        if (rank == 0) word = i * 7;
        MPI_Bcast(&word, 1, MPI_INT, 0, reversed);
        CHECK_EQ(word, i * 7);
        sum_of(MPI_COMM_SELF, check_rank);
    }
    /* Different collectives at the same time in different parts. */
    if (check_rank % 2) MPI_Barrier(half);
    else sum_of(half, ranks_with(2, 0));
    MPI_Comm_free(&half);
    MPI_Comm_free(&third);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&reversed);
    return check_end();
}
