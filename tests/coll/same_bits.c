/* All ranks get the same bits from an allreduce of floating-point numbers whose sum depends on the order, at lengths of
 * every algorithm, and get them again.
 * ranks: 2 3 4 5 8 */
#include "../check.h"

enum { LONGEST = 150000 };

static double mine[LONGEST], got[LONGEST], again[LONGEST], first[LONGEST];

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 3, 8, 100, 900, 1025, 3000, 5000, 20000, LONGEST};
    check_start(&argc, &argv);
    for (int i = 0; i < LONGEST; i++) mine[i] = 1.0 / (3 * check_rank + i % 1009 + 1);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const int n = lengths[l];
        MPI_Allreduce(mine, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (check_rank == 0) memcpy(first, got, sizeof *got * n);
        MPI_Bcast(first, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        CHECK_SAY(memcmp(got, first, sizeof *got * n) == 0, "%d numbers: not the bits that rank 0 has", n);
        MPI_Allreduce(mine, again, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        CHECK_SAY(memcmp(got, again, sizeof *got * n) == 0, "%d numbers: not the same bits again", n);
    }
    return check_end();
}
