/* What the binary interface says of itself, before, between and after; of LOGICAL what the program says first. */
/* needs: MPI_Abi_get_info MPI_Abi_set_fortran_booleans MPI_Abi_set_fortran_info */
/* ranks: 1 2 3 8 */
#include "../check.h"

static int number(MPI_Info info, const char *key)
{
    char value[64] = "";
    int room = sizeof value, flag = 0;
    CHECK_EQ(MPI_Info_get_string(info, key, &room, value, &flag), MPI_SUCCESS);
    CHECK_SAY(flag, "there is no key %s", key);
    return strcmp(value, "true") == 0 ? 1 : strcmp(value, "false") == 0 ? 0 : atoi(value);
}

static void look(void)
{
    MPI_Info info;
    int major = -1, minor = -1, n;
    CHECK_EQ(MPI_Abi_get_version(&major, &minor), MPI_SUCCESS);
    CHECK_EQ(major, MPI_ABI_VERSION);
    CHECK_EQ(minor, MPI_ABI_SUBVERSION);
    CHECK_EQ(MPI_Abi_get_info(&info), MPI_SUCCESS);
    CHECK_EQ(number(info, "mpi_aint_size"), sizeof(MPI_Aint));
    CHECK_EQ(number(info, "mpi_count_size"), sizeof(MPI_Count));
    CHECK_EQ(number(info, "mpi_offset_size"), sizeof(MPI_Offset));
    CHECK_EQ(MPI_Info_free(&info), MPI_SUCCESS);
    CHECK_EQ(MPI_Abi_get_fortran_info(&info), MPI_SUCCESS);
    CHECK(info != MPI_INFO_NULL);
    CHECK_EQ(number(info, "mpi_integer_size"), 4);
    CHECK_EQ(number(info, "mpi_double_precision_size"), 8);
    CHECK_EQ(number(info, "mpi_integer4_supported"), 1);
    CHECK_EQ(MPI_Info_get_nkeys(info, &n), MPI_SUCCESS);
    CHECK_EQ(n, 23);
    MPI_Info_free(&info);
}

static void fortran(void)
{
    static const struct { const char *key; MPI_Datatype type; } sized[] = {{"mpi_logical_size", MPI_LOGICAL},
        {"mpi_integer_size", MPI_INTEGER}, {"mpi_real_size", MPI_REAL},
                 {"mpi_double_precision_size", MPI_DOUBLE_PRECISION}},
        optional[] = {{"mpi_logical1_supported", MPI_LOGICAL1}, {"mpi_integer8_supported", MPI_INTEGER8},
        {"mpi_integer16_supported", MPI_INTEGER16}, {"mpi_real2_supported", MPI_REAL2},
        {"mpi_real16_supported", MPI_REAL16}, {"mpi_complex16_supported", MPI_COMPLEX16},
        {"mpi_double_complex_supported", MPI_DOUBLE_COMPLEX}};
    MPI_Info info;
    int size;
    MPI_Abi_get_fortran_info(&info);
    for (int i = 0; i < 4; i++) {
        MPI_Type_size(sized[i].type, &size);
        CHECK_EQ(number(info, sized[i].key), size);
    }
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        MPI_Type_size(optional[i].type, &size);
        CHECK_SAY(number(info, optional[i].key) == (size != MPI_UNDEFINED), "%s, and the size is %d", optional[i].key,
                  size);
    }
    CHECK_CLASS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI); /* known */
    CHECK_CLASS(MPI_Abi_set_fortran_info(MPI_INFO_NULL), MPI_ERR_INFO);
    MPI_Info_free(&info);

    int yes = -1, no = 0, set = -1, t = 5, f = 5;
    CHECK_EQ(MPI_Abi_get_fortran_booleans(4, &t, &f, &set), MPI_SUCCESS);
    CHECK_EQ(set, 0);
    CHECK_CLASS(MPI_Abi_set_fortran_booleans(3, &yes, &no), MPI_ERR_ARG);
    CHECK_EQ(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_SUCCESS);
    CHECK_CLASS(MPI_Abi_set_fortran_booleans(4, &no, &yes), MPI_ERR_ABI);
    CHECK_EQ(MPI_Abi_get_fortran_booleans(4, &t, &f, &set), MPI_SUCCESS);
    CHECK_EQ(set, 1);
    CHECK_EQ(t, -1);
    CHECK_EQ(f, 0);
    char c = 1, d = 2;
    CHECK_EQ(MPI_Abi_get_fortran_booleans(1, &c, &d, &set), MPI_SUCCESS);
    CHECK_EQ(set, 0);
    CHECK(c == 1 && d == 2);
}

int main(int argc, char **argv)
{
    look();
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    look();
    fortran();
    MPI_Finalize();
    look();
    return 0;
}
