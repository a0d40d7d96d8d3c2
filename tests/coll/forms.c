/* Each of the 17 operations in each form: blocking, nonblocking, persistent, with counts of 32 bits and of 64. They do
 * the same, with any root, in place, and into types with gaps. */
/* needs: MPI_Iallreduce MPI_Allreduce_init */
#include "forms.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 8);
    forms_world w = forms_world_of(MPI_COMM_WORLD, 0);
    const int counts[] = {0, 1, 3, 1000, 70000};
    for (int op = 0; op < FORMS_OPS; op++)
        for (int k = 0; k < (op == FORMS_BARRIER ? 1 : 5); k++) {
            /* Long ones have one root, which is another one for each operation. */
            int last = k < 3 && forms_rooted(op) ? check_size : 1, shift = k < 3 ? 0 : op;
            for (int r = 0; r < last; r += 1 + check_size / 4) {
                int root = (r + shift) % check_size;
                forms_all(&w, op, counts[k], 0, root, 0, 0);
                if (k < 4) forms_all(&w, op, counts[k], 0, root, 0, 1);
                if (forms_may_be_in_place(op)) forms_all(&w, op, counts[k], 0, root, 1, k < 4);
            }
        }
    forms_world_free(&w);
    return check_end();
}
