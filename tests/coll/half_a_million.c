/* A persistent collective on a communicator that half a million others have been called on: it is still not mistaken
 * for one of them, though ranks start it and the others in different orders. */
/* ranks: 2 */
/* clients: none */
/* needs: MPI_Iallreduce MPI_Allreduce_init */
#include "../check.h"

enum { OTHERS = 540000, AT_ONCE = 60 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int one = 1, sum = -1, in = 1000, out[AT_ONCE], first = check_rank % 2;
    MPI_Comm comm;
    MPI_Request kept, q[AT_ONCE];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &kept);
    for (int n = 0; n < OTHERS; n += AT_ONCE) {
        sum = -1;
        if (first) MPI_Start(&kept);
        for (int k = 0; k < AT_ONCE; k++) MPI_Iallreduce(&in, &out[k], 1, MPI_INT, MPI_SUM, comm, &q[k]);
        if (!first) MPI_Start(&kept);
        MPI_Waitall(AT_ONCE, q, MPI_STATUSES_IGNORE);
        MPI_Wait(&kept, MPI_STATUS_IGNORE);
        CHECK_SAY(sum == check_size, "after %d others the sum is %d", n, sum);
        for (int k = 0; k < AT_ONCE; k++) CHECK_SAY(out[k] == 1000 * check_size, "number %d is %d", n + k, out[k]);
    }
    MPI_Request_free(&kept);
    MPI_Comm_free(&comm);
    return check_end();
}
