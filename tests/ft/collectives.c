/* Collective operations of communicators of which a member is killed, while the others are in one: they raise
 * MPIX_ERR_PROC_FAILED, and so do all later ones, of every kind; those of communicators without it work on. */
/* ranks: 4 */
/* clients: none */
/* needs: MPIX_Comm_get_failed */
#include "ft.h"

enum { VICTIM = 3, N = 4 };
static MPI_Comm comm, rest, grid, inter, spare;
static MPI_Request barrier, sum;
static int in[64], out[64], ones[N] = {1, 1, 1, 1}, at[N] = {0, 1, 2, 3};
static MPI_Datatype ints[N];

static void prepare(void)
{
    MPI_Comm half;
    for (int i = 0; i < N; i++) ints[i] = MPI_INT;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(comm, &spare);
    MPI_Comm_split(comm, check_rank == VICTIM, 0, &rest);
    MPI_Cart_create(comm, 1, (int[]){N}, (int[]){1}, 0, &grid);
    MPI_Comm_split(comm, check_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, comm, 1 - check_rank % 2, 5, &inter);
    MPI_Comm_free(&half);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &barrier);
    MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &sum);
    MPI_Start(&sum);
    MPI_Wait(&sum, MPI_STATUS_IGNORE);
    compute(comm, N); /* they have their boards, or whatever they use */
    MPI_Barrier(spare);
}

static void blocking(void)
{
    CHECK_FAILED(MPI_Barrier(comm));
    CHECK_FAILED(MPI_Bcast(in, 1, MPI_INT, 0, comm));
    CHECK_FAILED(MPI_Bcast(in, 1, MPI_INT, VICTIM, comm));
    CHECK_FAILED(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm));
    CHECK_FAILED(MPI_Gatherv(in, 1, MPI_INT, out, ones, at, MPI_INT, 0, comm));
    CHECK_FAILED(MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm));
    CHECK_FAILED(MPI_Scatterv(in, ones, at, MPI_INT, out, 1, MPI_INT, 0, comm));
    CHECK_FAILED(MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm));
    CHECK_FAILED(MPI_Allgatherv(in, 1, MPI_INT, out, ones, at, MPI_INT, comm));
    CHECK_FAILED(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm));
    CHECK_FAILED(MPI_Alltoallv(in, ones, at, MPI_INT, out, ones, at, MPI_INT, comm));
    CHECK_FAILED(MPI_Alltoallw(in, ones, at, ints, out, ones, at, ints, comm));
    CHECK_FAILED(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, comm));
    CHECK_FAILED(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm));
    CHECK_FAILED(MPI_Reduce_scatter(in, out, ones, MPI_INT, MPI_SUM, comm));
    CHECK_FAILED(MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm));
    CHECK_FAILED(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, comm));
    CHECK_FAILED(MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, comm));
}

/* Where a call does not raise the error at once, its request does. */
static int ended(int code, MPI_Request *r) { return code ? code : MPI_Wait(r, MPI_STATUS_IGNORE); }

static void later(void)
{
    MPI_Request r;
    CHECK_FAILED(ended(MPI_Ibarrier(comm, &r), &r));
    CHECK_FAILED(ended(MPI_Ibcast(in, 1, MPI_INT, VICTIM, comm, &r), &r));
    CHECK_FAILED(ended(MPI_Igather(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm, &r), &r));
    CHECK_FAILED(ended(MPI_Iscatterv(in, ones, at, MPI_INT, out, 1, MPI_INT, VICTIM, comm, &r), &r));
    CHECK_FAILED(ended(MPI_Iallgather(in, 1, MPI_INT, out, 1, MPI_INT, comm, &r), &r));
    CHECK_FAILED(ended(MPI_Ialltoallw(in, ones, at, ints, out, ones, at, ints, comm, &r), &r));
    CHECK_FAILED(ended(MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, comm, &r), &r));
    CHECK_FAILED(ended(MPI_Iexscan(in, out, 1, MPI_INT, MPI_SUM, comm, &r), &r));
    for (int i = 0; i < 2; i++) {
        CHECK_FAILED(ended(MPI_Start(&barrier), &barrier));
        CHECK_FAILED(ended(MPI_Start(&sum), &sum));
    }
    CHECK_EQ(MPI_Request_free(&barrier), MPI_SUCCESS);
    CHECK_EQ(MPI_Request_free(&sum), MPI_SUCCESS);
}

static void elsewhere(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request r;
    CHECK_FAILED(MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, grid));
    CHECK_FAILED(ended(MPI_Ineighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, grid, &r), &r));
    CHECK_FAILED(MPI_Barrier(inter));
    CHECK_FAILED(MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, inter));
    CHECK_FAILED(MPI_Comm_split(comm, 0, 0, &made));
    CHECK(made == MPI_COMM_NULL);
    if (MPI_Comm_dup(comm, &made) == MPI_SUCCESS) { /* which need not communicate */
        CHECK_FAILED(MPI_Barrier(made));
        CHECK_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
    }
    compute(rest, N - 1);
    CHECK_EQ(MPI_Comm_free(&rest), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free(&grid), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free(&inter), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free(&spare), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    ft_start(&argc, &argv);
    prepare();
    if (check_rank == VICTIM) die();
    blocking();
    CHECK_EQ(lost(comm), 1);
    later();
    elsewhere();
    return check_end();
}
