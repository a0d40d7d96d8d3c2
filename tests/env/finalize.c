/* Finalize runs the delete callbacks of MPI_COMM_SELF first, last set first run (MPI-3.1, 8.7.1), with MPI still
 * alive. */
#include "../check.h"

static int calls;

static int gone(MPI_Comm comm, int key, void *value, void *extra)
{
    int down = -1, rank = -1;
    (void)key;
    CHECK_EQ(MPI_Finalized(&down), MPI_SUCCESS);
    CHECK_EQ(down, 0);
    MPI_Comm_rank(comm, &rank);
    CHECK_EQ(rank, 0);
    CHECK(extra == &calls);
    CHECK_EQ((intptr_t)value, 3 - calls);
    calls++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key[3];
    check_start(&argc, &argv);
    for (intptr_t i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, gone, &key[i], &calls);
        MPI_Comm_set_attr(MPI_COMM_SELF, key[i], (void *)(i + 1));
    }
    CHECK_EQ(calls, 0);
    MPI_Finalize();
    CHECK_EQ(calls, 3);
    return 0;
}
