/* Nonblocking duplication: started, overtaken by other traffic, completed; the copy is a communicator of its own. */
/* needs: MPI_Comm_idup */
#include "../check.h"

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
    return check_end();
}
