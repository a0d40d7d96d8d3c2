// A rank begins a session long after MPI_Finalize, and the other waits for it.
// ranks: 2
// options: -deadlock abort:0.1
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const int rank = getenv("IMPI_RANK") ? atoi(getenv("IMPI_RANK")) : 0;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    if (rank == 0) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ABORT, &session);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    if (rank == 1) usleep(700000);
    if (rank == 1) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ABORT, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_ABORT, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return 0;
}
