/* A receive that nothing matches can be cancelled; one that has its message cannot. */
#include "../check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size,
        in[3] = {-1, -1, -1}, flag = -1;
    MPI_Request request[3];
    MPI_Status status;
    for (int i = 0; i < 3; i++) MPI_Irecv(&in[i], 1, MPI_INT, previous, i == 1 ? 7 : 5, MPI_COMM_WORLD, &request[i]);
    CHECK_EQ(MPI_Cancel(&request[0]), MPI_SUCCESS);
    MPI_Wait(&request[0], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK_EQ(flag, 1);
    CHECK(request[0] == MPI_REQUEST_NULL);
    MPI_Cancel(&request[1]);
    CHECK_EQ(MPI_Request_free(&request[1]), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    /* The message goes to the receive that is left, not to the cancelled one before it. */
    MPI_Send(&check_rank, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
    do MPI_Request_get_status(request[2], &flag, MPI_STATUS_IGNORE); while (!flag);
    MPI_Cancel(&request[2]);
    MPI_Wait(&request[2], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK_EQ(flag, 0);
    CHECK_EQ(in[2], previous);
    CHECK(in[0] == -1 && in[1] == -1);
    return check_end();
}
