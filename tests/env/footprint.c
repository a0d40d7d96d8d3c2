/* What a rank that has just said hello to all others takes of the machine's memory: its own, and its share of what it
 * has in common with others. It hardly grows with the number of ranks. */
/* ranks: 2 32 */
/* clients: none */
#include "../check.h"

enum { BUDGET = 16,
       OF_A_PEER = 100 }; /* MiB of a rank, and KiB more for each other one */

/* Proportional set size, in KiB; -1: the kernel does not say it. */
static long share(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    if (!f) return -1;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "Pss: %ld", &kib) == 1) break;
    fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int r = 1; r < check_size; r++) {
        int in, to = (check_rank + r) % check_size, from = (check_rank + check_size - r) % check_size;
        MPI_Sendrecv(&check_rank, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(in, from);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long kib = share(), limit = BUDGET * 1024 + OF_A_PEER * (check_size - 1);
    CHECK_SAY(kib < limit, "a rank of %d takes %ld KiB, and %ld are allowed", check_size, kib, limit);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end();
}
