/* Messages to and from MPI_PROC_NULL complete at once and carry nothing. */
/* ranks: 1 2 */
#include "../check.h"

static void nothing(const MPI_Status *s)
{
    int n = -1;
    CHECK_EQ(s->MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(s->MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(s, MPI_INT, &n);
    CHECK_EQ(n, 0);
}

int main(int argc, char **argv)
{
    int word = 42, flag = -1;
    MPI_Request request[2];
    MPI_Status status;
    MPI_Message message;
    check_start(&argc, &argv);
    MPI_Send(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Ssend(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Rsend(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    memset(&status, 0x55, sizeof status);
    MPI_Recv(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    nothing(&status);
    MPI_Isend(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Wait(&request[1], &status);
    if (!check_library("MPICH Version:\t4.0")) /* which leaves source and tag as they were */
        nothing(&status);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    memset(&status, 0x55, sizeof status);
    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    nothing(&status);
    MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status);
    CHECK_EQ(flag, 1);
    nothing(&status);
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&word, 1, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
    nothing(&status);
    MPI_Sendrecv_replace(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    nothing(&status);
    CHECK_EQ(word, 42);
    return check_end();
}
