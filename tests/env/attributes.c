/* The predefined attributes of MPI_COMM_WORLD, and what they promise. */
#include "../check.h"

static int get(MPI_Comm comm, int key, int **value)
{
    int flag = -1;
    *value = NULL;
    CHECK_EQ(MPI_Comm_get_attr(comm, key, value, &flag), MPI_SUCCESS);
    return flag;
}

int main(int argc, char **argv)
{
    int *value;
    check_start(&argc, &argv);
    CHECK(get(MPI_COMM_WORLD, MPI_TAG_UB, &value));
    CHECK_SAY(*value >= 32767, "MPI_TAG_UB is %d", *value);
    int highest = *value, least, most;
    MPI_Allreduce(&highest, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&highest, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(least, most);

    /* A message with the highest tag, and one with the lowest. */
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, got = -1;
    MPI_Status status;
    MPI_Sendrecv(&check_rank, 1, MPI_INT, next, highest, &got, 1, MPI_INT, previous, highest, MPI_COMM_WORLD, &status);
    CHECK_EQ(got, previous);
    CHECK_EQ(status.MPI_TAG, highest);
    MPI_Sendrecv(&check_rank, 1, MPI_INT, next, 0, &got, 1, MPI_INT, previous, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK_EQ(status.MPI_TAG, 0);

    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(get(copy, MPI_TAG_UB, &value));
    CHECK_EQ(*value, highest);
    MPI_Comm_free(&copy);

    if (get(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value)) CHECK(*value == 0 || *value == 1);
    if (get(MPI_COMM_WORLD, MPI_IO, &value)) {
        CHECK(*value == MPI_ANY_SOURCE || *value == MPI_PROC_NULL || (*value >= 0 && *value < check_size));
    }
    if (get(MPI_COMM_WORLD, MPI_HOST, &value)) CHECK(*value == MPI_PROC_NULL || (*value >= 0 && *value < check_size));
    if (get(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value)) CHECK(*value >= 1);
    if (get(MPI_COMM_WORLD, MPI_APPNUM, &value)) CHECK(*value >= 0);
    CHECK(get(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value));
    CHECK_SAY(*value >= MPI_ERR_LASTCODE, "MPI_LASTUSEDCODE is %d, MPI_ERR_LASTCODE %d", *value, MPI_ERR_LASTCODE);
    return check_end();
}
