/* Where a call for several requests returns MPI_ERR_IN_STATUS, the error handler is told the code in the status of the
 * request that it is called for (MPI 5.0, 9.3.1). */
/* ranks: 1 2 3 */
#include "../check.h"

static int calls, told, status_code;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    calls++;
    told = *code;
    status_code = -1;
    MPI_Error_class(told, &status_code);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Errhandler mine;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Errhandler_free(&mine);
    for (int way = 0; way < 3; way++) {
        int in[2][2], word[4] = {1, 2, 3, 4}, done = 0, code = MPI_SUCCESS, order[2];
        MPI_Request request[2];
        MPI_Status status[2];
        calls = 0;
        for (int i = 0; i < 2; i++) MPI_Irecv(in[i], 2, MPI_INT, check_rank, i, comm, &request[i]);
        for (int i = 0; i < 2; i++) MPI_Send(word, i ? 4 : 2, MPI_INT, check_rank, i, comm);
        switch (way) {
        case 0: code = MPI_Waitall(2, request, status); break;
        case 1:
            while (code == MPI_SUCCESS && !done) code = MPI_Testall(2, request, &done, status);
            break;
        default: /* all at once, or one after the other */
            for (int n = 0; code == MPI_SUCCESS && n < 2; n += done)
                code = MPI_Waitsome(2, request, &done, order, status);
        }
        CHECK_CLASS(code, MPI_ERR_IN_STATUS);
        CHECK_EQ(calls, 1);
        CHECK_EQ(status_code, MPI_ERR_TRUNCATE);
        if (way < 2) CHECK_EQ(told, status[1].MPI_ERROR);
        CHECK_EQ(in[0][1], 2);
    }
    MPI_Comm_free(&comm);
    return check_end();
}
