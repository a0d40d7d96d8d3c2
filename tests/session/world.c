/* Sessions beside the world model: before it, in it, and open when it ends. */
/* needs: MPI_Session_init MPI_Comm_create_from_group */
#include "../check.h"

static MPI_Comm all_of(MPI_Session s, const char *tag)
{
    MPI_Group world;
    MPI_Comm c;
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://WORLD", &world), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    MPI_Group_free(&world);
    return c;
}

static void use(MPI_Comm c)
{
    int sum = -1;
    CHECK_EQ(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, c), MPI_SUCCESS);
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
}

static MPI_Session late;

static int gone(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    CHECK(value == &late);
    return MPI_Session_finalize(&late);
}

int main(int argc, char **argv)
{
    MPI_Session before, inside;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &before), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_finalize(&before), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &before), MPI_SUCCESS);
    MPI_Comm old = all_of(before, "old");
    check_start(&argc, &argv);
    use(old);
    use(MPI_COMM_WORLD);

    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &inside), MPI_SUCCESS);
    MPI_Comm c = all_of(inside, "inside");
    int result = -1;
    CHECK_EQ(MPI_Comm_compare(c, MPI_COMM_WORLD, &result), MPI_SUCCESS);
    CHECK_EQ(result, MPI_CONGRUENT);
    use(c);
    MPI_Comm_free(&c);
    CHECK_EQ(MPI_Session_finalize(&inside), MPI_SUCCESS);
    use(MPI_COMM_WORLD);

    /* A library's session that ends when MPI_COMM_SELF goes. */
    int key;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &late), MPI_SUCCESS);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, gone, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &late);

    CHECK_EQ(MPI_Finalize(), MPI_SUCCESS);
    CHECK(late == MPI_SESSION_NULL);
    int down = 0;
    MPI_Finalized(&down);
    CHECK_EQ(down, 1);
    use(old); /* its session is open */
    MPI_Comm_free(&old);
    CHECK_EQ(MPI_Session_finalize(&before), MPI_SUCCESS);
    return 0;
}
