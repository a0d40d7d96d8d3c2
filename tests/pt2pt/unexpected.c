/* Thousands of messages that nobody waits for are kept, whole and apart, until they are received in any order. */
#include "../check.h"

enum { COUNT = 3000, WORDS = 20 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int count = check_size <= 2 ? COUNT : COUNT / check_size, next = (check_rank + 1) % check_size;
    int previous = (check_rank + check_size - 1) % check_size, in[WORDS], token = 0, echo = 0;
    MPI_Request *request = malloc(sizeof(MPI_Request) * (size_t)count);
    int (*out)[WORDS] = malloc(sizeof *out * (size_t)count);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < WORDS; k++) out[i][k] = check_rank * 10000000 + i * WORDS + k;
        MPI_Isend(out[i], i % (WORDS + 1), MPI_INT, next, i, MPI_COMM_WORLD, &request[i]);
    }
    /* A message sent after all of them has arrived, so they have. */
    MPI_Sendrecv(&token, 1, MPI_INT, next, count, &echo, 1, MPI_INT, previous, count, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int k = 0; k < count; k++) {
        /* From both ends of the queue, then the middle. */
        int i = k % 2 ? k / 2 : count - 1 - k / 2, got;
        MPI_Status status;
        memset(in, 0, sizeof in);
        MPI_Recv(in, WORDS, MPI_INT, k % 3 ? previous : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK_EQ(got, i % (WORDS + 1));
        CHECK_EQ(status.MPI_TAG, i);
        for (int w = 0; w < got; w++) CHECK_EQ(in[w], previous * 10000000 + i * WORDS + w);
    }
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
    free(request);
    free(out);
    return check_end();
}
