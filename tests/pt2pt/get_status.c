/* Requests are looked at, alone and in arrays, without being completed; statuses go to Fortran and back. */
/* ranks: 1 2 3 */
#include "../check.h"

#if MPI_VERSION > 4 || MPI_VERSION == 4 && MPI_SUBVERSION >= 1
static void arrays(void)
{
    int in[3] = {-1, -1, -1}, word = 5, flag = -1, index = -1, n = -1, indices[4];
    MPI_Request r[4];
    MPI_Status s[4];
    for (int i = 0; i < 3; i++) MPI_Irecv(&in[i], 1, MPI_INT, check_rank, i, MPI_COMM_WORLD, &r[i]);
    r[3] = MPI_REQUEST_NULL;
    MPI_Request_get_status_all(4, r, &flag, s);
    CHECK_EQ(flag, 0);
    MPI_Request_get_status_any(4, r, &index, &flag, s);
    CHECK_EQ(flag, 0);
    MPI_Request_get_status_some(4, r, &n, indices, s);
    CHECK_EQ(n, 0);
    MPI_Send(&word, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD);
    do MPI_Request_get_status_any(4, r, &index, &flag, s);
    while (!flag);
    CHECK_EQ(index, 1);
    CHECK_EQ(s[0].MPI_TAG, 1);
    MPI_Request_get_status_some(4, r, &n, indices, s);
    CHECK_EQ(n, 1);
    CHECK_EQ(indices[0], 1);
    MPI_Request_get_status_all(4, r, &flag, s);
    CHECK_EQ(flag, 0);
    MPI_Send(&word, 1, MPI_INT, check_rank, 0, MPI_COMM_WORLD);
    MPI_Send(&word, 1, MPI_INT, check_rank, 2, MPI_COMM_WORLD);
    do MPI_Request_get_status_all(4, r, &flag, s);
    while (!flag);
    for (int i = 0; i < 3; i++) CHECK_EQ(s[i].MPI_TAG, i);
    CHECK_EQ(s[3].MPI_TAG, MPI_ANY_TAG);
    CHECK(r[0] != MPI_REQUEST_NULL);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    MPI_Request_get_status_all(4, r, &flag, MPI_STATUSES_IGNORE);
    CHECK_EQ(flag, 1);
    MPI_Request_get_status_any(4, r, &index, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 1);
    CHECK_EQ(index, MPI_UNDEFINED);
    MPI_Request_get_status_some(4, r, &n, indices, MPI_STATUSES_IGNORE);
    CHECK_EQ(n, MPI_UNDEFINED);
}
#endif

static void fortran(void)
{
    MPI_Fint f[64];
    MPI_Status s, back;
    int word[2] = {1, 2}, n = -1;
    MPI_Sendrecv(word, 2, MPI_INT, check_rank, 6, word, 2, MPI_INT, check_rank, 6, MPI_COMM_WORLD, &s);
    MPI_Status_c2f(&s, f);
    memset(&back, 0, sizeof back);
    MPI_Status_f2c(f, &back);
    CHECK_EQ(back.MPI_SOURCE, check_rank);
    CHECK_EQ(back.MPI_TAG, 6);
    MPI_Get_count(&back, MPI_INT, &n);
    CHECK_EQ(n, 2);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
#if MPI_VERSION > 4 || MPI_VERSION == 4 && MPI_SUBVERSION >= 1
    arrays();
#endif
    fortran();
    return check_end();
}
