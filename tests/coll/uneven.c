/* Gatherv, Scatterv, Alltoallv, Alltoallw and Allgatherv of blocks of very different lengths, of which no rank knows
 * those of the others: none, short and long ones beside each other, call after call without a rest, with any root, and
 * with operations of equal blocks between them. Every other time the calls do not block. */
#include "../check.h"

enum { CALLS = 300, LENGTHS = 11, LONGEST = 270000 };

static const int length[LENGTHS] = {0, 1, 7, 40, 56, 700, 8192, 8193, 16384, 30000, LONGEST};

/* How many bytes go from one rank to another in a call. */
static int bytes(int call, int from, int to) { return length[(call * 7 + from * 5 + to * 3 + from * to) % LENGTHS]; }

static char value(int call, int from, int to, int k) { return (char)(call * 31 + from * 17 + to * 5 + k); }

static char *in, *out;
static int *sends, *at, *gets, *from_at;

/* Lays blocks out behind each other, with a byte between them; fills those that are sent. */
static int lay_out(int call, int *counts, int *displs, int sent)
{
    int end = 0;
    for (int r = 0; r < check_size; r++) {
        counts[r] = sent ? bytes(call, check_rank, r) : bytes(call, r, check_rank);
        displs[r] = end;
        end += counts[r] + 1;
    }
    for (int r = 0; sent && r < check_size; r++)
        for (int k = 0; k < counts[r]; k++) in[displs[r] + k] = value(call, check_rank, r, k);
    if (!sent) memset(out, 99, (size_t)end);
    return end;
}

static void check_block(int call, int from, int to, const char *block, int n)
{
    for (int k = 0; k < n; k++) CHECK_EQ(block[k], value(call, from, to, k));
}

static void gathered(int call, int root)
{
    for (int r = 0; r < check_size && check_rank == root; r++) check_block(call, r, root, out + from_at[r], gets[r]);
}

/* Makes a call that blocks, or one that does not if there is a request. */
#define EITHER(Q, NAME, LATER, ...) \
    do { \
        if (!(Q)) MPI_##NAME(__VA_ARGS__, MPI_COMM_WORLD); \
        else MPI_##LATER(__VA_ARGS__, MPI_COMM_WORLD, Q), MPI_Wait(Q, MPI_STATUS_IGNORE); \
    } while (0)

static void exchange(int call, int typed, MPI_Request *q)
{
    MPI_Datatype types[64];
    for (int r = 0; r < check_size; r++) types[r] = MPI_CHAR;
    if (typed) EITHER(q, Alltoallw, Ialltoallw, in, sends, at, types, out, gets, from_at, types);
    else EITHER(q, Alltoallv, Ialltoallv, in, sends, at, MPI_CHAR, out, gets, from_at, MPI_CHAR);
    for (int r = 0; r < check_size; r++) {
        check_block(call, r, check_rank, out + from_at[r], gets[r]);
        CHECK_EQ(out[from_at[r] + gets[r]], 99);
    }
}

static void collect(int call, MPI_Request *q)
{
    for (int r = 0; r < check_size; r++) gets[r] = bytes(call, r, 0);
    for (int r = 0, end = 0; r < check_size; end += gets[r++]) from_at[r] = end;
    for (int k = 0; k < gets[check_rank]; k++) in[k] = value(call, check_rank, 0, k);
    EITHER(q, Allgatherv, Iallgatherv, in, gets[check_rank], MPI_CHAR, out, gets, from_at, MPI_CHAR);
    for (int r = 0; r < check_size; r++) check_block(call, r, 0, out + from_at[r], gets[r]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 64);
    size_t room = (size_t)check_size * (LONGEST + 1);
    in = malloc(room), out = malloc(room);
    sends = malloc(sizeof(int) * 64), at = malloc(sizeof(int) * 64);
    gets = malloc(sizeof(int) * 64), from_at = malloc(sizeof(int) * 64);
    for (int call = 0; call < CALLS; call++) {
        int root = call / 5 % check_size, sum = 0;
        MPI_Request request, *q = call / 6 % 2 ? &request : NULL;
        lay_out(call, sends, at, 1);
        lay_out(call, gets, from_at, 0);
        switch (call % 6) {
        case 0:
            EITHER(q, Gatherv, Igatherv, in + at[root], sends[root], MPI_CHAR, out, gets, from_at, MPI_CHAR, root);
            gathered(call, root);
            break;
        case 1:
            EITHER(q, Scatterv, Iscatterv, in, sends, at, MPI_CHAR, out, gets[root], MPI_CHAR, root);
            check_block(call, root, check_rank, out, gets[root]);
            break;
        case 2:
        case 3:
            exchange(call, call % 6 == 2, q);
            break;
        case 4:
            collect(call, q);
            break;
        default:
            MPI_Allreduce(&call, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK_EQ(sum, call * check_size);
        }
    }
    free(in), free(out), free(sends), free(at), free(gets), free(from_at);
    return check_end();
}
