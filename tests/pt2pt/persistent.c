/* Persistent requests: made once, started many times, inactive in between. */
#include "../check.h"

enum { ROUNDS = 20, WORDS = 3000 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, flag = -1,
        got = -1, index = -1;
    static int out[4][WORDS], in[4][WORDS];
    MPI_Request request[8];
    MPI_Status status[8];
    int room = WORDS * (int)sizeof(int) + MPI_BSEND_OVERHEAD + 1000;
    void *buffer = malloc((size_t)room);
    MPI_Buffer_attach(buffer, room);
    for (int k = 0; k < 4; k++) {
        MPI_Recv_init(in[k], WORDS, MPI_INT, k == 3 ? MPI_ANY_SOURCE : previous, k, MPI_COMM_WORLD, &request[k]);
    }
    MPI_Send_init(out[0], WORDS, MPI_INT, next, 0, MPI_COMM_WORLD, &request[4]);
    MPI_Ssend_init(out[1], 10, MPI_INT, next, 1, MPI_COMM_WORLD, &request[5]);
    if (check_library("Open MPI v4")) /* sends what the buffer held when the request was made */
        MPI_Send_init(out[2], WORDS, MPI_INT, next, 2, MPI_COMM_WORLD, &request[6]);
    else
        MPI_Bsend_init(out[2], WORDS, MPI_INT, next, 2, MPI_COMM_WORLD, &request[6]);
    MPI_Rsend_init(out[3], 0, MPI_INT, next, 3, MPI_COMM_WORLD, &request[7]);
    /* Inactive requests count as complete, with an empty status. */
    MPI_Wait(&request[0], &status[0]);
    CHECK_EQ(status[0].MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(status[0].MPI_TAG, MPI_ANY_TAG);
    MPI_Waitany(8, request, &index, status);
    CHECK_EQ(index, MPI_UNDEFINED);
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < WORDS; i++) {
                out[k][i] = check_rank * 1000000 + round * 10000 + k * 3000 + i, in[k][i] = -1;
            }
        MPI_Startall(4, request);
        MPI_Barrier(MPI_COMM_WORLD); /* for the ready send */
        MPI_Start(&request[4]);
        MPI_Startall(3, &request[5]);
        MPI_Waitall(8, request, status);
        for (int k = 0; k < 4; k++) {
            static const int lengths[] = {WORDS, 10, WORDS, 0};
            CHECK(request[k] != MPI_REQUEST_NULL && request[4 + k] != MPI_REQUEST_NULL);
            MPI_Get_count(&status[k], MPI_INT, &got);
            CHECK_EQ(got, lengths[k]);
            CHECK_EQ(status[k].MPI_SOURCE, previous);
            for (int i = 0; i < got; i++) CHECK_EQ(in[k][i], previous * 1000000 + round * 10000 + k * 3000 + i);
        }
        MPI_Testall(8, request, &flag, MPI_STATUSES_IGNORE);
        CHECK_EQ(flag, 1);
    }
    for (int k = 0; k < 8; k++) {
        MPI_Request_free(&request[k]);
        CHECK(request[k] == MPI_REQUEST_NULL);
    }
    MPI_Buffer_detach(&buffer, &room);
    free(buffer);
    return check_end();
}
