/* Sessions after MPI_Finalize, which ended all there was. Between clients the connections are gone then. */
/* needs: MPI_Session_init MPI_Comm_create_from_group */
/* clients: none */
#include "../check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Finalize();
    for (int round = 0; round < 3; round++) {
        MPI_Session s;
        MPI_Group g;
        MPI_Comm c;
        int sum = -1;
        CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), MPI_SUCCESS);
        CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://WORLD", &g), MPI_SUCCESS);
        CHECK_EQ(MPI_Comm_create_from_group(g, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
        CHECK_EQ(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, c), MPI_SUCCESS);
        CHECK_EQ(sum, check_size * (check_size - 1) / 2);
        MPI_Comm_free(&c);
        MPI_Group_free(&g);
        CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    }
    return 0;
}
