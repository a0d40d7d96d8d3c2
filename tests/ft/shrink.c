/* Ranks are killed one after the other, in and between calls of all kinds; the survivors agree, shrink their
 * communicator and compute on: until one is left, which ends the job as if nothing had happened. */
/* ranks: 2 6 */
/* clients: none */
/* needs: MPIX_Comm_revoke MPIX_Comm_shrink MPIX_Comm_ishrink MPIX_Comm_agree MPIX_Comm_iagree MPIX_Comm_ack_failed */
#include "ft.h"

/* The last rank dies in another way each time; the others have an error, or none. */
static int meet_death(MPI_Comm comm, int size, int rank, int way)
{
    int victim = size - 1, flag = 1, out;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request r;
    switch (way) {
    case 0: /* before a barrier */
        if (rank == victim) die();
        return MPI_Barrier(comm);
    case 1: /* before an agreement */
        if (rank == victim) die();
        return MPIX_Comm_agree(comm, &flag);
    case 2: /* in an agreement */
        CHECK_EQ(MPIX_Comm_iagree(comm, &flag, &r), MPI_SUCCESS);
        if (rank == victim) die();
        return MPI_Wait(&r, MPI_STATUS_IGNORE);
    case 3: /* in a shrink */
        CHECK_EQ(MPIX_Comm_ishrink(comm, &made, &r), MPI_SUCCESS);
        if (rank == victim) die();
        CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
        return MPI_SUCCESS;
    default: /* in a reduction of long vectors */
        if (rank == victim) die();
        return MPI_Allreduce(&rank, &out, 1, MPI_INT, MPI_SUM, comm);
    }
}

/* All survivors of a communicator of that size learn of the loss, whoever has met it. */
static MPI_Comm recover(MPI_Comm comm, int size, int rank, int way)
{
    MPI_Comm next = MPI_COMM_NULL;
    MPI_Request r;
    int acked = -1, flag = 1 << rank ^ 0xff, want = 0xff;
    CHECK_EQ(MPIX_Comm_revoke(comm), MPI_SUCCESS);
    if (way % 2) {
        CHECK_EQ(MPIX_Comm_ishrink(comm, &next, &r), MPI_SUCCESS);
        CHECK_EQ(MPI_Comm_set_errhandler(next, MPI_ERRORS_RETURN), MPI_SUCCESS);
        CHECK_CLASS(MPI_Comm_rank(next, &acked), MPI_ERR_COMM); /* it is not there yet */
        CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    } else {
        CHECK_EQ(MPIX_Comm_shrink(comm, &next), MPI_SUCCESS);
    }
    for (int i = 0; i < size - 1; i++) want &= 1 << i ^ 0xff;
    CHECK_FAILED(MPIX_Comm_agree(comm, &flag)); /* not all have acknowledged it */
    CHECK_EQ(flag, want);
    CHECK_EQ(MPIX_Comm_ack_failed(comm, size, &acked), MPI_SUCCESS);
    CHECK_EQ(acked, 1);
    flag = -1;
    CHECK_EQ(MPIX_Comm_agree(comm, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, -1);
    CHECK_EQ(lost(comm), 1);
    CHECK_EQ(lost(next), 0);
    return next;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, next;
    int rank, size;
    ft_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int way = 0;; way++) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        compute(comm, size);
        if (size == 1) break;
        int class_ = class_of(meet_death(comm, size, rank, way));
        CHECK_SAY(class_ == MPIX_ERR_PROC_FAILED || class_ == MPIX_ERR_REVOKED || class_ == MPI_SUCCESS,
                  "way %d: class %s", way, check_class_name(class_));
        next = recover(comm, size, rank, way);
        CHECK_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
        comm = next;
    }
    CHECK_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
    return check_end();
}
