/* heat2d.c - heat spreads over a square plate; explicit steps on a grid that the ranks share.
 *
 *   mpiexec -n 4 ./heat2d [points [steps [picture.ppm [checkpoint]]]]
 *
 * The ranks form a grid of their own, as square as their number allows. Each holds a block of the plate with a
 * border one point wide, which it exchanges with its four neighbors before every step: rows as they lie,
 * columns by a vector type. The rim of the plate stays cold, a disc in it starts hot. At the end rank 0
 * collects the blocks, each as a subarray of the picture.
 *
 * With a checkpoint, the plate is kept in that file every 50 steps and at the end, and a run that finds one goes on
 * from there, on as many ranks as it likes: the file is the plate, of which each rank's view shows its block.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int rows, columns;              /* ranks down, ranks across */
    int row, column;                /* ours */
    int north, south, west, east;   /* neighbors, or MPI_PROC_NULL */
} Grid;

static int rank, size;

static int first(int points, int parts, int part) { return (int)((long long)points * part / parts); }

static Grid arrange(void)
{
    Grid g = {.rows = 1};
    for (int d = 1; d * d <= size; d++)
        if (size % d == 0) g.rows = d;
    g.columns = size / g.rows;
    g.row = rank / g.columns;
    g.column = rank % g.columns;
    g.north = g.row > 0 ? rank - g.columns : MPI_PROC_NULL;
    g.south = g.row < g.rows - 1 ? rank + g.columns : MPI_PROC_NULL;
    g.west = g.column > 0 ? rank - 1 : MPI_PROC_NULL;
    g.east = g.column < g.columns - 1 ? rank + 1 : MPI_PROC_NULL;
    return g;
}

