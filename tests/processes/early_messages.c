/* A spawned process sends much on a communicator that its parent has not made yet: it is held, and all arrives. */
/* ranks: 1 2 */
/* needs: MPI_Comm_spawn MPI_Comm_get_parent */
#include "family.h"
#include "../comm/early.h"

enum { MANY = 8000 }; /* 64 MB */

/* A duplicate of a communicator, on which the child floods the first of its parents. */
static void flood(MPI_Comm comm, int is_child, int parent, int child)
{
    MPI_Comm made;
    early_prepare(comm);
    long before = early_peak();
    if (!is_child && check_rank == 0) early_look(comm, child);
    CHECK_EQ(MPI_Comm_dup(comm, &made), MPI_SUCCESS);
    if (is_child) {
        early_send(made, parent, MANY, comm, parent);
    } else if (check_rank == 0) {
        CHECK_SAY(early_peak() - before < EARLY_MIB, "%ld MiB have become %ld", before, early_peak());
        early_receive(made, child, MANY, comm, child);
    }
    CHECK_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm inter = family_parent(), all;
    int is_child = inter != MPI_COMM_NULL;
    if (!is_child) inter = family_spawn(argv[0], "child", 1, 0, MPI_COMM_WORLD);
    flood(inter, is_child, 0, 0);
    CHECK_EQ(MPI_Intercomm_merge(inter, is_child, &all), MPI_SUCCESS);
    flood(all, is_child, 0, check_size);
    CHECK_EQ(MPI_Comm_free(&all), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
    return check_end();
}
