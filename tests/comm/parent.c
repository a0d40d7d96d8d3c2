/* A process that nobody has spawned has no parent: programs ask at their start. */
/* ranks: 1 2 */
/* needs: MPI_Comm_get_parent */
#include "../check.h"

int main(int argc, char **argv)
{
    MPI_Comm parent = MPI_COMM_WORLD;
    check_start(&argc, &argv);
    CHECK_EQ(MPI_Comm_get_parent(&parent), MPI_SUCCESS);
    CHECK(parent == MPI_COMM_NULL);
    return check_end();
}