/* Fill the border of the block from the neighbors; stride is the length of a row with its border. */
static void exchange(const Grid *g, double *t, int height, int width, MPI_Datatype column)
{
    int stride = width + 2;
    MPI_Request request[8];
    MPI_Irecv(&t[1], width, MPI_DOUBLE, g->north, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(&t[(height + 1) * stride + 1], width, MPI_DOUBLE, g->south, 0, MPI_COMM_WORLD, &request[1]);
    MPI_Irecv(&t[stride], 1, column, g->west, 0, MPI_COMM_WORLD, &request[2]);
    MPI_Irecv(&t[stride + width + 1], 1, column, g->east, 0, MPI_COMM_WORLD, &request[3]);
    MPI_Isend(&t[stride + 1], width, MPI_DOUBLE, g->north, 0, MPI_COMM_WORLD, &request[4]);
    MPI_Isend(&t[height * stride + 1], width, MPI_DOUBLE, g->south, 0, MPI_COMM_WORLD, &request[5]);
    MPI_Isend(&t[stride + 1], 1, column, g->west, 0, MPI_COMM_WORLD, &request[6]);
    MPI_Isend(&t[stride + width], 1, column, g->east, 0, MPI_COMM_WORLD, &request[7]);
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
}

/* One step; returns the largest change. */
static double step(const double *from, double *to, int height, int width)
{
    int stride = width + 2;
    double largest = 0;
    for (int y = 1; y <= height; y++)
        for (int x = 1; x <= width; x++) {
            const double *p = &from[y * stride + x];
            double change = 0.25 * (p[-1] + p[1] + p[-stride] + p[stride]) - p[0];
            to[y * stride + x] = p[0] + change;
            if (change < 0) change = -change;
            if (change > largest) largest = change;
        }
    return largest;
}

/* Rank 0 gets the whole plate, points x points; the others NULL. */
static double *collect(const Grid *g, double *t, int height, int width, int points)
{
    int whole[2] = {height + 2, width + 2}, inner[2] = {height, width}, at[2] = {1, 1};
    double *plate = NULL;
    MPI_Datatype block;
    MPI_Request mine = MPI_REQUEST_NULL;
    if (height > 0 && width > 0) {
        MPI_Type_create_subarray(2, whole, inner, at, MPI_ORDER_C, MPI_DOUBLE, &block);
        MPI_Type_commit(&block);
        MPI_Isend(t, 1, block, 0, 1, MPI_COMM_WORLD, &mine);
        MPI_Type_free(&block);
    }
    if (rank == 0) {
        plate = malloc(sizeof *plate * (size_t)points * (size_t)points);
        if (!plate) MPI_Abort(MPI_COMM_WORLD, 1);
        for (int r = 0; r < size; r++) {
            int row = r / g->columns, column = r % g->columns;
            int full[2] = {points, points}, start[2] = {first(points, g->rows, row), first(points, g->columns, column)};
            int part[2] = {first(points, g->rows, row + 1) - start[0],
                           first(points, g->columns, column + 1) - start[1]};
            if (part[0] == 0 || part[1] == 0) continue;
            MPI_Type_create_subarray(2, full, part, start, MPI_ORDER_C, MPI_DOUBLE, &block);
            MPI_Type_commit(&block);
            MPI_Recv(plate, 1, block, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Type_free(&block);
        }
    }
    MPI_Wait(&mine, MPI_STATUS_IGNORE);
    return plate;
}

/* The part of a points x points plate that is ours, or of our block without its border; counts elements of it. */
static MPI_Datatype part_of(const int whole[2], const int part[2], const int at[2], int *count)
{
    MPI_Datatype t;
    *count = part[0] > 0 && part[1] > 0;
    if (*count) MPI_Type_create_subarray(2, whole, part, at, MPI_ORDER_C, MPI_DOUBLE, &t);
    else MPI_Type_contiguous(1, MPI_DOUBLE, &t); /* more ranks than points: this one moves nothing */
    MPI_Type_commit(&t);
    return t;
}

/* Errors of files are returned; one of them ends the job, and says why. */
static void must(int code, const char *path)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &n);
    fprintf(stderr, "%s: %s\n", path, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Write the plate to the checkpoint, or read it: first how many points and steps, then the points row by row. */
static void move_plate(const Grid *g, const char *path, int writes, int points, long long *steps, double *t)
{
    int whole[2] = {points, points}, border[2] = {1, 1}, count;
    int start[2] = {first(points, g->rows, g->row), first(points, g->columns, g->column)};
    int part[2] = {first(points, g->rows, g->row + 1) - start[0], first(points, g->columns, g->column + 1) - start[1]};
    int room[2] = {part[0] + 2, part[1] + 2};
    MPI_Datatype in_file = part_of(whole, part, start, &count), in_memory = part_of(room, part, border, &count);
    long long head[2] = {points, *steps};
    MPI_File f;
    must(MPI_File_open(MPI_COMM_WORLD, path, writes ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY,
                       MPI_INFO_NULL, &f), path);
    if (writes && rank == 0) must(MPI_File_write_at(f, 0, head, 2, MPI_LONG_LONG, MPI_STATUS_IGNORE), path);
    if (!writes) must(MPI_File_read_at_all(f, 0, head, 2, MPI_LONG_LONG, MPI_STATUS_IGNORE), path);
    if (head[0] != points) {
        if (rank == 0) fprintf(stderr, "%s: %lld x %lld points, not %d x %d\n", path, head[0], head[0], points, points);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    *steps = head[1];
    must(MPI_File_set_view(f, sizeof head, MPI_DOUBLE, in_file, "native", MPI_INFO_NULL), path);
    if (writes) must(MPI_File_write_all(f, t, count, in_memory, MPI_STATUS_IGNORE), path);
    else must(MPI_File_read_all(f, t, count, in_memory, MPI_STATUS_IGNORE), path);
    must(MPI_File_close(&f), path);
    MPI_Type_free(&in_file);
    MPI_Type_free(&in_memory);
}

/* The new checkpoint takes the place of the old one when it is whole. */
static void keep(const Grid *g, const char *path, int points, long long steps, double *t)
{
    char unfinished[4096];
    snprintf(unfinished, sizeof unfinished, "%s.unfinished", path);
    move_plate(g, unfinished, 1, points, &steps, t);
    if (rank == 0 && rename(unfinished, path) != 0) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static int exists(const char *path)
{
    FILE *f = rank == 0 ? fopen(path, "rb") : NULL;
    int there = f != NULL;
    if (f) fclose(f);
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return there;
}

/* Black to red to yellow to white. */
static int write_picture(const char *path, const double *plate, int points)
{
    FILE *f = fopen(path, "wb");
    if (!f) return 0;
    fprintf(f, "P6\n%d %d\n255\n", points, points);
    for (long i = 0; i < (long)points * points; i++)
        for (int c = 0; c < 3; c++) {
            double v = 3 * plate[i] - c;
            fputc(v < 0 ? 0 : v > 1 ? 255 : (int)(255 * v), f);
        }
    return fclose(f) == 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int points = argc > 1 ? atoi(argv[1]) : 256, steps = argc > 2 ? atoi(argv[2]) : 500, failed = 0;
    if (points < 1 || points > 30000 || steps < 0) {
        if (rank == 0) fprintf(stderr, "usage: heat2d [points [steps [picture.ppm [checkpoint]]]]\n");
        MPI_Finalize();
        return 2;
    }
    Grid g = arrange();
    int top = first(points, g.rows, g.row), left = first(points, g.columns, g.column);
    int height = first(points, g.rows, g.row + 1) - top, width = first(points, g.columns, g.column + 1) - left;
    int stride = width + 2;
    size_t room = (size_t)(height + 2) * (size_t)stride;
    double *now = calloc(room, sizeof *now), *next = calloc(room, sizeof *next);
    if (!now || !next) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double dy = (top + y) - 0.4 * points, dx = (left + x) - 0.6 * points;
            if (dx * dx + dy * dy < 0.04 * points * points) now[(y + 1) * stride + x + 1] = 1;
        }

    MPI_Datatype column;
    MPI_Type_vector(height, 1, stride, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    double change = 0, largest = 0, began = MPI_Wtime();
    const char *checkpoint = argc > 4 ? argv[4] : NULL;
    long long done = 0;
    if (checkpoint && exists(checkpoint)) move_plate(&g, checkpoint, 0, points, &done, now);
    for (long long s = done; s < steps; s++) {
        exchange(&g, now, height, width, column);
        change = step(now, next, height, width);
        double *swap = now;
        now = next;
        next = swap;
        if (checkpoint && ((s + 1) % 50 == 0 || s + 1 == steps)) keep(&g, checkpoint, points, s + 1, now);
    }
    double seconds = MPI_Wtime() - began;
    MPI_Type_free(&column);
    MPI_Reduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    double *plate = collect(&g, now, height, width, points);
    if (rank == 0) {
        double heat = 0;
        for (long i = 0; i < (long)points * points; i++) heat += plate[i];
        printf("%d x %d points on %d x %d ranks, %d steps, %.3f s\n", points, points, g.rows, g.columns, steps,
               seconds);
        printf("answer: heat=%.12e change=%.12e\n", heat, largest);
        if (argc > 3 && !write_picture(argv[3], plate, points)) {
            perror(argv[3]);
            failed = 1;
        }
    }
    free(plate);
    free(now);
    free(next);
    MPI_Finalize();
    return failed;
}
