/* Nonblocking duplication: started, overtaken by other traffic, completed; the copy is a communicator of its own. */
/* needs: MPI_Comm_idup */
#include "../check.h"

/* Several at a time, overtaken by collectives and by other ways to make communicators. */
static void several(void)
{
    enum { MANY = 4 };
    MPI_Comm copy[MANY], other;
    MPI_Request request[MANY];
    for (int i = 0; i < MANY; i++) MPI_Comm_idup(MPI_COMM_WORLD, &copy[i], &request[i]);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &other);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&other);
    MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) {
        int sum = -1, mine = check_rank + i;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy[i]);
        CHECK_EQ(sum, check_size * (check_size - 1) / 2 + check_size * i);
    }
    for (int i = 0; i < MANY; i++) MPI_Comm_free(&copy[i]);
}

int main(int argc, char **argv)
{
    MPI_Comm copy;
    MPI_Request request;
    check_start(&argc, &argv);
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, in = -1, result = -1;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Sendrecv(&check_rank, 1, MPI_INT, next, 0, &in, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(in, previous);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    several();
    return check_end();
}
