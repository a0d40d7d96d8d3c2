/* Sessions after MPI_Finalize, in processes of which some have had one before, so that their connections stay; those
 * that have not end with MPI_Finalize, and nobody waits for them, nor they for anybody. */
/* needs: MPI_Session_init MPI_Comm_create_from_group */
#include "../check.h"

static MPI_Comm of(MPI_Session s, int first, const char *tag)
{
    MPI_Group world, g;
    MPI_Comm c;
    int range[1][3] = {{first, check_size - 1, 2}};
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://WORLD", &world), MPI_SUCCESS);
    MPI_Group_range_incl(world, 1, range, &g);
    CHECK_EQ(MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    MPI_Group_free(&world);
    MPI_Group_free(&g);
    return c;
}

static MPI_Session begin(void)
{
    MPI_Session s;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), MPI_SUCCESS);
    return s;
}

static void use(MPI_Comm c)
{
    int size, sum = -1, one = 1;
    MPI_Comm_size(c, &size);
    CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c), MPI_SUCCESS);
    CHECK_EQ(sum, size);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Session open = MPI_SESSION_NULL;
    MPI_Comm c = MPI_COMM_NULL;
    int stays = check_rank % 2 == 0;
    if (stays) { /* of these, every second has one open when the world ends */
        MPI_Session s = begin();
        if (check_rank % 4 == 0) open = s;
        else CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Finalize(), MPI_SUCCESS);
    if (!stays) return 0;
    if (open != MPI_SESSION_NULL) CHECK_EQ(MPI_Session_finalize(&open), MPI_SUCCESS);
    for (int round = 0; round < 3; round++) {
        MPI_Session s = begin();
        c = of(s, 0, "even");
        use(c);
        MPI_Comm_free(&c);
        CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    }
    return 0;
}
