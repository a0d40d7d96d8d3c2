/* Messages of every length around every power of two up to 8 MiB arrive whole, with nothing written behind them. */
#include "../check.h"

enum { LARGEST = 8 << 20, GUARD = 64 };
static unsigned char *out, *in;

static void exchange(int n, int partner)
{
    MPI_Status status;
    MPI_Request request;
    int got = -1;
    check_fill(out, (size_t)n, (uint64_t)n * 64 + (uint64_t)check_rank);
    memset(in, 0xA5, (size_t)n + GUARD);
    if (n % 3 == 0) { /* receive posted first, and larger than the message */
        MPI_Irecv(in, n + GUARD, MPI_BYTE, partner, n % 1000, MPI_COMM_WORLD, &request);
        MPI_Send(out, n, MPI_BYTE, partner, n % 1000, MPI_COMM_WORLD);
    } else { /* the message may come first */
        MPI_Isend(out, n, MPI_BYTE, partner, n % 1000, MPI_COMM_WORLD, &request);
        MPI_Recv(in, n, MPI_BYTE, partner, n % 1000, MPI_COMM_WORLD, &status);
    }
    if (n % 3 == 0) MPI_Wait(&request, &status);
    else MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK_EQ(got, n);
    long at = check_differs(in, (size_t)n, (uint64_t)n * 64 + (uint64_t)partner);
    CHECK_SAY(at < 0, "message of %d bytes differs at byte %ld", n, at);
    for (int i = 0; i < GUARD; i++) {
        CHECK_SAY(in[n + i] == 0xA5, "message of %d bytes wrote byte %d behind it", n, n + i);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int partner = check_rank ^ 1;
    if (partner >= check_size) partner = check_rank; /* the odd one out sends to itself */
    /* Many ranks share the cores: the longest only with few. */
    int largest = check_size <= 2 ? LARGEST : LARGEST >> 3;
    out = malloc((size_t)largest + 1);
    in = malloc((size_t)largest + 1 + GUARD);
    for (int n = 0; n < 70; n++) exchange(n, partner);
    for (int power = 64; power <= largest; power *= 2)
        for (int d = -1; d <= 1; d++) exchange(power + d, partner);
    /* And some that lie well between the powers. */
    for (int power = 100; power < largest; power *= 3) exchange(power, partner);
    free(out);
    free(in);
    return check_end();
}
