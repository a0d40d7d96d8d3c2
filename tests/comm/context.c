/* Ten thousand communicators made and freed, and hundreds alive at once: contexts do not run out and do not mix. */
/* ranks: 1 2 4 8 */
#include "../check.h"

enum { CYCLES = 10000, ALIVE = 100 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm c, alive[ALIVE];
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, in = -1;
    /* MPICH waits for its turn with more ranks than cores; the count is what we promise. */
    int cycles = check_size > 2 && check_library("MPICH") ? 50 : CYCLES;
    /* Between clients each of them is an agreement, and many ranks wait for their turn. */
    if (check_spans() || check_size > 4) cycles /= 16;
    for (int i = 0; i < cycles; i++) {
        CHECK_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &c), MPI_SUCCESS);
        if (i % 100 == 0) {
            int out = check_rank + i;
            MPI_Sendrecv(&out, 1, MPI_INT, next, 0, &in, 1, MPI_INT, previous, 0, c, MPI_STATUS_IGNORE);
            CHECK_EQ(in, previous + i);
        }
        CHECK_EQ(MPI_Comm_free(&c), MPI_SUCCESS);
    }
    for (int i = 0; i < ALIVE; i++) {
        if (i % 3 == 2) MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &alive[i]);
        else MPI_Comm_dup(i % 3 ? alive[i - 1] : MPI_COMM_WORLD, &alive[i]);
    }
    for (int i = 0; i < ALIVE; i++) {
        int size, word = -1, rank;
        MPI_Comm_rank(alive[i], &rank);
        MPI_Comm_size(alive[i], &size);
        if (rank == size - 1) word = i;
        MPI_Bcast(&word, 1, MPI_INT, size - 1, alive[i]);
        CHECK_EQ(word, i);
    }
    for (int i = ALIVE - 1; i >= 0; i--) MPI_Comm_free(&alive[i]);
    return check_end();
}
