/* Nonblocking duplication of intercommunicators, several at once, with messages on the old one meanwhile. */
/* needs: MPI_Comm_idup */
/* ranks: 2 3 4 8 */
#include "../check.h"

enum { N = 4 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm half, inter, c[N];
    MPI_Request r[N];
    int mine = check_rank % 2, size;
    MPI_Comm_split(MPI_COMM_WORLD, mine, check_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !mine, 9, &inter);
    MPI_Comm_remote_size(inter, &size);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "name", "value");
    for (int i = 0; i < N; i++) {
        if (i % 2) CHECK_EQ(MPI_Comm_idup_with_info(inter, info, &c[i], &r[i]), MPI_SUCCESS);
        else CHECK_EQ(MPI_Comm_idup(inter, &c[i], &r[i]), MPI_SUCCESS);
    }
    MPI_Info_free(&info);
    int sum = -1, want = 0;
    for (int k = !mine; k < check_size; k += 2) want += k;
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(sum, want);
    CHECK_EQ(MPI_Waitall(N, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = N - 1; i >= 0; i--) {
        int result, is, n;
        MPI_Comm_test_inter(c[i], &is);
        CHECK_EQ(is, 1);
        MPI_Comm_remote_size(c[i], &n);
        CHECK_EQ(n, size);
        MPI_Comm_compare(inter, c[i], &result);
        CHECK_EQ(result, MPI_CONGRUENT);
        MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, c[i]);
        CHECK_EQ(sum, want);
        MPI_Comm_free(&c[i]);
    }
    /* It may be freed while it is duplicated. */
    for (int i = 0; i < N; i++) CHECK_EQ(MPI_Comm_idup(inter, &c[i], &r[i]), MPI_SUCCESS);
    MPI_Comm_free(&inter);
    CHECK_EQ(MPI_Waitall(N, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < N; i++) {
        MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, c[i]);
        CHECK_EQ(sum, want);
        MPI_Comm_free(&c[i]);
    }
    MPI_Comm_free(&half);
    return check_end();
}
