/* 64 processes at once: they are there, all know each other and their parents, and end together. */
/* ranks: 1 2 */
/* serial: yes */
/* needs: MPI_Comm_spawn MPI_Comm_get_parent */
#include "family.h"

enum { MANY = 64 };

int main(int argc, char **argv)
{
    int sum = 0, one = 1;
    check_start(&argc, &argv);
    MPI_Comm parent = family_parent(), children, all;
    if (parent == MPI_COMM_NULL) {
        children = family_spawn(argv[0], "child", MANY, 0, MPI_COMM_WORLD);
        CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, children), MPI_SUCCESS);
        CHECK_EQ(sum, MANY);
        CHECK_EQ(MPI_Intercomm_merge(children, 0, &all), MPI_SUCCESS);
    } else {
        children = parent;
        CHECK_EQ(check_size, MANY);
        CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parent), MPI_SUCCESS);
        CHECK_EQ(MPI_Intercomm_merge(parent, 1, &all), MPI_SUCCESS);
        CHECK(sum < MANY);
    }
    CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all), MPI_SUCCESS);
    int rank, size;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    CHECK_EQ(sum, size);
    CHECK_EQ(rank >= size - MANY, parent != MPI_COMM_NULL);
    CHECK_EQ(MPI_Comm_disconnect(&all), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_disconnect(&children), MPI_SUCCESS);
    return check_end();
}
