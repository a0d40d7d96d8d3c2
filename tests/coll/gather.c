/* Gather, Gatherv, Scatter and Scatterv for every root: equal and unequal parts, gaps between parts and within
 * them, empty parts, in place. */
#include "../check.h"

static int word(int rank, int i) { return rank * 100000 + i; }

static void gather(int n, int root)
{
    int *mine = malloc(sizeof(int) * (size_t)(n + 1)), *all = malloc(sizeof(int) * (size_t)(n * check_size + 1));
    for (int i = 0; i < n; i++) mine[i] = word(check_rank, i);
    for (int i = 0; i <= n * check_size; i++) all[i] = -1;
    MPI_Gather(mine, n, MPI_INT, check_rank == root ? all : NULL, n, MPI_INT, root, MPI_COMM_WORLD);
    if (check_rank == root) {
        for (int i = 0; i < n * check_size; i++) CHECK_EQ(all[i], word(i / n, i % n));
        CHECK_EQ(all[n * check_size], -1);
        for (int i = 0; i < n * check_size; i++) all[i] = i / n == root ? word(root, i % n) : -1;
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < n * check_size; i++) CHECK_EQ(all[i], word(i / n, i % n));
    } else {
        MPI_Gather(mine, n, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    }

    /* And back again. */
    for (int i = 0; i < n; i++) mine[i] = -1;
    MPI_Scatter(all, n, MPI_INT, mine, n, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) CHECK_EQ(mine[i], word(check_rank, i));
    for (int i = 0; i < n; i++) mine[i] = -1;
    MPI_Scatter(all, n, MPI_INT, check_rank == root ? MPI_IN_PLACE : (void *)mine, n, MPI_INT, root, MPI_COMM_WORLD);
    if (check_rank != root)
        for (int i = 0; i < n; i++) CHECK_EQ(mine[i], word(check_rank, i));
    free(mine);
    free(all);
}

/* Rank r has part(r) words; they lie in reverse order of ranks with a gap of 3 between them. */
static int part(int r, int scale) { return r % 3 == 2 ? 0 : (r + 1) * scale; }

static void gatherv(int scale, int root)
{
    int counts[64], at[64], total = 0, n = part(check_rank, scale);
    for (int r = check_size - 1; r >= 0; r--) {
        counts[r] = part(r, scale);
        at[r] = total;
        total += counts[r] + 3;
    }
    int *mine = malloc(sizeof(int) * (size_t)(n + 1)), *all = malloc(sizeof(int) * (size_t)total);
    for (int i = 0; i < n; i++) mine[i] = word(check_rank, i);
    mine[n] = -1;
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < total; i++) all[i] = -1;
        const void *from = mine;
        if (turn == 1 && check_rank == root) {
            memcpy(all + at[root], mine, sizeof(int) * (size_t)n);
            from = MPI_IN_PLACE;
        }
        MPI_Gatherv(from, n, MPI_INT, all, counts, at, MPI_INT, root, MPI_COMM_WORLD);
        if (check_rank != root) continue;
        for (int r = 0; r < check_size; r++) {
            for (int i = 0; i < counts[r]; i++) CHECK_EQ(all[at[r] + i], word(r, i));
            for (int i = 0; i < 3; i++) CHECK_EQ(all[at[r] + counts[r] + i], -1);
        }
    }
    for (int i = 0; i < n; i++) mine[i] = -1;
    MPI_Scatterv(all, counts, at, MPI_INT, mine, n, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) CHECK_EQ(mine[i], word(check_rank, i));
    CHECK_EQ(mine[n], -1);
    MPI_Scatterv(all, counts, at, MPI_INT, check_rank == root ? MPI_IN_PLACE : (void *)mine, n, MPI_INT, root,
                 MPI_COMM_WORLD);
    free(mine);
    free(all);
}

/* Words with gaps between them, at root, at the others, or at both, as bits of `gaps` say: there and back again. */
static void apart(int n, int root, int gaps)
{
    MPI_Datatype gapped;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gapped);
    MPI_Type_commit(&gapped);
    int far = 1 + gaps % 2, near = 1 + gaps / 2;
    int *mine = malloc(sizeof(int) * (size_t)(n * near)), *all = malloc(sizeof(int) * (size_t)(n * check_size * far));
    for (int i = 0; i < n * near; i++) mine[i] = -1;
    for (int i = 0; i < n * check_size * far; i++) all[i] = i % far ? -2 : word(i / far / n, i / far % n);
    MPI_Datatype here = near > 1 ? gapped : MPI_INT, there = far > 1 ? gapped : MPI_INT;
    MPI_Scatter(all, n, there, mine, n, here, root, MPI_COMM_WORLD);
    for (int i = 0; i < n * near; i++) CHECK_EQ(mine[i], i % near ? -1 : word(check_rank, i / near));
    if (check_rank == root)
        for (int i = 0; i < n * check_size * far; i++) all[i] = -2;
    MPI_Gather(mine, n, here, all, n, there, root, MPI_COMM_WORLD);
    for (int i = 0; i < n * check_size * far; i++) CHECK_EQ(all[i], i % far ? -2 : word(i / far / n, i / far % n));
    MPI_Type_free(&gapped);
    free(mine);
    free(all);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 64);
    for (int root = 0; root < check_size; root++) {
        gather(0, root);
        gather(1, root);
        gather(37, root);
        gatherv(1, root);
        gatherv(0, root);
    }
    gather(1024, 0);
    gather(20000, check_size - 1);
    gatherv(256, check_size / 2);
    gatherv(7000, 0);
    for (int gaps = 0; gaps < 4; gaps++) {
        apart(7, gaps % check_size, gaps);
        apart(30000, gaps % check_size, gaps);
    }
    return check_end();
}
