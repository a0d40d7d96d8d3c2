/* Allgather and Allgatherv: equal and unequal parts, gaps, empty parts, in place, short and long. */
#include "../check.h"

static int word(int rank, int i) { return rank * 100000 + i; }

static void equal(int n)
{
    int *mine = malloc(sizeof(int) * (size_t)(n + 1)), *all = malloc(sizeof(int) * (size_t)(n * check_size + 1));
    for (int i = 0; i < n; i++) mine[i] = word(check_rank, i);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i <= n * check_size; i++) all[i] = -1;
        if (turn == 1) memcpy(all + n * check_rank, mine, sizeof(int) * (size_t)n);
        MPI_Allgather(turn ? MPI_IN_PLACE : (void *)mine, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < n * check_size; i++) CHECK_EQ(all[i], word(i / n, i % n));
        CHECK_EQ(all[n * check_size], -1);
    }
    free(mine);
    free(all);
}

static int part(int r, int scale) { return r % 3 == 2 ? 0 : (r + 1) * scale; }

static void unequal(int scale)
{
    int counts[64], at[64], total = 0, n = part(check_rank, scale);
    for (int r = check_size - 1; r >= 0; r--) {
        counts[r] = part(r, scale);
        at[r] = total;
        total += counts[r] + 3;
    }
    int *mine = malloc(sizeof(int) * (size_t)(n + 1)), *all = malloc(sizeof(int) * (size_t)total);
    for (int i = 0; i < n; i++) mine[i] = word(check_rank, i);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < total; i++) all[i] = -1;
        if (turn == 1) memcpy(all + at[check_rank], mine, sizeof(int) * (size_t)n);
        MPI_Allgatherv(turn ? MPI_IN_PLACE : (void *)mine, n, MPI_INT, all, counts, at, MPI_INT, MPI_COMM_WORLD);
        for (int r = 0; r < check_size; r++) {
            for (int i = 0; i < counts[r]; i++) CHECK_EQ(all[at[r] + i], word(r, i));
            for (int i = 0; i < 3; i++) CHECK_EQ(all[at[r] + counts[r] + i], -1);
        }
    }
    free(mine);
    free(all);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 2, 31, 1024, 20000};
    check_start(&argc, &argv);
    CHECK(check_size <= 64);
    for (int l = 0; l < 6; l++) {
        equal(lengths[l]);
        unequal(lengths[l] / 3);
    }
    return check_end();
}
