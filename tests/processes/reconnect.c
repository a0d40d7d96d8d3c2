/* Two halves of the world connect, talk and disconnect many times: nothing is lost on the way. */
/* ranks: 2 4 */
/* needs: MPI_Comm_accept MPI_Comm_connect */
#include "family.h"
#include "leaks.h"

enum { FIRST = 20, TIMES = 200 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    leaks_start start = {0};
    for (int i = 0; i < TIMES; i++) {
        MPI_Comm inter = family_halves(MPI_COMM_WORLD);
        family_talk(inter, i, 500 * (i % 20)); /* short ones, and such that wait for their receives */
        CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
        CHECK(inter == MPI_COMM_NULL);
        if (i == FIRST) start = leaks_now();
    }
    leaks_check(start);
    return check_end();
}
