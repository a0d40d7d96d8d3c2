/* MINLOC and MAXLOC on all pair types: the extreme value, and of equal ones the lowest index. */
#include "../check.h"

enum { N = 40 };

#define PAIRS(ctype, mpitype) \
    do { \
        struct { ctype value; int index; } in_[N], low_[N], high_[N]; \
        for (int i = 0; i < N; i++) { \
            in_[i].value = (ctype)((check_rank * 7 + i) % 5 - 2); \
            in_[i].index = check_rank * 100 + i; \
        } \
        MPI_Allreduce(in_, low_, N, mpitype, MPI_MINLOC, MPI_COMM_WORLD); \
        MPI_Allreduce(in_, high_, N, mpitype, MPI_MAXLOC, MPI_COMM_WORLD); \
        for (int i = 0; i < N; i++) { \
            int low = 100, high = -100, at_low = -1, at_high = -1; \
            for (int r = check_size - 1; r >= 0; r--) { \
                int v = (r * 7 + i) % 5 - 2; \
                if (v <= low) low = v, at_low = r * 100 + i; \
                if (v >= high) high = v, at_high = r * 100 + i; \
            } \
            CHECK_SAY(low_[i].value == (ctype)low && low_[i].index == at_low, \
                      "MINLOC of %s: index %d, not %d", #mpitype, low_[i].index, at_low); \
            CHECK_SAY(high_[i].value == (ctype)high && high_[i].index == at_high, \
                      "MAXLOC of %s: index %d, not %d", #mpitype, high_[i].index, at_high); \
        } \
    } while (0)

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    PAIRS(float, MPI_FLOAT_INT);
    PAIRS(double, MPI_DOUBLE_INT);
    PAIRS(long, MPI_LONG_INT);
    PAIRS(short, MPI_SHORT_INT);
    PAIRS(int, MPI_2INT);
    PAIRS(long double, MPI_LONG_DOUBLE_INT);
    return check_end();
}
