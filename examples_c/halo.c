/* halo.c - heat that spreads in a plate; borders travel by MPI_Put into the neighbors' memory.
 *
 *   mpiexec -n 4 ./halo [width height steps]
 *
 * Rows are dealt out to the ranks, and each has two more: the last of the rank above and the first of the one below.
 * Its neighbors put them there. A rank exposes its memory to its neighbors alone (MPI_Win_post), puts its own border
 * rows to them (MPI_Win_start, MPI_Win_complete), computes the rows that need no neighbor meanwhile, and goes on
 * with the others when its neighbors are done (MPI_Win_wait). There are two grids, as what is read must not be
 * written, and a window for each. The heat is computed in whole numbers, so that none is lost: the check.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, width;

static int first(int height, int part) { return (int)((long long)height * part / size); }

/* A sixteenth of the difference flows between two cells; both compute the same number. */
static int64_t flow(int64_t from, int64_t to) { return (from - to) / 16; }

static void step(const int64_t *from, int64_t *to, int y, int top, int bottom)
{
    const int64_t *row = from + (size_t)y * (size_t)width;
    for (int x = 0; x < width; x++) {
        int64_t v = row[x], sum = v;
        if (x > 0) sum += flow(row[x - 1], v);
        if (x < width - 1) sum += flow(row[x + 1], v);
        if (!top) sum += flow(row[x - width], v);
        if (!bottom) sum += flow(row[x + width], v);
        to[(size_t)y * (size_t)width + (size_t)x] = sum;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    width = argc > 1 ? atoi(argv[1]) : 100;
    int height = argc > 2 ? atoi(argv[2]) : 100, steps = argc > 3 ? atoi(argv[3]) : 300;
    if (width < 1 || steps < 0 || height < size) {
        if (rank == 0) fprintf(stderr,
                               "halo: a row for each rank is needed, a column, and no negative number of steps\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int from = first(height, rank), rows = first(height, rank + 1) - from;
    int64_t *grid[2];
    MPI_Win win[2];
    for (int g = 0; g < 2; g++)
        MPI_Win_allocate((MPI_Aint)sizeof(int64_t) * width * (rows + 2), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD,
                         &grid[g], &win[g]);
    for (int y = 0; y < rows + 2; y++)
        for (int x = 0; x < width; x++) { /* a hot square in the middle of the plate */
            int down = from + y - 1, hot = abs(2 * x - width) < width / 2 && abs(2 * down - height) < height / 2;
            grid[0][(size_t)y * (size_t)width + (size_t)x] = grid[1][(size_t)y * (size_t)width + (size_t)x] =
                hot ? 1000000000 : 0;
        }

    MPI_Group world, neighbors;
    int near[2], n = 0;
    if (rank > 0) near[n++] = rank - 1;
    if (rank < size - 1) near[n++] = rank + 1;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, n, near, &neighbors);
    MPI_Aint below_last = rank > 0 ? (MPI_Aint)width * (from - first(height, rank - 1) + 1) : 0;
    for (int t = 0; t < steps; t++) {
        int64_t *now = grid[t % 2], *next = grid[(t + 1) % 2];
        MPI_Win w = win[t % 2];
        int top = rank == 0, bottom = rank == size - 1;
        MPI_Win_post(neighbors, 0, w);
        MPI_Win_start(neighbors, 0, w);
        if (!top) MPI_Put(now + width, width, MPI_INT64_T, rank - 1, below_last, width, MPI_INT64_T, w);
        if (!bottom) MPI_Put(now + (size_t)rows * (size_t)width, width, MPI_INT64_T, rank + 1, 0, width,
                             MPI_INT64_T, w);
        for (int y = 2; y < rows; y++) step(now, next, y, 0, 0);
        MPI_Win_complete(w);
        MPI_Win_wait(w);
        step(now, next, 1, top, bottom && rows == 1);
        if (rows > 1) step(now, next, rows, 0, bottom);
    }

    /* All that there was is there; the mark tells one plate from another, and not how many ranks had it. */
    const int64_t *end = grid[steps % 2];
    int64_t sums[3] = {0, 0, 0}, all[3];
    for (int y = 1; y <= rows; y++)
        for (int x = 0; x < width; x++) {
            int64_t v = end[(size_t)y * (size_t)width + (size_t)x];
            int down = from + y - 1, hot = abs(2 * x - width) < width / 2 && abs(2 * down - height) < height / 2;
            sums[0] += v;
            sums[1] += hot ? 1000000000 : 0;
            sums[2] += v % 1000003 * ((down * 31 + x * 17) % 1009);
        }
    MPI_Allreduce(sums, all, 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("answer: after %d steps of %d x %d the heat is %lld, mark %lld: %s\n", steps, width, height,
               (long long)all[0], (long long)all[2], all[0] == all[1] ? "none is lost" : "WRONG");
    MPI_Group_free(&world);
    MPI_Group_free(&neighbors);
    for (int g = 0; g < 2; g++) MPI_Win_free(&win[g]);
    MPI_Finalize();
    return all[0] == all[1] ? 0 : 1;
}
