/* Collectives between two groups: each gets what the other gives, at roots on either side. */
/* ranks: 2 3 4 5 8 */
#include "../check.h"

static MPI_Comm inter;
static int high, rank, size, remote, lows;

/* What rank r of a side says. */
static int value(int side, int r) { return 1000 * side + r + 1; }

/* The root argument, if the root is rank r of a side. */
static int root_of(int side, int r) { return side != high ? r : r == rank ? MPI_ROOT : MPI_PROC_NULL; }

/* From or to the ranks of one side at rank r of the other, in a strided type and with blocks that grow with the
 * rank. */
static void rooted(int side, int r)
{
    int root = root_of(side, r), at_root = root == MPI_ROOT, leaf = root >= 0, n = 3 * remote + remote * remote + 8;
    int *all = malloc(sizeof(int) * (size_t)n), *counts = malloc(sizeof(int) * (size_t)remote),
        *displs = malloc(sizeof(int) * (size_t)remote);
    int mine[2] = {value(high, rank), -value(high, rank)}, in[2] = {-5, -5}, total = 0;
    MPI_Datatype apart;
    MPI_Type_vector(2, 1, 2, MPI_INT, &apart); /* two ints with a gap */
    MPI_Type_commit(&apart);

    int words[4] = {-1, -2, -3, -4};
    if (at_root) words[0] = 41, words[2] = 42;
    MPI_Bcast(words, 1, apart, root, inter);
    CHECK(words[1] == -2 && words[3] == -4);
    if (leaf) CHECK(words[0] == 41 && words[2] == 42);

    memset(all, 0xff, sizeof(int) * (size_t)n);
    MPI_Gather(mine, 2, MPI_INT, all, 1, apart, root, inter);
    if (at_root) /* the type extends over three ints */
        for (int i = 0; i < remote; i++) {
            CHECK(all[3 * i] == value(!high, i) && all[3 * i + 2] == -value(!high, i) && all[3 * i + 1] == -1);
        }
    for (int i = 0; i < remote; i++) counts[i] = i, displs[i] = total + 1, total += i + 1;
    memset(all, 0xff, sizeof(int) * (size_t)n);
    int *out = malloc(sizeof(int) * (size_t)(size + remote + 1));
    for (int i = 0; i <= size; i++) out[i] = value(high, rank);
    MPI_Gatherv(out, rank, MPI_INT, all, counts, displs, MPI_INT, root, inter);
    if (at_root)
        for (int i = 0; i < remote; i++) {
            CHECK_EQ(all[displs[i] - 1], -1);
            for (int j = 0; j < counts[i]; j++) CHECK_EQ(all[displs[i] + j], value(!high, i));
        }
    for (int i = 0; i < remote; i++) all[3 * i] = 10 * i, all[3 * i + 1] = -9, all[3 * i + 2] = 10 * i + 1;
    MPI_Scatter(all, 1, apart, in, 2, MPI_INT, root, inter);
    if (leaf) CHECK(in[0] == 10 * rank && in[1] == 10 * rank + 1);
    for (int i = 0; i < remote; i++)
        for (int j = 0; j < counts[i]; j++) all[displs[i] + j] = 100 * i + j;
    MPI_Scatterv(all, counts, displs, MPI_INT, out, rank, MPI_INT, root, inter);
    if (leaf)
        for (int j = 0; j < rank; j++) CHECK_EQ(out[j], 100 * rank + j);

    int sum[2] = {-7, -7}, want = 0;
    for (int i = 0; i < remote; i++) want += value(!high, i);
    MPI_Reduce(mine, sum, 2, MPI_INT, MPI_SUM, root, inter);
    if (at_root) CHECK(sum[0] == want && sum[1] == -want);
    else CHECK(sum[0] == -7 && sum[1] == -7);
    MPI_Type_free(&apart);
    free(all), free(counts), free(displs), free(out);
}

