/* Children spawn children: each generation talks with the one before and the one after it, and the first ends last. */
/* ranks: 1 2 4 */
/* needs: MPI_Comm_spawn MPI_Comm_get_parent */
#include "family.h"

enum { GENERATIONS = 4 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm parent = family_parent(), children = MPI_COMM_NULL;
    int generation = argc > 1 ? atoi(argv[1]) : 0, below = 0, all = 0, here = check_size;
    CHECK_EQ(parent == MPI_COMM_NULL, generation == 0);
    char next[] = {(char)('1' + generation), 0};
    if (generation + 1 < GENERATIONS) children = family_spawn(argv[0], next, 1 + generation % 2, 0, MPI_COMM_WORLD);
    /* The youngest are counted first. */
    if (children != MPI_COMM_NULL) {
        family_talk(children, generation + 1, 3000);
        CHECK_EQ(MPI_Bcast(&below, 1, MPI_INT, 0, children), MPI_SUCCESS);
        CHECK_EQ(MPI_Comm_disconnect(&children), MPI_SUCCESS);
    }
    all = here + below;
    if (parent != MPI_COMM_NULL) {
        family_talk(parent, generation, 3000);
        CHECK_EQ(MPI_Bcast(&all, 1, MPI_INT, check_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, parent), MPI_SUCCESS);
        CHECK_EQ(MPI_Comm_disconnect(&parent), MPI_SUCCESS);
    } else {
        CHECK_EQ(all, check_size + 1 + 2 + 1);
    }
    return check_end();
}
