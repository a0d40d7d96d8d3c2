/* Init and Finalize say where they stand, and what may be called outside of them works. */
/* ranks: 1 2 8 */
#include "../check.h"

int main(void)
{
    int flag = -1, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&flag);
    CHECK_EQ(flag, 0);
    MPI_Finalized(&flag);
    CHECK_EQ(flag, 0);
    CHECK_EQ(MPI_Get_version(&version, &subversion), MPI_SUCCESS);
    CHECK_EQ(version, MPI_VERSION);
    CHECK_EQ(subversion, MPI_SUBVERSION);
    memset(text, 'x', sizeof text);
    CHECK_EQ(MPI_Get_library_version(text, &length), MPI_SUCCESS);
    CHECK(length > 0 && length < MPI_MAX_LIBRARY_VERSION_STRING);
    if (!check_library("Open MPI v4")) /* which counts the final zero */
        CHECK_EQ(strlen(text), length);

    CHECK_EQ(MPI_Init(NULL, NULL), MPI_SUCCESS);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    MPI_Initialized(&flag);
    CHECK_EQ(flag, 1);
    MPI_Finalized(&flag);
    CHECK_EQ(flag, 0);
    int level = -1;
    CHECK_EQ(MPI_Query_thread(&level), MPI_SUCCESS);
    CHECK(level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED || level == MPI_THREAD_SERIALIZED ||
          level == MPI_THREAD_MULTIPLE);
    flag = -1;
    MPI_Is_thread_main(&flag);
    CHECK_EQ(flag, 1);

    CHECK_EQ(MPI_Finalize(), MPI_SUCCESS);
    MPI_Initialized(&flag);
    CHECK_EQ(flag, 1);
    MPI_Finalized(&flag);
    CHECK_EQ(flag, 1);
    MPI_Get_version(&version, &subversion);
    CHECK_EQ(version, MPI_VERSION);
    return 0;
}
