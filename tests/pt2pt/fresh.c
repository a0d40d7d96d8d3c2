/* Messages of 8 to 192 KiB whose data is new each time arrive whole, by whatever way their earlier ones have gone: both
 * ways at once with other lengths each way, expected and not, into buffers that are too short, and in a row. */
#include "../check.h"

enum { LARGEST = 192 << 10, GUARD = 64, ROW = 12, ROUNDS = 40 };
static const int lengths[] = {8 << 10,         16 << 10,  (16 << 10) + 1, 20 << 10, 32 << 10,  48 << 10,
                              (64 << 10) - 64, 64 << 10,  (64 << 10) + 1, 80 << 10, 96 << 10, 128 << 10,
                              (128 << 10) + 1, LARGEST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };
static unsigned char *out, *in[ROW];
static int partner;

static uint64_t seed_of(int round, int n, int rank)
{
    return ((uint64_t)round * LARGEST + (uint64_t)n) * 64 + (uint64_t)rank;
}

static void holds(const unsigned char *got, int n, uint64_t seed)
{
    long at = check_differs(got, (size_t)n, seed);
    CHECK_SAY(at < 0, "message of %d bytes differs at byte %ld", n, at);
    for (int i = 0; i < GUARD; i++) CHECK_SAY(got[n + i] == 0xA5, "byte %d was written behind %d", i, n);
}

/* Both send at once, as many bytes as the partner does or others. */
static void exchange(int round, int mine, int theirs)
{
    MPI_Status status;
    MPI_Request q[2];
    int got;
    check_fill(out, (size_t)mine, seed_of(round, mine, check_rank));
    memset(in[0], 0xA5, LARGEST + GUARD);
    switch (round % 3) {
    case 0:
        MPI_Sendrecv(out, mine, MPI_BYTE, partner, 1, in[0], LARGEST, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &status);
        break;
    case 1:
        MPI_Irecv(in[0], LARGEST, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(out, mine, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &q[1]);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        MPI_Wait(&q[0], &status);
        break;
    default: /* the message comes first, as often as not */
        MPI_Isend(out, mine, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &q[1]);
        MPI_Probe(partner, 1, MPI_COMM_WORLD, &status);
        MPI_Recv(in[0], theirs, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &status);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    }
    MPI_Get_count(&status, MPI_BYTE, &got);
    CHECK_EQ(got, theirs);
    holds(in[0], theirs, seed_of(round, theirs, partner));
}

/* The lower rank sends more than there is room for. */
static void truncated(int n)
{
    if (check_rank < partner) {
        check_fill(out, (size_t)n, seed_of(0, n, check_rank));
        MPI_Send(out, n, MPI_BYTE, partner, 2, MPI_COMM_WORLD);
        return;
    }
    memset(in[0], 0xA5, LARGEST + GUARD);
    CHECK_CLASS(MPI_Recv(in[0], n - 5, MPI_BYTE, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    for (int i = 0; i < GUARD; i++) CHECK(in[0][n - 5 + i] == 0xA5);
}

/* Several at once, into receives that are posted in the order in which the messages were sent. */
static void in_a_row(int round, int n)
{
    MPI_Request q[2 * ROW];
    check_fill(out, (size_t)n, seed_of(round, n, check_rank));
    for (int i = 0; i < ROW; i++) memset(in[i], 0xA5, LARGEST + GUARD);
    for (int i = 0; i < ROW; i++) MPI_Isend(out, n - i, MPI_BYTE, partner, 3, MPI_COMM_WORLD, &q[i]);
    for (int i = 0; i < ROW; i++) MPI_Irecv(in[i], LARGEST, MPI_BYTE, partner, 3, MPI_COMM_WORLD, &q[ROW + i]);
    MPI_Waitall(2 * ROW, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ROW; i++) holds(in[i], n - i, seed_of(round, n, partner));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    partner = check_rank ^ 1;
    if (partner >= check_size) partner = check_rank; /* the odd one out sends to itself */
    out = malloc(LARGEST);
    for (int i = 0; i < ROW; i++) in[i] = malloc(LARGEST + GUARD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < LENGTHS; k++) {
            int other = lengths[(k + round / 2) % LENGTHS]; /* what the higher rank sends */
            exchange(round, check_rank <= partner ? lengths[k] : other, check_rank < partner ? other : lengths[k]);
        }
    for (int k = 0; k < LENGTHS && partner != check_rank; k++) {
        truncated(lengths[k]);
        in_a_row(k, lengths[k]);
    }
    for (int i = 0; i < ROW; i++) free(in[i]);
    free(out);
    return check_end();
}
