/* MPI_Comm_disconnect waits for what is under way on a communicator, that of a freed request and of a buffer as
 * well, and then is MPI_Comm_free: attributes go, the handle is null. Between groups, too; not for the world. */
/* needs: MPI_Comm_disconnect */
#include "../check.h"

enum { LONG = 300000, BUFFERED = 40 };
static int deleted;

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
    int size;
    (void)key, (void)value, (void)extra;
    CHECK_EQ(MPI_Comm_size(comm, &size), MPI_SUCCESS); /* it is still there */
    deleted++;
    return MPI_SUCCESS;
}

/* Everybody sends to the next rank of comm and to itself, and receives. */
static void traffic(MPI_Comm comm, int to, int from)
{
    static int out[LONG], in[LONG];
    static char space[BUFFERED * (sizeof(int) + MPI_BSEND_OVERHEAD)];
    int rank;
    MPI_Request send, recv;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < LONG; i++) out[i] = rank + i, in[i] = -1;
    MPI_Buffer_attach(space, sizeof space);
    for (int i = 0; i < BUFFERED; i++) MPI_Bsend(&i, 1, MPI_INT, to, 2, comm);
    MPI_Isend(out, LONG, MPI_INT, to, 1, comm, &send);
    MPI_Request_free(&send); /* nobody waits for it but disconnect */
    MPI_Irecv(in, LONG, MPI_INT, from, 1, comm, &recv);
    MPI_Wait(&recv, MPI_STATUS_IGNORE);
    for (int i = 0; i < LONG; i += 1000) CHECK_EQ(in[i], from + i);
    for (int i = 0, got; i < BUFFERED; i++) {
        MPI_Recv(&got, 1, MPI_INT, from, 2, comm, MPI_STATUS_IGNORE);
        CHECK_EQ(got, i);
    }
    CHECK_EQ(MPI_Comm_disconnect(&comm), MPI_SUCCESS);
    CHECK(comm == MPI_COMM_NULL);
    for (int i = 0; i < LONG; i++) out[i] = -2; /* the send is over */
    void *at;
    int n;
    MPI_Buffer_detach(&at, &n);
}

int main(int argc, char **argv)
{
    int key;
    MPI_Comm dup, half, inter;
    check_start(&argc, &argv);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &key, NULL);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Comm_set_attr(dup, key, &key);
        traffic(dup, (check_rank + 1) % check_size, (check_rank + check_size - 1) % check_size);
        CHECK_EQ(deleted, turn + 1);
    }
    MPI_Comm_free_keyval(&key);
    if (check_size % 2 == 0) { /* rank i of one half with rank i of the other */
        MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(check_rank % 2), 3, &inter);
        traffic(inter, check_rank / 2, check_rank / 2);
        CHECK_EQ(MPI_Comm_disconnect(&half), MPI_SUCCESS);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm fixed[] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
    for (int i = 0; i < 3; i++) CHECK_CLASS(MPI_Comm_disconnect(&fixed[i]), MPI_ERR_COMM);
    CHECK(fixed[0] == MPI_COMM_WORLD);
    return check_end();
}
