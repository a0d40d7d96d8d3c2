// The same with sessions alone, whose level allows it.
// ranks: 2
// options: -deadlock abort:0.1
#include <mpi.h>

#include <pthread.h>
#include <unistd.h>

// The message that the rank's other thread waits for.
static void *later(void *comm)
{
    int x = 0;
    usleep(700000);
    MPI_Send(&x, 1, MPI_INT, 0, 9, *(MPI_Comm *)comm);
    return comm;
}

int main(int argc, char **argv)
{
    int rank, x;
    pthread_t thread;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ABORT, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "near", MPI_INFO_NULL, MPI_ERRORS_ABORT, &comm);
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        pthread_create(&thread, NULL, later, &comm);
        MPI_Recv(&x, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE);
        pthread_join(thread, NULL);
        MPI_Send(&x, 1, MPI_INT, 1, 0, comm);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return argc < 0 || !argv;
}
