/* ranks: 1 2 */
/* Functions that the library has, and the headers of older MPIs have not. */
#include "../check.h"

int MPI_Status_set_error(MPI_Status *status, int err);
int MPI_Status_get_error(const MPI_Status *status, int *err);
int MPI_Status_set_source(MPI_Status *status, int source);
int MPI_Status_get_source(const MPI_Status *status, int *source);
int MPI_Abi_get_info(MPI_Info *info);

int main(int argc, char **argv)
{
    MPI_Status status;
    MPI_Info info;
    char value[16];
    int n, flag;
    check_start(&argc, &argv);

    memset(&status, 0, sizeof status);
    MPI_Status_set_error(&status, MPI_ERR_TRUNCATE);
    CHECK(status.MPI_ERROR == MPI_ERR_TRUNCATE);
    MPI_Status_get_error(&status, &n);
    CHECK(n == MPI_ERR_TRUNCATE);
    status.MPI_ERROR = 333;
    MPI_Status_get_error(&status, &n);
    CHECK(n == 333);
    MPI_Status_set_source(&status, MPI_ANY_SOURCE);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE);
    MPI_Status_get_source(&status, &n);
    CHECK(n == MPI_ANY_SOURCE);

    MPI_Abi_get_info(&info);
    MPI_Info_get(info, "mpi_aint_size", sizeof value - 1, value, &flag);
    CHECK(flag && atoi(value) == sizeof(MPI_Aint));
    MPI_Info_free(&info);
    return check_end();
}
