/* Sessions start anew after a loss: survivors end theirs, and make communicators of those who are left in new ones. A
 * communicator of a group that has lost a member cannot be made, and nobody waits for it. */
/* ranks: 4 */
/* needs: MPI_Session_init MPI_Comm_create_from_group MPIX_Comm_get_failed MPIX_Comm_agree */
#include "ft.h"

enum { N = 4, VICTIM = 2 };

static MPI_Session begin(MPI_Group *world)
{
    MPI_Session session;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    CHECK_EQ(MPI_Group_from_session_pset(session, "mpi://WORLD", world), MPI_SUCCESS);
    return session;
}

static MPI_Comm make(MPI_Group group, const char *tag)
{
    MPI_Comm comm;
    CHECK_EQ(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
    return comm;
}

int main(void)
{
    MPI_Group world, failed, left;
    MPI_Session session = begin(&world);
    MPI_Comm comm = make(world, "all"), next;
    MPI_Comm_rank(comm, &check_rank);
    MPI_Comm_size(comm, &check_size);
    compute(comm, N);
    MPIX_Comm_agree(comm, &(int){1}); /* all have computed */
    if (check_rank == VICTIM) die();
    CHECK_FAILED(MPI_Barrier(comm));
    CHECK_FAILED(MPI_Comm_create_from_group(world, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &next));
    CHECK_EQ(MPIX_Comm_get_failed(comm, &failed), MPI_SUCCESS);
    CHECK_EQ(MPI_Group_difference(world, failed, &left), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    MPI_Group_free(&world);
    MPI_Group_free(&failed);

    next = make(left, "within the old session");
    compute(next, N - 1);
    MPI_Comm_free(&next);
    MPI_Group_free(&left);
    CHECK_EQ(MPI_Session_finalize(&session), MPI_SUCCESS);

    int survivors[] = {0, 1, 3};
    session = begin(&world);
    CHECK_EQ(MPI_Group_incl(world, N - 1, survivors, &left), MPI_SUCCESS);
    next = make(left, "anew");
    compute(next, N - 1);
    MPI_Comm_free(&next);
    MPI_Group_free(&world);
    MPI_Group_free(&left);
    CHECK_EQ(MPI_Session_finalize(&session), MPI_SUCCESS);
    return 0;
}
