/* Intercommunicators: two groups that talk to each other; created, used, merged. */
/* ranks: 2 3 4 8 */
#include "../check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int high = check_rank >= (check_size + 1) / 2, lows = (check_size + 1) / 2, highs = check_size - lows, rank, size,
        remote, inter = -1;
    MPI_Comm local, bridge, merged, copy;
    MPI_Comm_split(MPI_COMM_WORLD, high, check_rank, &local);
    CHECK_EQ(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, high ? 0 : lows, 99, &bridge), MPI_SUCCESS);
    MPI_Comm_test_inter(bridge, &inter);
    CHECK_EQ(inter, 1);
    MPI_Comm_rank(bridge, &rank);
    MPI_Comm_size(bridge, &size);
    MPI_Comm_remote_size(bridge, &remote);
    CHECK_EQ(rank, high ? check_rank - lows : check_rank);
    CHECK_EQ(size, high ? highs : lows);
    CHECK_EQ(remote, high ? lows : highs);
    /* Ranks name processes of the other side: everybody writes to everybody there. */
    MPI_Request *request = malloc(sizeof *request * (size_t)remote);
    MPI_Status status;
    for (int r = 0; r < remote; r++) MPI_Isend(&check_rank, 1, MPI_INT, r, 1, bridge, &request[r]);
    for (int r = remote - 1; r >= 0; r--) {
        int in = -1;
        MPI_Recv(&in, 1, MPI_INT, r, 1, bridge, &status);
        CHECK_EQ(in, high ? r : lows + r);
        CHECK_EQ(status.MPI_SOURCE, r);
    }
    MPI_Waitall(remote, request, MPI_STATUSES_IGNORE);
    free(request);
    MPI_Barrier(bridge);

    MPI_Comm_dup(bridge, &copy);
    int mine = check_rank + 1, sum = -1, want = 0;
    for (int r = 0; r < check_size; r++)
        if ((r >= lows) != high) want += r + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy); /* the sum of the other side */
    CHECK_EQ(sum, want);
    int word = high ? -1 : 77;
    MPI_Bcast(&word, 1, MPI_INT, high ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, copy);
    CHECK_EQ(word, 77);
    MPI_Comm_free(&copy);

    MPI_Intercomm_merge(bridge, high, &merged);
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    CHECK_EQ(size, check_size);
    CHECK_EQ(rank, check_rank);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQ(sum, check_size * (check_size + 1) / 2);
    MPI_Group group;
    MPI_Comm_remote_group(bridge, &group);
    MPI_Group_size(group, &size);
    CHECK_EQ(size, remote);
    MPI_Group_free(&group);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&bridge);
    MPI_Comm_free(&local);
    return check_end();
}
