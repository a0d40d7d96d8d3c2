/* A handle names nothing even when its place has been used again as often as a handle can tell: 2^24 times. Only
 * libimpi promises that; elsewhere nothing is tested. */
/* ranks: 1 */
/* long: yes */
#include "../check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (!check_library("libimpi")) return check_end();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Datatype first, type;
    int n;
    MPI_Type_contiguous(2, MPI_INT, &first);
    type = first;
    MPI_Type_free(&type);
    for (int i = 0; i < (1 << 24) + 10; i++) {
        MPI_Type_contiguous(3, MPI_INT, &type);
        CHECK_SAY(type != first, "the first handle comes again after %d others", i);
        MPI_Type_free(&type);
    }
    CHECK_CLASS(MPI_Type_size(first, &n), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_free(&first), MPI_ERR_TYPE);
    MPI_Type_contiguous(3, MPI_INT, &type); /* there is room for others */
    CHECK_EQ(MPI_Type_size(type, &n), MPI_SUCCESS);
    MPI_Type_free(&type);
    return check_end();
}
