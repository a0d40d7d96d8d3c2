/* Buffered sends return without a receiver, keep their data, and Buffer_detach waits for them. */
#include "../check.h"

enum { COUNT = 50, BYTES = 1000 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, packed, size = 0;
    MPI_Pack_size(BYTES, MPI_CHAR, MPI_COMM_WORLD, &packed);
    int room = COUNT * (packed + MPI_BSEND_OVERHEAD);
    char *buffer = malloc((size_t)room), out[BYTES], in[BYTES];
    void *back = NULL;
    /* Attached three times over: space is free again once the messages have gone. */
    for (int turn = 0; turn < 3; turn++) {
        CHECK_EQ(MPI_Buffer_attach(buffer, room), MPI_SUCCESS);
        for (int i = 0; i < COUNT; i++) {
            check_fill(out, BYTES, (uint64_t)(turn * COUNT + i) * 100 + (uint64_t)check_rank);
            CHECK_EQ(MPI_Bsend(out, BYTES, MPI_CHAR, next, i, MPI_COMM_WORLD), MPI_SUCCESS);
            memset(out, 0, BYTES); /* the program's buffer is its own again */
        }
        for (int i = COUNT - 1; i >= 0; i--) {
            MPI_Recv(in, BYTES, MPI_CHAR, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQ(check_differs(in, BYTES, (uint64_t)(turn * COUNT + i) * 100 + (uint64_t)previous), -1);
        }
        CHECK_EQ(MPI_Buffer_detach(&back, &size), MPI_SUCCESS);
        CHECK(back == buffer);
        CHECK_EQ(size, room);
        memset(buffer, 0, (size_t)room);
    }
    /* Within one attachment, the space of messages that have gone is used again. */
    MPI_Buffer_attach(buffer, 2 * (packed + MPI_BSEND_OVERHEAD));
    for (int i = 0; i < 5 * COUNT; i++) {
        MPI_Request request;
        check_fill(out, BYTES, (uint64_t)i);
        MPI_Ibsend(out, BYTES, MPI_CHAR, check_rank, i, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(in, BYTES, MPI_CHAR, check_rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(check_differs(in, BYTES, (uint64_t)i), -1);
    }
    MPI_Buffer_detach(&back, &size);
    CHECK_EQ(size, 2 * (packed + MPI_BSEND_OVERHEAD));
    free(buffer);
    return check_end();
}
