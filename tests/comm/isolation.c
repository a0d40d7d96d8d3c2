/* A message belongs to its communicator: the same ranks and tags elsewhere do not take it. */
#include "../check.h"

enum { COMMS = 5 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm c[COMMS];
    int in[COMMS], out[COMMS], flag = -1, next = (check_rank + 1) % check_size,
                               previous = (check_rank + check_size - 1) % check_size;
    MPI_Request receive[COMMS], send[COMMS];
    c[0] = MPI_COMM_WORLD;
    for (int i = 1; i < COMMS; i++) MPI_Comm_dup(c[i - 1], &c[i]);
    /* Sent in one order, received in the other, all with one tag and by wildcards. */
    for (int i = 0; i < COMMS; i++) {
        out[i] = check_rank * 10 + i;
        MPI_Isend(&out[i], 1, MPI_INT, next, 3, c[i], &send[i]);
    }
    for (int i = COMMS - 1; i >= 0; i--) {
        MPI_Recv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c[i], MPI_STATUS_IGNORE);
        CHECK_EQ(in[i], previous * 10 + i);
    }
    MPI_Waitall(COMMS, send, MPI_STATUSES_IGNORE);
    /* Receives open on all; messages come to the last only, then to the others. */
    for (int i = 0; i < COMMS; i++) MPI_Irecv(&in[i], 1, MPI_INT, previous, MPI_ANY_TAG, c[i], &receive[i]);
    for (int i = COMMS - 1; i >= 0; i--) {
        out[i] = check_rank * 100 + i;
        MPI_Send(&out[i], 1, MPI_INT, next, 3, c[i]);
        MPI_Wait(&receive[i], MPI_STATUS_IGNORE);
        CHECK_EQ(in[i], previous * 100 + i);
        if (i > 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Testany(i, receive, &(int){0}, &flag, MPI_STATUS_IGNORE);
            CHECK_EQ(flag, 0);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    for (int i = 1; i < COMMS; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c[i], &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, 0);
        MPI_Comm_free(&c[i]);
    }
    return check_end();
}
