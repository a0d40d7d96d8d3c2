/* Processes are spawned, met and let go many times: neither descriptors nor memory are lost on the way. */
/* ranks: 1 2 */
/* serial: yes */
/* needs: MPI_Comm_spawn MPI_Comm_get_parent */
#include "family.h"
#include "leaks.h"

enum { FIRST = 20, TIMES = 100 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm parent = family_parent(), children;
    if (parent != MPI_COMM_NULL) {
        family_talk(parent, 5, 70000);
        CHECK_EQ(MPI_Comm_disconnect(&parent), MPI_SUCCESS);
        return check_end();
    }
    leaks_start start = {0};
    for (int i = 0; i < TIMES; i++) {
        children = family_spawn(argv[0], "child", 1, i % check_size, MPI_COMM_WORLD);
        family_talk(children, 5, 70000);
        CHECK_EQ(MPI_Comm_disconnect(&children), MPI_SUCCESS);
        if (i == FIRST) start = leaks_now();
    }
    leaks_check(start);
    return check_end();
}
