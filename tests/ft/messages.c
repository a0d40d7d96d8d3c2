/* Messages to and from a rank that is killed: calls that wait for it, and calls that begin later, raise
 * MPIX_ERR_PROC_FAILED; receives from any source pend until the loss is acknowledged; messages between others
 * arrive. */
/* ranks: 4 */
/* clients: none */
/* needs: MPIX_Comm_get_failed MPIX_Comm_ack_failed MPIX_Comm_failure_ack MPIX_Comm_failure_get_acked */
#include "ft.h"

enum { VICTIM = 3, LONG = 1 << 20 };
static char buffer[LONG];

/* Every survivor waits for the victim in another way when it dies. */
static void wait_for_it(void)
{
    MPI_Request r;
    MPI_Status st;
    int flag = 0, index = -1;
    switch (check_rank) {
    case 0:
        CHECK_FAILED(MPI_Recv(buffer, LONG, MPI_CHAR, VICTIM, 1, MPI_COMM_WORLD, &st));
        break;
    case 1:
        CHECK_FAILED(MPI_Send(buffer, LONG, MPI_CHAR, VICTIM, 1, MPI_COMM_WORLD)); /* nobody receives it */
        break;
    case 2:
        CHECK_EQ(MPI_Irecv(buffer, LONG, MPI_CHAR, VICTIM, 1, MPI_COMM_WORLD, &r), MPI_SUCCESS);
        CHECK_FAILED(MPI_Waitany(1, &r, &index, &st));
        CHECK_EQ(index, 0);
        CHECK(r == MPI_REQUEST_NULL);
        break;
    default:
        die();
    }
    CHECK_EQ(MPI_Iprobe(0, 77, MPI_COMM_WORLD, &flag, &st), MPI_SUCCESS);
    CHECK(!flag);
}

/* What begins after the loss is known. */
static void begin_later(void)
{
    MPI_Request r, two[2];
    MPI_Message m;
    MPI_Status st, both[2];
    int flag = 0, other = (check_rank + 1) % VICTIM, before = (check_rank + 2) % VICTIM, got = -1;
    CHECK_FAILED(MPI_Recv(buffer, 1, MPI_CHAR, VICTIM, 2, MPI_COMM_WORLD, &st));
    CHECK_FAILED(MPI_Send(buffer, 1, MPI_CHAR, VICTIM, 2, MPI_COMM_WORLD));
    CHECK_FAILED(MPI_Ssend(buffer, 1, MPI_CHAR, VICTIM, 2, MPI_COMM_WORLD));
    CHECK_FAILED(MPI_Probe(VICTIM, 2, MPI_COMM_WORLD, &st));
    CHECK_FAILED(MPI_Mprobe(VICTIM, 2, MPI_COMM_WORLD, &m, &st));
    CHECK_FAILED(MPI_Iprobe(VICTIM, 2, MPI_COMM_WORLD, &flag, &st));
    CHECK_FAILED(MPI_Sendrecv(buffer, 1, MPI_CHAR, VICTIM, 2, buffer + 1, 1, MPI_CHAR, VICTIM, 2, MPI_COMM_WORLD, &st));
    MPI_Isend(buffer, LONG, MPI_CHAR, VICTIM, 2, MPI_COMM_WORLD, &r);
    CHECK_FAILED(MPI_Wait(&r, &st));
    MPI_Irecv(buffer, 1, MPI_CHAR, VICTIM, 2, MPI_COMM_WORLD, &r);
    CHECK_FAILED(MPI_Test(&r, &flag, &st));
    CHECK_EQ(MPI_Recv_init(buffer, 1, MPI_CHAR, VICTIM, 2, MPI_COMM_WORLD, &r), MPI_SUCCESS);
    MPI_Start(&r);
    CHECK_FAILED(MPI_Wait(&r, &st));
    CHECK_EQ(MPI_Request_free(&r), MPI_SUCCESS);

    MPI_Irecv(buffer, 1, MPI_CHAR, VICTIM, 2, MPI_COMM_WORLD, &two[0]);
    MPI_Irecv(&got, 1, MPI_INT, before, 3, MPI_COMM_WORLD, &two[1]);
    CHECK_EQ(MPI_Send(&check_rank, 1, MPI_INT, other, 3, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_CLASS(MPI_Waitall(2, two, both), MPI_ERR_IN_STATUS);
    CHECK_EQ(class_of(both[0].MPI_ERROR), MPIX_ERR_PROC_FAILED);
    while (both[1].MPI_ERROR == MPI_ERR_PENDING) both[1].MPI_ERROR = MPI_Wait(&two[1], MPI_STATUS_IGNORE);
    CHECK_EQ(both[1].MPI_ERROR, MPI_SUCCESS);
    CHECK_EQ(got, before);
}

/* Receives from any source: a blocking one fails, a request pends, and gets its message when the loss is known. */
static void any_source(void)
{
    MPI_Request r;
    MPI_Status st;
    MPI_Group group;
    int flag = 1, got = -1, ranks[4], acked = -1;
    int other = (check_rank + 1) % VICTIM, before = (check_rank + 2) % VICTIM;
    CHECK_FAILED(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &st));
    CHECK_FAILED(MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &st));
    CHECK_EQ(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &r), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&r, &st), MPIX_ERR_PROC_FAILED_PENDING);
    CHECK(r != MPI_REQUEST_NULL);
    CHECK_CLASS(MPI_Test(&r, &flag, &st), MPIX_ERR_PROC_FAILED_PENDING);
    CHECK(r != MPI_REQUEST_NULL);

    CHECK_EQ(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &group), MPI_SUCCESS);
    CHECK_EQ(ranks_of(MPI_COMM_WORLD, &group, ranks), 0);
    CHECK_EQ(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 0, &acked), MPI_SUCCESS);
    CHECK_EQ(acked, 0);
    CHECK_CLASS(MPIX_Comm_ack_failed(MPI_COMM_WORLD, -1, &acked), MPI_ERR_ARG);
    if (check_rank == 0) {
        CHECK_EQ(MPIX_Comm_failure_ack(MPI_COMM_WORLD), MPI_SUCCESS);
    } else {
        CHECK_EQ(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 4, &acked), MPI_SUCCESS);
        CHECK_EQ(acked, 1);
    }
    CHECK_EQ(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &group), MPI_SUCCESS);
    CHECK_EQ(ranks_of(MPI_COMM_WORLD, &group, ranks), 1);
    CHECK_EQ(ranks[0], VICTIM);

    meet(MPI_COMM_WORLD, VICTIM);
    CHECK_EQ(MPI_Send(&check_rank, 1, MPI_INT, other, 5, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r, &st), MPI_SUCCESS);
    CHECK_EQ(st.MPI_SOURCE, before);
    CHECK_EQ(got, before);
    CHECK_EQ(MPI_Send(&check_rank, 1, MPI_INT, other, 6, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &st), MPI_SUCCESS);
    CHECK_EQ(got, before);
    CHECK_FAILED(MPI_Recv(buffer, 1, MPI_CHAR, VICTIM, 7, MPI_COMM_WORLD, &st)); /* as before */
}

int main(int argc, char **argv)
{
    MPI_Group group;
    int ranks[4];
    ft_start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    wait_for_it();
    CHECK_EQ(MPIX_Comm_get_failed(MPI_COMM_WORLD, &group), MPI_SUCCESS);
    CHECK_EQ(ranks_of(MPI_COMM_WORLD, &group, ranks), 1);
    CHECK_EQ(ranks[0], VICTIM);
    begin_later();
    any_source();
    return check_end();
}
