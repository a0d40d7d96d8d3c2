/* What a status says of a message: count, elements, and what does not divide. */
/* ranks: 1 2 3 */
#include "../check.h"

static void counts(MPI_Datatype type, int sent, int want_count, int want_elements)
{
    int in[64], out[64] = {0}, count = -1, elements = -1;
    MPI_Count wide = -1;
    MPI_Status status;
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    MPI_Sendrecv(out, sent, MPI_INT, next, 0, in, 8, type, previous, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &count);
    CHECK_EQ(count, want_count);
    MPI_Get_elements(&status, type, &elements);
    CHECK_EQ(elements, want_elements);
    MPI_Get_elements_x(&status, type, &wide);
    CHECK_EQ(wide, want_elements);
}

int main(int argc, char **argv)
{
    MPI_Datatype three, nested, nothing;
    check_start(&argc, &argv);
    counts(MPI_INT, 0, 0, 0);
    counts(MPI_INT, 5, 5, 5);
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&three);
    counts(three, 6, 2, 6);
    counts(three, 0, 0, 0);
    counts(three, 7, MPI_UNDEFINED, 7);
    counts(three, 1, MPI_UNDEFINED, 1);
    MPI_Type_vector(2, 1, 2, three, &nested);
    MPI_Type_commit(&nested);
    counts(nested, 6, 1, 6);
    counts(nested, 8, MPI_UNDEFINED, 8);
    counts(nested, 12, 2, 12);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    counts(nothing, 0, 0, 0);
    MPI_Type_free(&three);
    MPI_Type_free(&nested);
    MPI_Type_free(&nothing);

    /* A status can be filled by hand. */
    MPI_Status status;
    int n = -1, flag = -1;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, MPI_DOUBLE, 13);
    MPI_Get_count(&status, MPI_DOUBLE, &n);
    CHECK_EQ(n, 13);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &flag);
    CHECK_EQ(flag, 1);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Test_cancelled(&status, &flag);
    CHECK_EQ(flag, 0);
    return check_end();
}
