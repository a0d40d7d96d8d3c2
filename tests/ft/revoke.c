/* A communicator is revoked while other members wait in it, for each other: all calls there raise MPIX_ERR_REVOKED from
 * then on, also those that C makes without Go; agree and shrink work, and so do other communicators. */
/* ranks: 1 4 */
/* clients: none */
/* needs: MPIX_Comm_revoke MPIX_Comm_is_revoked MPIX_Comm_shrink MPIX_Comm_agree */
#include "ft.h"

static char buffer[1 << 20];

static int is_revoked(MPI_Comm comm)
{
    int flag = -1;
    CHECK_EQ(MPIX_Comm_is_revoked(comm, &flag), MPI_SUCCESS);
    return flag;
}

/* Everybody but rank 0 waits in another way. */
static void wait_in(MPI_Comm comm)
{
    MPI_Request r;
    MPI_Status st[2];
    int flag = 0;
    switch (check_rank) {
    case 0:
        CHECK(!is_revoked(comm));
        CHECK_EQ(MPIX_Comm_revoke(comm), MPI_SUCCESS);
        CHECK_EQ(MPIX_Comm_revoke(comm), MPI_SUCCESS); /* again */
        break;
    case 1:
        CHECK_REVOKED(MPI_Recv(buffer, 1, MPI_CHAR, 2, 1, comm, st));
        break;
    case 2:
        CHECK_EQ(MPI_Irecv(buffer, 1, MPI_CHAR, MPI_ANY_SOURCE, 1, comm, &r), MPI_SUCCESS);
        CHECK_REVOKED(MPI_Wait(&r, st));
        CHECK(r == MPI_REQUEST_NULL);
        break;
    default:
        CHECK_REVOKED(MPI_Barrier(comm));
    }
    CHECK(is_revoked(comm));
    CHECK_REVOKED(MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, st));
}

/* All that begins later. */
static void use(MPI_Comm comm, int rank, int size)
{
    MPI_Request r;
    MPI_Status st;
    int in = 1, out = 0, next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Comm made;
    for (int i = 0; i < 2; i++) {
        CHECK_REVOKED(MPI_Send(&in, 1, MPI_INT, next, 2, comm));
        CHECK_REVOKED(MPI_Send(buffer, sizeof buffer, MPI_CHAR, next, 2, comm));
        CHECK_REVOKED(MPI_Recv(&out, 1, MPI_INT, before, 2, comm, &st));
        CHECK_REVOKED(MPI_Send(&in, 1, MPI_INT, rank, 2, comm));
        CHECK_REVOKED(MPI_Sendrecv(&in, 1, MPI_INT, next, 2, &out, 1, MPI_INT, before, 2, comm, &st));
        CHECK_REVOKED(MPI_Barrier(comm));
        CHECK_REVOKED(MPI_Bcast(&in, 1, MPI_INT, 0, comm));
        CHECK_REVOKED(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm));
        CHECK_REVOKED(MPI_Allreduce(buffer, buffer + sizeof buffer / 2, 1000, MPI_INT, MPI_SUM, comm));
        int code = MPI_Irecv(&out, 1, MPI_INT, before, 2, comm, &r);
        CHECK_REVOKED(code ? code : MPI_Wait(&r, &st));
        code = MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm, &r);
        CHECK_REVOKED(code ? code : MPI_Wait(&r, &st));
    }
    CHECK_REVOKED(MPI_Comm_split(comm, 0, 0, &made));
}

int main(int argc, char **argv)
{
    MPI_Comm comm, one, shrunk;
    MPI_Request started;
    int flag;
    ft_start(&argc, &argv);
    flag = check_rank == 1 ? 6 : 7;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_SELF, &one);
    MPI_Send_init(buffer, 1, MPI_CHAR, (check_rank + 1) % check_size, 3, comm, &started);
    compute(comm, check_size);
    wait_in(comm);
    use(comm, check_rank, check_size);
    int code = MPI_Start(&started);
    CHECK_REVOKED(code ? code : MPI_Wait(&started, MPI_STATUS_IGNORE));
    MPI_Request_free(&started);

    compute(one, 1);
    CHECK_EQ(MPIX_Comm_revoke(one), MPI_SUCCESS);
    use(one, 0, 1);
    compute(MPI_COMM_WORLD, check_size);
    CHECK(!is_revoked(MPI_COMM_WORLD));

    CHECK_EQ(MPIX_Comm_agree(comm, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, check_size > 1 ? 6 : 7);
    CHECK_EQ(MPIX_Comm_shrink(comm, &shrunk), MPI_SUCCESS);
    compute(shrunk, check_size);
    CHECK(!is_revoked(shrunk));
    CHECK_EQ(MPI_Comm_free(&shrunk), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free(&one), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
    return check_end();
}
