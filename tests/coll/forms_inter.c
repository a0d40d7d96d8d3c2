/* Each operation in each form between two groups, with roots on either side. Those that go by the order of ranks have
 * no meaning there. */
/* ranks: 2 3 4 5 8 */
/* needs: MPI_Iallreduce MPI_Allreduce_init */
#include "forms.h"

static void no_order(MPI_Comm inter)
{
    int in = 1, out = -1;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    forms_side side = {.buf = &in, .count = 1, .type = MPI_INT}, result = {.buf = &out};
    forms_args a = {.s = side, .r = result, .op = MPI_SUM, .comm = inter, .info = MPI_INFO_NULL};
    for (int op = FORMS_SCAN; op <= FORMS_EXSCAN; op++)
        for (int kind = 0; kind < FORMS_KINDS; kind++) {
            MPI_Request q = MPI_REQUEST_NULL;
            CHECK_CLASS(forms_call(&a, op, kind, &q), MPI_ERR_COMM);
            CHECK(q == MPI_REQUEST_NULL && out == -1);
        }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size >= 2 && check_size <= 8);
    MPI_Comm local, inter;
    int lows = (check_size + 1) / 2, high = check_rank >= lows;
    MPI_Comm_split(MPI_COMM_WORLD, high, check_rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, high ? 0 : lows, 7, &inter);
    forms_world w = forms_world_of(inter, high);
    const int counts[] = {0, 1, 3, 1000, 20000};
    for (int op = 0; op < FORMS_SCAN; op++)
        for (int k = 0; k < (op == FORMS_BARRIER ? 1 : 5); k++)
            for (int side = 0; side < (forms_rooted(op) ? 2 : 1); side++) {
                int ranks = side ? check_size - lows : lows;
                for (int r = 0; r < (k < 3 && forms_rooted(op) ? ranks : 1); r++)
                    forms_all(&w, op, counts[k], side, k < 3 ? r : op % ranks, 0, k % 2);
            }
    no_order(inter);
    forms_world_free(&w);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    return check_end();
}
