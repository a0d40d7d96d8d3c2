/* The world: its ranks are 0 .. size-1, each once; the clock goes forward; processors have names. */
#include "../check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(argc >= 1 && argv[argc] == NULL);
    CHECK(check_rank >= 0 && check_rank < check_size);
    int *seen = calloc((size_t)check_size, sizeof *seen), rank, size;
    CHECK_EQ(MPI_Allgather(&check_rank, 1, MPI_INT, seen, 1, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int r = 0; r < check_size; r++) CHECK_EQ(seen[r], r);
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    MPI_Comm_size(MPI_COMM_SELF, &size);
    CHECK_EQ(rank, 0);
    CHECK_EQ(size, 1);

    double tick = MPI_Wtick(), before = MPI_Wtime(), after = before;
    CHECK_SAY(tick > 0 && tick < 1, "MPI_Wtick is %g s", tick);
    for (int i = 0; i < 100000; i++) {
        double now = MPI_Wtime();
        CHECK_SAY(now >= after, "MPI_Wtime went back from %.9f to %.9f", after, now);
        after = now;
    }
    CHECK_SAY(after > before, "MPI_Wtime stands still at %.9f", after);

    char name[MPI_MAX_PROCESSOR_NAME + 1];
    int length = -1;
    memset(name, 'x', sizeof name);
    CHECK_EQ(MPI_Get_processor_name(name, &length), MPI_SUCCESS);
    CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME);
    CHECK_EQ(strlen(name), length);
    free(seen);
    return check_end();
}