static void everywhere(void)
{
    int mine[2] = {value(high, rank), -value(high, rank)}, sum[2], want = 0, total = 0;
    int *all = malloc(sizeof(int) * (size_t)(2 * remote + remote * remote + 8)),
        *out = malloc(sizeof(int) * (size_t)(2 * remote + 8));
    int *counts = malloc(sizeof(int) * (size_t)remote), *displs = malloc(sizeof(int) * (size_t)remote),
        *same = malloc(sizeof(int) * (size_t)remote);
    int *first = malloc(sizeof(int) * (size_t)remote);
    MPI_Allgather(mine, 2, MPI_INT, all, 2, MPI_INT, inter);
    for (int i = 0; i < remote; i++) CHECK(all[2 * i] == value(!high, i) && all[2 * i + 1] == -value(!high, i));
    for (int i = 0; i < remote; i++) counts[i] = i % 3, displs[i] = total + 1, total += counts[i] + 1;
    memset(all, 0xff, sizeof(int) * (size_t)(total + 1));
    MPI_Allgatherv(mine, rank % 3, MPI_INT, all, counts, displs, MPI_INT, inter);
    for (int i = 0; i < remote; i++) {
        CHECK_EQ(all[displs[i] - 1], -1); /* between the blocks nothing is touched */
        for (int j = 0; j < counts[i]; j++) CHECK_EQ(all[displs[i] + j], j ? -value(!high, i) : value(!high, i));
    }
    for (int i = 0; i < remote; i++) out[i] = 100 * value(high, rank) + i;
    MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < remote; i++) CHECK_EQ(all[i], 100 * value(!high, i) + rank);
    /* From i to j go (i + j) % 2 + 1 numbers. */
    for (int i = 0; i < remote; i++) counts[i] = (rank + i) % 2 + 1, first[i] = 2 * i, same[i] = 0;
    for (int i = 0; i < remote; i++) out[2 * i] = value(high, rank) + i, out[2 * i + 1] = -i;
    MPI_Alltoallv(out, counts, first, MPI_INT, all, counts, first, MPI_INT, inter);
    for (int i = 0; i < remote; i++) {
        CHECK_EQ(all[2 * i], value(!high, i) + rank);
        if (counts[i] > 1) CHECK_EQ(all[2 * i + 1], -rank);
    }
    MPI_Datatype *types = malloc(sizeof *types * (size_t)remote);
    for (int i = 0; i < remote; i++) types[i] = MPI_INT, same[i] = (int)sizeof(int) * 2 * i, all[2 * i] = -1;
    MPI_Alltoallw(out, counts, same, types, all, counts, same, types, inter);
    for (int i = 0; i < remote; i++) CHECK_EQ(all[2 * i], value(!high, i) + rank);

    for (int i = 0; i < remote; i++) want += value(!high, i);
    MPI_Allreduce(mine, sum, 2, MPI_INT, MPI_SUM, inter);
    CHECK(sum[0] == want && sum[1] == -want);

    /* A vector of size * remote numbers on both sides; each gets an equal part of the other side's sum. */
    int length = size * remote, *vector = malloc(sizeof(int) * (size_t)length),
        *part = malloc(sizeof(int) * (size_t)(length + 1)), *shares = malloc(sizeof(int) * (size_t)size);
    for (int i = 0; i < length; i++) vector[i] = value(high, rank) * (i + 1);
    MPI_Reduce_scatter_block(vector, part, remote, MPI_INT, MPI_SUM, inter);
    for (int i = 0; i < remote; i++) CHECK_EQ(part[i], want * (rank * remote + i + 1));
    for (int i = 0; i < size; i++) shares[i] = i == size - 1 ? length : 0; /* all to the last */
    part[0] = -3;
    MPI_Reduce_scatter(vector, part, shares, MPI_INT, MPI_SUM, inter);
    if (rank < size - 1) CHECK_EQ(part[0], -3);
    else
        for (int i = 0; i < length; i++) CHECK_EQ(part[i], want * (i + 1));
    free(all), free(out), free(counts), free(displs), free(same), free(first), free(types), free(vector), free(part),
        free(shares);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm local;
    lows = (check_size + 1) / 2;
    high = check_rank >= lows;
    MPI_Comm_split(MPI_COMM_WORLD, high, check_rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, high ? 0 : lows, 7, &inter);
    MPI_Comm_rank(inter, &rank);
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &remote);
    for (int side = 0; side < 2; side++)
        for (int r = 0; r < (side ? check_size - lows : lows); r++) rooted(side, r);
    for (int i = 0; i < 3; i++) {
        everywhere();
        MPI_Barrier(inter);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    return check_end();
}
