/* Intercommunicators: duplicated, split, created from, compared; merged in every order; all ways to send. */
/* ranks: 2 3 4 5 8 */
#include "../check.h"

static int high, rank, size, remote, lows, highs;

static void merges(MPI_Comm inter)
{
    MPI_Comm merged;
    int n, r;
    for (int up = 0; up < 2; up++) { /* the side that says it is high comes second */
        MPI_Intercomm_merge(inter, high == up, &merged);
        MPI_Comm_size(merged, &n);
        MPI_Comm_rank(merged, &r);
        CHECK_EQ(n, check_size);
        CHECK_EQ(r, high == up ? remote + rank : rank);
        MPI_Comm_free(&merged);
        MPI_Intercomm_merge(inter, up, &merged); /* both say the same: either order, but the groups stay together */
        MPI_Comm_rank(merged, &r);
        CHECK(r == rank || r == remote + rank);
        int mine = check_rank, sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, merged);
        CHECK_EQ(sum, check_size * (check_size - 1) / 2);
        MPI_Comm_free(&merged);
    }
}

static void parts(MPI_Comm inter)
{
    MPI_Comm part, copy;
    int result = -1, n, flag;
    MPI_Comm_compare(inter, inter, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Comm_compare(inter, MPI_COMM_WORLD, &result);
    CHECK_EQ(result, MPI_UNEQUAL);
    MPI_Comm_dup(inter, &copy);
    MPI_Comm_compare(inter, copy, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    MPI_Comm_free(&copy);
    /* Even and odd ranks of both sides; a side may have none of a color. */
    MPI_Comm_split(inter, rank % 2, -rank, &part);
    int there = rank % 2 ? remote / 2 : (remote + 1) / 2, here = rank % 2 ? size / 2 : (size + 1) / 2;
    CHECK((part == MPI_COMM_NULL) == (there == 0));
    if (part != MPI_COMM_NULL) {
        MPI_Comm_test_inter(part, &flag);
        CHECK(flag);
        MPI_Comm_size(part, &n);
        CHECK_EQ(n, here);
        MPI_Comm_remote_size(part, &n);
        CHECK_EQ(n, there);
        int r, sum = 0, want = 0;
        MPI_Comm_rank(part, &r);
        CHECK_EQ(r, here - 1 - rank / 2); /* the key turns the order round */
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part);
        for (int i = rank % 2; i < remote; i += 2) want += i;
        CHECK_EQ(sum, want);
        MPI_Comm_free(&part);
    }
    /* The last of each side. */
    MPI_Group group, last;
    MPI_Comm_group(inter, &group);
    int which = size - 1;
    MPI_Group_incl(group, 1, &which, &last);
    MPI_Comm_create(inter, last, &part);
    CHECK((part == MPI_COMM_NULL) == (rank != size - 1));
    if (part != MPI_COMM_NULL) {
        int in = -1;
        MPI_Sendrecv(&check_rank, 1, MPI_INT, 0, 5, &in, 1, MPI_INT, 0, 5, part, MPI_STATUS_IGNORE);
        CHECK_EQ(in, high ? lows - 1 : check_size - 1);
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&last);
}

static void messages(MPI_Comm inter)
{
    const int n = 100000; /* longer than what is sent at once */
    unsigned char *out = malloc((size_t)n), *in = malloc((size_t)n);
    MPI_Status status;
    MPI_Request request;
    int count;
    for (int r = 0; r < remote; r++) { /* every pair, the low side first */
        int key = high ? (r * 1000 + rank) : (rank * 1000 + r);
        check_fill(out, (size_t)n, (uint64_t)key);
        if (!high) {
            MPI_Ssend(out, n, MPI_BYTE, r, rank, inter);
            MPI_Recv(in, n, MPI_BYTE, r, MPI_ANY_TAG, inter, &status);
            CHECK(status.MPI_SOURCE == r && status.MPI_TAG == 7);
            CHECK_EQ(check_differs(in, (size_t)n, (uint64_t)key + 1), -1);
        } else {
            MPI_Probe(MPI_ANY_SOURCE, r, inter, &status); /* the tag tells the source */
            CHECK_EQ(status.MPI_SOURCE, r);
            MPI_Irecv(in, n, MPI_BYTE, MPI_ANY_SOURCE, r, inter, &request);
            MPI_Wait(&request, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            CHECK(status.MPI_SOURCE == r && count == n);
            CHECK_EQ(check_differs(in, (size_t)n, (uint64_t)key), -1);
            check_fill(out, (size_t)n, (uint64_t)key + 1);
            MPI_Send_init(out, n, MPI_BYTE, r, 7, inter, &request);
            MPI_Start(&request);
            MPI_Wait(&request, &status);
            MPI_Request_free(&request);
        }
    }
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    if (check_library("libimpi")) {
        CHECK_CLASS(MPI_Send(out, 1, MPI_BYTE, remote, 0, inter), MPI_ERR_RANK);
        CHECK_CLASS(MPI_Bcast(out, 1, MPI_BYTE, remote, inter), MPI_ERR_ROOT);
        CHECK_CLASS(MPI_Scan(out, in, 1, MPI_BYTE, MPI_BOR, inter), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_BYTE, MPI_BOR, inter), MPI_ERR_BUFFER);
        MPI_Comm none;
        int dims[1] = {1}, periods[1] = {0};
        CHECK_CLASS(MPI_Cart_create(inter, 1, dims, periods, 0, &none), MPI_ERR_COMM);
    }
    free(out), free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm local, inter;
    lows = (check_size + 1) / 2, highs = check_size - lows;
    high = check_rank >= lows;
    MPI_Comm_split(MPI_COMM_WORLD, high, check_rank, &local);
    /* The leaders are the last ranks. */
    MPI_Intercomm_create(local, (high ? highs : lows) - 1, MPI_COMM_WORLD, high ? lows - 1 : check_size - 1, 3, &inter);
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &remote);
    CHECK_EQ(rank, high ? check_rank - lows : check_rank);
    merges(inter);
    parts(inter);
    messages(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    return check_end();
}
