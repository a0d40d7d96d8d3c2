/* Messages to oneself, in every order that a program may use. */
#include "../check.h"

enum { LONG = 300000 };

static void exchange(MPI_Comm comm, int me, int n)
{
    int *out = malloc(sizeof(int) * (size_t)(n + 1)), *in = malloc(sizeof(int) * (size_t)(n + 1)), got = -1;
    MPI_Request request[2];
    MPI_Status status[2];
    for (int order = 0; order < 4; order++) {
        for (int i = 0; i < n; i++) out[i] = order * 1000 + i, in[i] = -1;
        if (order == 0) { /* send first */
            MPI_Isend(out, n, MPI_INT, me, order, comm, &request[0]);
            MPI_Recv(in, n, MPI_INT, me, order, comm, &status[1]);
            MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        } else if (order == 1) { /* receive first */
            MPI_Irecv(in, n, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request[1]);
            MPI_Send(out, n, MPI_INT, me, order, comm);
            MPI_Wait(&request[1], &status[1]);
        } else if (order == 2) { /* synchronous, found by a probe */
            MPI_Issend(out, n, MPI_INT, me, order, comm, &request[0]);
            MPI_Probe(me, MPI_ANY_TAG, comm, &status[0]);
            MPI_Get_count(&status[0], MPI_INT, &got);
            CHECK_EQ(got, n);
            MPI_Irecv(in, n, MPI_INT, me, status[0].MPI_TAG, comm, &request[1]);
            MPI_Waitall(2, request, status);
        } else { /* both at once */
            MPI_Sendrecv(out, n, MPI_INT, me, order, in, n, MPI_INT, me, order, comm, &status[1]);
        }
        MPI_Get_count(&status[1], MPI_INT, &got);
        CHECK_EQ(got, n);
        CHECK_EQ(status[1].MPI_SOURCE, me);
        CHECK_EQ(status[1].MPI_TAG, order);
        for (int i = 0; i < n; i++) CHECK_EQ(in[i], order * 1000 + i);
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 1000, LONG};
    check_start(&argc, &argv);
    for (int s = 0; s < 4; s++) {
        exchange(MPI_COMM_SELF, 0, sizes[s]);
        exchange(MPI_COMM_WORLD, check_rank, sizes[s]);
    }
    return check_end();
}
