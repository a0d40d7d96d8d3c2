/* Lost ranks are replaced, as the documentation of ULFM does it: the survivors shrink, spawn as many processes as are
 * missing, merge, and take their old ranks; the new ones take those of the lost. */
/* ranks: 4 */
/* clients: none */
/* needs: MPIX_Comm_shrink MPIX_Comm_agree MPI_Comm_spawn MPI_Comm_get_parent */
#include "ft.h"

enum { N = 4, VICTIM = 1 };

/* Whom the new one stands for it hears from rank 0 of the survivors. */
static MPI_Comm reorder(MPI_Comm merged, int old)
{
    MPI_Comm world;
    CHECK_EQ(MPI_Comm_split(merged, 0, old, &world), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free(&merged), MPI_SUCCESS);
    int rank;
    MPI_Comm_rank(world, &rank);
    CHECK_EQ(rank, old);
    compute(world, N);
    return world;
}

static int replacement(MPI_Comm parents)
{
    MPI_Comm merged, world;
    int old = -1;
    MPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Recv(&old, 1, MPI_INT, 0, 1, parents, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(old, VICTIM);
    CHECK_EQ(MPI_Intercomm_merge(parents, 1, &merged), MPI_SUCCESS);
    world = reorder(merged, old);
    CHECK_EQ(MPI_Comm_free(&world), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_disconnect(&parents), MPI_SUCCESS);
    return check_end();
}

int main(int argc, char **argv)
{
    MPI_Comm parents, shrunk, children, merged, world;
    MPI_Group failed;
    int ranks[N], rank;
    ft_start(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) return replacement(parents);
    compute(MPI_COMM_WORLD, N);
    if (check_rank == VICTIM) die();
    CHECK_FAILED(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_EQ(MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk), MPI_SUCCESS);
    CHECK_EQ(MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed), MPI_SUCCESS);
    CHECK_EQ(ranks_of(MPI_COMM_WORLD, &failed, ranks), 1);
    CHECK_EQ(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, shrunk, &children, MPI_ERRCODES_IGNORE),
             MPI_SUCCESS);
    MPI_Comm_rank(shrunk, &rank);
    if (rank == 0) CHECK_EQ(MPI_Send(ranks, 1, MPI_INT, 0, 1, children), MPI_SUCCESS);
    CHECK_EQ(MPI_Intercomm_merge(children, 0, &merged), MPI_SUCCESS);
    world = reorder(merged, check_rank);
    CHECK_EQ(MPI_Comm_free(&world), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free(&shrunk), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_disconnect(&children), MPI_SUCCESS);
    return check_end();
}
