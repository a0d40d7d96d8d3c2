/* Names: of null handles, and of predefined datatypes that have two, as programs and other libraries know them. */
/* ranks: 1 2 */
#include "../check.h"

static void of_type(MPI_Datatype type, const char *want)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int n = -1;
    CHECK_EQ(MPI_Type_get_name(type, name, &n), MPI_SUCCESS);
    CHECK_SAY(!strcmp(name, want), "the name is %s, not %s", name, want);
    CHECK_EQ(n, strlen(want));
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int n = -1;
    check_start(&argc, &argv);
    of_type(MPI_LONG_LONG_INT, "MPI_LONG_LONG_INT");
    of_type(MPI_C_COMPLEX, "MPI_C_COMPLEX");
    of_type(MPI_INT, "MPI_INT");
    of_type(MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG");
    if (check_library("libimpi")) { /* MPI 4.1 */
        of_type(MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL");
        CHECK_EQ(MPI_Comm_get_name(MPI_COMM_NULL, name, &n), MPI_SUCCESS);
        CHECK(!strcmp(name, "MPI_COMM_NULL") && n == (int)strlen(name));
    }
    CHECK_EQ(MPI_Comm_get_name(MPI_COMM_WORLD, name, &n), MPI_SUCCESS);
    CHECK(!strcmp(name, "MPI_COMM_WORLD"));
    return check_end();
}
