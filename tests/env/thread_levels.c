/* Init_thread grants at least what can be granted in order, and says so again when asked. */
/* ranks: 1 2 3 8 */
#include "../check.h"

int main(int argc, char **argv)
{
    int provided = -1, level = -1;
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED &&
          MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE);
    CHECK_EQ(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), MPI_SUCCESS);
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
    MPI_Query_thread(&level);
    CHECK_EQ(level, provided);
    return check_end();
}
