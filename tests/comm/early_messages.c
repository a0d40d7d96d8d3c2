/* One of two processes makes a communicator late, when the other has sent much on it already: the sender is held, the
 * memory of the receiver stays bounded, and all messages arrive. What comes on another communicator is not held up. */
/* ranks: 2 4 */
#include "early.h"

enum { MANY = 8000 }; /* messages: 64 MB */
enum { SOME = 500 };

static MPI_Comm pair; /* the first process and the last */

static MPI_Comm by_dup(void)
{
    MPI_Comm made;
    CHECK_EQ(MPI_Comm_dup(pair, &made), MPI_SUCCESS);
    return made;
}

static MPI_Comm by_idup(void)
{
    MPI_Comm made;
    MPI_Request r;
    CHECK_EQ(MPI_Comm_idup(pair, &made, &r), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    return made;
}

static MPI_Comm by_group(void)
{
    MPI_Comm made;
    MPI_Group group;
    CHECK_EQ(MPI_Comm_group(pair, &group), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_group(pair, group, 9, &made), MPI_SUCCESS);
    CHECK_EQ(MPI_Group_free(&group), MPI_SUCCESS);
    return made;
}

static MPI_Comm by_intercomm(void)
{
    MPI_Comm made;
    int me;
    MPI_Comm_rank(pair, &me);
    CHECK_EQ(MPI_Intercomm_create(MPI_COMM_SELF, 0, pair, 1 - me, 5, &made), MPI_SUCCESS);
    return made;
}

static MPI_Comm by_split(void)
{
    MPI_Comm made;
    int me;
    MPI_Comm_rank(pair, &me);
    CHECK_EQ(MPI_Comm_split(pair, 0, me, &made), MPI_SUCCESS);
    return made;
}

static void flood(const char *how, MPI_Comm (*make)(void), int many)
{
    int me, inter;
    long before = early_peak();
    MPI_Comm made;
    MPI_Comm_rank(pair, &me);
    if (me == 0) {
        if (make == by_dup) early_look(pair, 1); /* the others need both, for the most part */
        made = make();
        CHECK_SAY(early_peak() - before < EARLY_MIB, "%s: %ld MiB have become %ld", how, before, early_peak());
        MPI_Comm_test_inter(made, &inter);
        early_receive(made, inter ? 0 : 1, many, pair, 1);
    } else {
        made = make();
        early_send(made, 0, many, pair, 0);
    }
    MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int member = check_rank == 0 || check_rank == check_size - 1;
    CHECK_EQ(MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, 0, &pair), MPI_SUCCESS);
    if (member) {
        early_prepare(pair);
        flood("dup", by_dup, check_spans() ? SOME : MANY);
        flood("idup", by_idup, SOME);
        flood("create_group", by_group, SOME);
        flood("intercomm_create", by_intercomm, SOME);
        flood("split", by_split, SOME);
        MPI_Comm_free(&pair);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
