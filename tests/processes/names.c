/* Services have names, that any process of the job finds until they are taken back. */
/* ranks: 1 2 4 */
/* needs: MPI_Publish_name MPI_Lookup_name MPI_Unpublish_name */
#include "family.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    char port[MPI_MAX_PORT_NAME], other[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME], service[64], own[96];
    int last = check_size - 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    snprintf(service, sizeof service, "tests of %ld", (long)getpid()); /* other tests run at the same time */
    MPI_Bcast(service, sizeof service, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_ERR_NAME);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, other), MPI_SUCCESS);
    CHECK(strcmp(port, other) != 0);
    if (check_rank == last) CHECK_EQ(MPI_Publish_name(service, MPI_INFO_NULL, port), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);

    /* Everybody finds it, and nobody can have the name besides. */
    MPI_Bcast(port, sizeof port, MPI_CHAR, last, MPI_COMM_WORLD);
    CHECK_EQ(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_SUCCESS);
    CHECK(!strcmp(found, port));
    CHECK_CLASS(MPI_Publish_name(service, MPI_INFO_NULL, other), MPI_ERR_SERVICE);
    CHECK_EQ(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_SUCCESS);
    CHECK(!strcmp(found, port));
    MPI_Barrier(MPI_COMM_WORLD);

    /* It is taken back, once. */
    if (check_rank == last) {
        CHECK_EQ(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_SUCCESS);
        CHECK_CLASS(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_ERR_NAME);

    /* Everybody has a name of its own, that the next finds. */
    snprintf(own, sizeof own, "%s: %d", service, check_rank);
    CHECK_EQ(MPI_Publish_name(own, MPI_INFO_NULL, other), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(own, sizeof own, "%s: %d", service, (check_rank + 1) % check_size);
    CHECK_EQ(MPI_Lookup_name(own, MPI_INFO_NULL, found), MPI_SUCCESS);
    MPI_Sendrecv(other, sizeof other, MPI_CHAR, (check_rank + last) % check_size, 0, port, sizeof port, MPI_CHAR,
                 (check_rank + 1) % check_size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(!strcmp(found, port));
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(own, sizeof own, "%s: %d", service, check_rank);
    CHECK_EQ(MPI_Unpublish_name(own, MPI_INFO_NULL, other), MPI_SUCCESS);
    CHECK_EQ(MPI_Close_port(other), MPI_SUCCESS);
    return check_end();
}
