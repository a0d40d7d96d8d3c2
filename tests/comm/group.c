/* Groups: sets of ranks with an order. */
#include "../check.h"

static MPI_Group world;

static void is(MPI_Group g, int n, const int *ranks)
{
    int size = -1, rank = -1, at = MPI_UNDEFINED, own[64], in_world[64];
    MPI_Group_size(g, &size);
    CHECK_EQ(size, n);
    for (int i = 0; i < n; i++) {
        own[i] = i;
        if (ranks[i] == check_rank) at = i;
    }
    MPI_Group_rank(g, &rank);
    CHECK_EQ(rank, at);
    MPI_Group_translate_ranks(g, n, own, world, in_world);
    for (int i = 0; i < n; i++) CHECK_EQ(in_world[i], ranks[i]);
}

static int compare(MPI_Group a, MPI_Group b)
{
    int result = -1;
    MPI_Group_compare(a, b, &result);
    return result;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 64);
    MPI_Group even, low, g, h;
    int evens[64], lows[64], want[64], n = 0, half = (check_size + 1) / 2, e = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int r = 0; r < check_size; r++) want[r] = r;
    is(world, check_size, want);
    for (int r = 0; r < check_size; r += 2) evens[e++] = r;
    for (int r = 0; r < half; r++) lows[r] = half - 1 - r; /* reversed */
    MPI_Group_incl(world, e, evens, &even);
    is(even, e, evens);
    MPI_Group_incl(world, half, lows, &low);
    is(low, half, lows);

    /* Union: first group, then what is new in the second. */
    MPI_Group_union(even, low, &g);
    n = 0;
    for (int i = 0; i < e; i++) want[n++] = evens[i];
    for (int i = 0; i < half; i++)
        if (lows[i] % 2) want[n++] = lows[i];
    is(g, n, want);
    MPI_Group_free(&g);
    CHECK(g == MPI_GROUP_NULL);
    /* Intersection and difference: in the order of the first. */
    MPI_Group_intersection(low, even, &g);
    n = 0;
    for (int i = 0; i < half; i++)
        if (lows[i] % 2 == 0) want[n++] = lows[i];
    is(g, n, want);
    MPI_Group_free(&g);
    MPI_Group_difference(even, low, &g);
    n = 0;
    for (int i = 0; i < e; i++)
        if (evens[i] >= half) want[n++] = evens[i];
    is(g, n, want);
    if (n > 0) MPI_Group_free(&g);
    else CHECK(g == MPI_GROUP_EMPTY || compare(g, MPI_GROUP_EMPTY) == MPI_IDENT);

    MPI_Group_excl(world, e, evens, &g);
    n = 0;
    for (int r = 1; r < check_size; r += 2) want[n++] = r;
    is(g, n, want);
    CHECK_EQ(compare(g, even), MPI_UNEQUAL);
    if (n > 0) MPI_Group_free(&g);
    int range[2][3] = {{check_size - 1, 0, -2}, {0, 0, 1}};
    if (check_size % 2 == 0) { /* otherwise rank 0 is named twice */
        MPI_Group_range_incl(world, 2, range, &g);
        n = 0;
        for (int r = check_size - 1; r >= 0; r -= 2) want[n++] = r;
        want[n++] = 0;
        is(g, n, want);
        MPI_Group_free(&g);
    }
    MPI_Group_range_excl(world, 1, range, &g);
    n = 0;
    for (int r = 0; r < check_size; r++)
        if ((check_size - 1 - r) % 2) want[n++] = r;
    is(g, n, want);
    if (n > 0) MPI_Group_free(&g);

    MPI_Group_incl(world, 0, NULL, &g);
    CHECK_EQ(compare(g, MPI_GROUP_EMPTY), MPI_IDENT);
    MPI_Comm_group(MPI_COMM_WORLD, &h);
    CHECK_EQ(compare(world, h), MPI_IDENT);
    MPI_Group_free(&h);
    for (int r = 0; r < check_size; r++) want[r] = check_size - 1 - r;
    MPI_Group_incl(world, check_size, want, &h);
    CHECK_EQ(compare(world, h), check_size > 1 ? MPI_SIMILAR : MPI_IDENT);
    int one = 0, there = -1;
    MPI_Group_translate_ranks(h, 1, &one, even, &there);
    CHECK_EQ(there, (check_size - 1) % 2 ? MPI_UNDEFINED : (check_size - 1) / 2);
    one = MPI_PROC_NULL;
    MPI_Group_translate_ranks(h, 1, &one, even, &there);
    CHECK_EQ(there, MPI_PROC_NULL);
    MPI_Group_free(&h);
    MPI_Group_free(&even);
    MPI_Group_free(&low);
    MPI_Group_free(&world);
    return check_end();
}
