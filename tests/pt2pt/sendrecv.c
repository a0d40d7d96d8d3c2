/* Sendrecv and Sendrecv_replace round rings and along chains, with unequal lengths and types. */
#include "../check.h"

static void ring(int n)
{
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, got = -1;
    int *buf = malloc(sizeof(int) * (size_t)(n + check_size + 1));
    MPI_Status status;
    for (int i = 0; i < n; i++) buf[i] = check_rank * 7 + i;
    for (int hop = 1; hop <= check_size; hop++) {
        int origin = (check_rank + check_size * 2 - hop) % check_size;
        MPI_Sendrecv_replace(buf, n, MPI_INT, next, hop, previous, hop, MPI_COMM_WORLD, &status);
        CHECK_EQ(status.MPI_SOURCE, previous);
        CHECK_EQ(status.MPI_TAG, hop);
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK_EQ(got, n);
        for (int i = 0; i < n; i++) CHECK_EQ(buf[i], origin * 7 + i);
    }
    free(buf);
}

/* The chain is open: its ends talk to MPI_PROC_NULL. Rank r sends n + r words, and receives as bytes of doubles. */
static void chain(int n)
{
    int right = check_rank + 1 < check_size ? check_rank + 1 : MPI_PROC_NULL;
    int left = check_rank > 0 ? check_rank - 1 : MPI_PROC_NULL;
    double *out = malloc(sizeof(double) * (size_t)(n + check_size)),
           *in = malloc(sizeof(double) * (size_t)(n + check_size));
    MPI_Datatype pair;
    MPI_Status status;
    int got = -1;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < n + check_size; i++) out[i] = check_rank + i * 0.5, in[i] = -1;
    MPI_Sendrecv(out, n + check_rank, MPI_DOUBLE, right, 0, in, (n + check_size) / 2, pair, left, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, pair, &got);
    CHECK_EQ(got, left == MPI_PROC_NULL ? 0 : n + left);
    for (int i = 0; i < got; i++) CHECK(in[i] == left + i * 0.5);
    for (int i = got; i < n + check_size; i++) CHECK(in[i] == -1);
    MPI_Type_free(&pair);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 8, 1000, 100000};
    check_start(&argc, &argv);
    for (int s = 0; s < 5; s++) {
        ring(sizes[s]);
        chain(sizes[s] + 2);
    }
    return check_end();
}
