/* Thousands of receives and sends under way at once all complete, each with its own message. */
#include "../check.h"

enum { PER_PAIR = 2000 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int per = PER_PAIR / check_size, count = per * check_size;
    MPI_Request *in_request = malloc(sizeof(MPI_Request) * (size_t)count),
                *out_request = malloc(sizeof(MPI_Request) * (size_t)count);
    MPI_Status *status = malloc(sizeof(MPI_Status) * (size_t)count);
    long long *in = calloc((size_t)count, sizeof *in), *out = calloc((size_t)count, sizeof *out);
    for (int i = 0; i < count; i++) {
        int peer = i % check_size, tag = i / check_size;
        /* Receives are posted with falling tags, messages sent with rising ones. */
        MPI_Irecv(&in[i], 1, MPI_LONG_LONG, peer, per - 1 - tag, MPI_COMM_WORLD, &in_request[i]);
    }
    for (int i = 0; i < count; i++) {
        int peer = i % check_size, tag = i / check_size;
        out[i] = (long long)check_rank << 40 | (long long)peer << 20 | tag;
        MPI_Isend(&out[i], 1, MPI_LONG_LONG, peer, tag, MPI_COMM_WORLD, &out_request[i]);
    }
    CHECK_EQ(MPI_Waitall(count, in_request, status), MPI_SUCCESS);
    CHECK_EQ(MPI_Waitall(count, out_request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < count; i++) {
        int peer = i % check_size, tag = per - 1 - i / check_size;
        CHECK_EQ(in[i], (long long)peer << 40 | (long long)check_rank << 20 | tag);
        CHECK_EQ(status[i].MPI_SOURCE, peer);
        CHECK_EQ(status[i].MPI_TAG, tag);
        CHECK(in_request[i] == MPI_REQUEST_NULL && out_request[i] == MPI_REQUEST_NULL);
    }
    free(in_request);
    free(out_request);
    free(status);
    free(in);
    free(out);
    return check_end();
}
