/* Handles that were freed, or never were, are errors and not crashes. Only libimpi promises that; elsewhere nothing is tested. */
/* ranks: 1 2 3 8 */
#include "../check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (!check_library("libimpi")) return check_end();
    MPI_Comm comm, old_comm;
    MPI_Datatype type, old_type;
    MPI_Request request, old_request;
    MPI_Group group, old_group;
    MPI_Op op = MPI_OP_NULL;
    MPI_Errhandler handler, old_handler;
    MPI_Status status;
    int n, word = 0, flag;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    old_comm = comm;
    MPI_Comm_free(&comm);
    CHECK_CLASS(MPI_Comm_size(old_comm, &n), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Send(&word, 1, MPI_INT, 0, 0, old_comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_free(&old_comm), MPI_ERR_COMM);
    /* A new communicator may take the place; the old handle is still not it. */
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    CHECK(comm != old_comm);
    CHECK_CLASS(MPI_Comm_size(old_comm, &n), MPI_ERR_COMM);
    MPI_Comm_free(&comm);

    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    old_type = type;
    MPI_Type_free(&type);
    CHECK_CLASS(MPI_Type_size(old_type, &n), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Send(&word, 1, old_type, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_free(&old_type), MPI_ERR_TYPE);

    MPI_Irecv(&word, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    old_request = request;
    MPI_Send(&n, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_CLASS(MPI_Test(&old_request, &flag, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Wait(&old_request, &status), MPI_ERR_REQUEST);
    CHECK_CLASS(MPI_Cancel(&old_request), MPI_ERR_REQUEST);

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    old_group = group;
    MPI_Group_free(&group);
    CHECK_CLASS(MPI_Group_size(old_group, &n), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Allreduce(&word, &n, 1, MPI_INT, op, MPI_COMM_SELF), MPI_ERR_OP);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    old_handler = handler;
    MPI_Errhandler_free(&handler);
    CHECK(old_handler == MPI_ERRORS_RETURN);

    /* Numbers that no handle has. */
    for (uintptr_t junk = 1; junk < (uintptr_t)1 << 40; junk = junk * 3 + 1) {
        if (junk < 4096) continue; /* predefined ones */
        CHECK_CLASS(MPI_Comm_size((MPI_Comm)junk, &n), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Type_size((MPI_Datatype)junk, &n), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Group_size((MPI_Group)junk, &n), MPI_ERR_GROUP);
        request = (MPI_Request)junk;
        CHECK_CLASS(MPI_Test(&request, &flag, &status), MPI_ERR_REQUEST);
    }
    /* A handle of another kind. */
    CHECK_CLASS(MPI_Comm_size((MPI_Comm)MPI_INT, &n), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Type_size((MPI_Datatype)MPI_COMM_WORLD, &n), MPI_ERR_TYPE);
    return check_end();
}
