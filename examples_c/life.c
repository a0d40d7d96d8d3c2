/* life.c - Conway's game of life on a torus, rows dealt out to the ranks.
 *
 *   mpiexec -n 4 ./life [width height generations [picture.pgm]]
 *
 * The start is a random soup that depends on the size alone, so every number of ranks gives the same end.
 * Each rank has its rows and one more above and below, which it gets from its neighbors by
 * persistent requests made once. Ranks without rows take no part.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static int first(int height, int part) { return (int)((long long)height * part / size); }

static int soup(int x, int y)
{
    uint64_t h = (uint64_t)x * 0x9e3779b97f4a7c15ull + (uint64_t)y * 0xc2b2ae3d27d4eb4full;
    h ^= h >> 31;
    h *= 0xbf58476d1ce4e5b9ull;
    return (h >> 40) % 3 == 0;
}

static void generation(const unsigned char *from, unsigned char *to, int rows, int width)
{
    for (int y = 1; y <= rows; y++)
        for (int x = 0; x < width; x++) {
            int left = (x + width - 1) % width, right = (x + 1) % width, around = 0;
            for (int dy = -1; dy <= 1; dy++) {
                const unsigned char *line = &from[(size_t)(y + dy) * (size_t)width];
                around += line[left] + line[x] + line[right];
            }
            size_t at = (size_t)y * (size_t)width + (size_t)x;
            around -= from[at];
            to[at] = around == 3 || (around == 2 && from[at]);
        }
}

/* Requests that fill the border rows of one grid from the neighbors, and send them ours. */
static void plan(unsigned char *grid, int rows, int width, int above, int below, MPI_Comm comm, MPI_Request request[4])
{
    size_t w = (size_t)width, last = (size_t)rows;
    MPI_Recv_init(grid, width, MPI_UNSIGNED_CHAR, above, 1, comm, &request[0]);
    MPI_Recv_init(grid + (last + 1) * w, width, MPI_UNSIGNED_CHAR, below, 2, comm, &request[1]);
    MPI_Send_init(grid + last * w, width, MPI_UNSIGNED_CHAR, below, 1, comm, &request[2]);
    MPI_Send_init(grid + w, width, MPI_UNSIGNED_CHAR, above, 2, comm, &request[3]);
}

/* Rank 0 writes the whole grid. */
static int picture(const char *path, unsigned char *grid, int rows, int width, int height)
{
    int *counts = calloc((size_t)size, sizeof *counts), *at = calloc((size_t)size, sizeof *at), good = 1;
    unsigned char *all = rank == 0 ? malloc((size_t)width * (size_t)height) : NULL;
    for (int r = 0; r < size; r++) {
        at[r] = first(height, r);
        counts[r] = first(height, r + 1) - at[r];
    }
    MPI_Datatype row;
    MPI_Type_contiguous(width, MPI_UNSIGNED_CHAR, &row);
    MPI_Type_commit(&row);
    MPI_Gatherv(grid + width, rows, row, all, counts, at, row, 0, MPI_COMM_WORLD);
    MPI_Type_free(&row);
    if (rank == 0) {
        FILE *f = fopen(path, "wb");
        if (f) {
            fprintf(f, "P5\n%d %d\n1\n", width, height);
            fwrite(all, 1, (size_t)width * (size_t)height, f);
            good = fclose(f) == 0;
        } else {
            perror(path);
            good = 0;
        }
    }
    free(all);
    free(counts);
    free(at);
    return good;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int width = argc > 1 ? atoi(argv[1]) : 128, height = argc > 2 ? atoi(argv[2]) : width, steps = argc > 3
        ? atoi(argv[3]) : 200;
    if (width < 1 || height < 1 || steps < 0) {
        if (rank == 0) fprintf(stderr, "usage: life [width height generations [picture.pgm]]\n");
        MPI_Finalize();
        return 2;
    }
    int top = first(height, rank), rows = first(height, rank + 1) - top;
    unsigned char *grid[2];
    for (int g = 0; g < 2; g++)
        if (!(grid[g] = calloc((size_t)(rows + 2) * (size_t)width, 1))) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < width; x++) {
            grid[0][(size_t)(y + 1) * (size_t)width + (size_t)x] = (unsigned char)soup(x, top + y);
        }

    MPI_Comm players;
    MPI_Comm_split(MPI_COMM_WORLD, rows > 0 ? 0 : MPI_UNDEFINED, rank, &players);
    if (players != MPI_COMM_NULL) {
        int me, count;
        MPI_Comm_rank(players, &me);
        MPI_Comm_size(players, &count);
        MPI_Request request[2][4];
        for (int g = 0; g < 2; g++) {
            plan(grid[g], rows, width, (me + count - 1) % count, (me + 1) % count, players, request[g]);
        }
        for (int s = 0; s < steps; s++) {
            MPI_Startall(4, request[s % 2]);
            MPI_Waitall(4, request[s % 2], MPI_STATUSES_IGNORE);
            generation(grid[s % 2], grid[1 - s % 2], rows, width);
        }
        for (int g = 0; g < 2; g++)
            for (int i = 0; i < 4; i++) MPI_Request_free(&request[g][i]);
        MPI_Comm_free(&players);
    }

    unsigned char *end = grid[steps % 2];
    uint64_t mine[2] = {0, 0}, all[2];
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < width; x++)
            if (end[(size_t)(y + 1) * (size_t)width + (size_t)x]) {
                mine[0]++;
                mine[1] ^= ((uint64_t)(top + y) * (uint64_t)width + (uint64_t)x + 1) * 0x9e3779b97f4a7c15ull;
            }
    MPI_Reduce(&mine[0], &all[0], 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine[1], &all[1], 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    int good = argc > 4 ? picture(argv[4], end, rows, width, height) : 1;
    if (rank == 0) {
        printf("%d x %d cells on %d ranks, %d generations\n", width, height, size, steps);
        printf("answer: alive=%llu digest=%016llx\n", (unsigned long long)all[0], (unsigned long long)all[1]);
    }
    free(grid[0]);
    free(grid[1]);
    MPI_Finalize();
    return !good;
}
