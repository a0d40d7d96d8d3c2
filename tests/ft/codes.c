/* Errors because of losses and revocations have their class as code, as in Open MPI, for which programs compare what
 * calls return, and what handlers are told, with it. */
/* ranks: 3 */
/* clients: none */
/* needs: MPIX_Comm_revoke MPIX_Comm_ack_failed */
#include "ft.h"

static int told[3], calls; /* what the handler was told */

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    if (calls < 3) told[calls] = *code;
    calls++;
}

int main(int argc, char **argv)
{
    ft_start(&argc, &argv);
    MPI_Errhandler mine;
    MPI_Comm comm;
    MPI_Status status[1];
    MPI_Request request;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, n = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (check_rank == 2) { /* when all have the communicator */
        for (int i = 0; i < 2; i++) CHECK_EQ(MPI_Recv(NULL, 0, MPI_INT, i, 3, comm, status), MPI_SUCCESS);
        die();
    }
    MPI_Send(NULL, 0, MPI_INT, 2, 3, comm); /* short, so that it is done at once */
    CHECK_EQ(MPI_Recv(NULL, 0, MPI_INT, 2, 1, comm, status), MPIX_ERR_PROC_FAILED);
    CHECK_EQ(MPI_Error_string(MPIX_ERR_PROC_FAILED, text, &length), MPI_SUCCESS);
    CHECK(length > 0);
    CHECK_EQ(MPI_Irecv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 1, comm, &request), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&request, status), MPIX_ERR_PROC_FAILED_PENDING);
    CHECK_EQ(MPIX_Comm_ack_failed(comm, 3, &n), MPI_SUCCESS);
    CHECK_EQ(n, 1);
    CHECK_EQ(MPI_Send(NULL, 0, MPI_INT, 1 - check_rank, 1, comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&request, status), MPI_SUCCESS);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Errhandler_free(&mine);
    CHECK_EQ(MPI_Irecv(NULL, 0, MPI_INT, 2, 1, comm, &request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Waitall(1, &request, status), MPI_ERR_IN_STATUS);
    CHECK_EQ(told[0], MPIX_ERR_PROC_FAILED);
    CHECK_EQ(status[0].MPI_ERROR, MPIX_ERR_PROC_FAILED);
    CHECK_EQ(MPI_Send(NULL, 0, MPI_INT, 2, 1, comm), MPIX_ERR_PROC_FAILED);
    CHECK_EQ(told[1], MPIX_ERR_PROC_FAILED);
    meet(comm, 2);
    if (check_rank == 0) CHECK_EQ(MPIX_Comm_revoke(comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Recv(NULL, 0, MPI_INT, 1 - check_rank, 2, comm, status), MPIX_ERR_REVOKED);
    CHECK_EQ(told[2], MPIX_ERR_REVOKED);
    CHECK_EQ(calls, 3);
    MPI_Comm_free(&comm);
    return check_end();
}
