/* Short messages on an intercommunicator, in all forms that have a quick way: the rank of a message's partner is one of
 * the other group, although the caller may have the same in its own. */
/* ranks: 2 3 4 */
#include "../check.h"

static MPI_Comm inter;
static int rank, remote, high;

/* A rank may be ahead of others by a round, not by four. */
static int tag_of(int round) { return round % 4; }

/* What rank r of the group that is high, or not, says in a round. */
static int word(int of_high, int r, int round) { return 1000 * round + 100 * of_high + r; }

static void check_from(const MPI_Status *status, int in, int round)
{
    int n = -1;
    CHECK(status->MPI_SOURCE >= 0 && status->MPI_SOURCE < remote);
    CHECK_EQ(status->MPI_TAG, tag_of(round));
    CHECK_EQ(in, word(!high, status->MPI_SOURCE, round));
    MPI_Get_count(status, MPI_INT, &n);
    CHECK_EQ(n, 1);
}

/* Everybody writes to everybody of the other group. */
static void tell_all(int round)
{
    int out = word(high, rank, round);
    for (int r = 0; r < remote; r++) CHECK_EQ(MPI_Send(&out, 1, MPI_INT, r, tag_of(round), inter), MPI_SUCCESS);
}

static void posted(int round)
{
    MPI_Request request[8];
    MPI_Status status[8];
    int in[8];
    for (int r = 0; r < remote; r++) MPI_Irecv(&in[r], 1, MPI_INT, r, tag_of(round), inter, &request[r]);
    tell_all(round);
    MPI_Waitall(remote, request, status);
    for (int r = 0; r < remote; r++) {
        CHECK_EQ(status[r].MPI_SOURCE, r);
        check_from(&status[r], in[r], round);
    }
}

static void from_any(int round)
{
    MPI_Status status;
    tell_all(round);
    for (int r = 0; r < remote; r++) {
        int in = -1, there = 0;
        while (!there) MPI_Iprobe(MPI_ANY_SOURCE, tag_of(round), inter, &there, &status);
        MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, MPI_ANY_TAG, inter, &status);
        check_from(&status, in, round);
    }
    tell_all(round + 1);
    for (int r = 0; r < remote; r++) {
        int in = -1;
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, tag_of(round + 1), inter, &status);
        check_from(&status, in, round + 1);
    }
}

static void persistent(int round)
{
    MPI_Request request[2];
    MPI_Status status[2];
    int in = -1, out = word(high, rank, round), partner = rank;
    if (rank >= remote) return; /* partners are ranks that both groups have */
    MPI_Recv_init(&in, 1, MPI_INT, partner, tag_of(round), inter, &request[0]);
    MPI_Send_init(&out, 1, MPI_INT, partner, tag_of(round), inter, &request[1]);
    for (int k = 0; k < 5; k++) {
        in = -1;
        MPI_Startall(2, request);
        MPI_Waitall(2, request, status);
        check_from(&status[0], in, round);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    MPI_Sendrecv(&out, 1, MPI_INT, partner, tag_of(round), &in, 1, MPI_INT, partner, tag_of(round), inter, status);
    check_from(&status[0], in, round);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int lows = (check_size + 1) / 2, size, sum, mine = check_rank + 1, theirs = 0;
    high = check_rank >= lows;
    MPI_Comm local;
    MPI_Comm_split(MPI_COMM_WORLD, high, check_rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, high ? 0 : lows, 9, &inter);
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &remote);
    CHECK_EQ(size, high ? check_size - lows : lows);
    CHECK_EQ(remote, high ? lows : check_size - lows);
    for (int round = 0; round < 200; round += 4) {
        posted(round);
        from_any(round + 1);
        persistent(round + 3);
    }
    /* A group of one is not alone. */
    for (int r = high ? 0 : lows; r < (high ? lows : check_size); r++) theirs += r + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(sum, theirs);
    MPI_Barrier(inter);
    /* A rank that the other group does not have is an error, whatever the own group has. */
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    int class = 0;
    MPI_Error_class(MPI_Send(&mine, 1, MPI_INT, remote, 3, inter), &class);
    CHECK_EQ(class, MPI_ERR_RANK);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    return check_end();
}
