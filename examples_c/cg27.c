/* cg27.c - conjugate gradients on a 27-point operator in three dimensions, in the manner of the HPCG benchmark.
 *
 *   mpiexec -n 4 ./cg27 [-t] [points [iterations [tolerance]]]     -t: where the time goes
 *
 * Each rank holds a cube of points x points x points unknowns; the cubes stand in a grid that MPI chooses. A point is
 * tied to its 26 neighbors: 26 on the diagonal, -1 beside it. The preconditioner is one symmetric Gauss-Seidel sweep
 * within the cube. A cube lies in an array with a border one point wide, which the up to 26 neighboring ranks fill
 * before each product: faces, edges and corners, each a subarray on both sides. The border of what the preconditioner
 * works on is never filled: zeros stand there.
 *
 * The right-hand side is that of a solution of ones. The answer depends on the number of ranks, since their cubes add
 * up to the grid, but not on where they run; a reduction may add in another order, so it is printed to few digits.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 26 };

/* A rank's cube, and what stands around it. */
typedef struct {
    MPI_Comm comm;
    int ranks[3], at[3];                        /* the grid of ranks, and our place in it */
    int points, side;                           /* of the cube, without and with its border */
    int neighbors, rank[AROUND];               /* those that there are */
    int out_tag[AROUND], in_tag[AROUND];        /* the direction in which a message travels */
    MPI_Datatype inner[AROUND], border[AROUND]; /* what we send to each, and where its points go */
} Cube;

enum { DDOT, HALO, SPMV, WAXPBY, SYMGS, PARTS };
static const char *const part_name[PARTS] = {"ddot", "halo", "spmv", "waxpby", "symgs"};
static double spent[PARTS];                     /* seconds of this rank */

static MPI_Datatype region(const Cube *c, const int size[3], const int start[3])
{
    int whole[3] = {c->side, c->side, c->side};
    MPI_Datatype type;
    MPI_Type_create_subarray(3, whole, size, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The neighbor in direction d, if the grid has one there. */
static void meet(Cube *c, const int d[3])
{
    int there[3], size[3], inner[3], border[3], i = c->neighbors;
    for (int a = 0; a < 3; a++) {
        there[a] = c->at[a] + d[a];
        if (there[a] < 0 || there[a] >= c->ranks[a]) return;
        size[a] = d[a] ? 1 : c->points;
        inner[a] = d[a] > 0 ? c->points : 1;
        border[a] = d[a] > 0 ? c->points + 1 : d[a] < 0 ? 0 : 1;
    }
    MPI_Cart_rank(c->comm, there, &c->rank[i]);
    c->out_tag[i] = (d[0] + 1) * 9 + (d[1] + 1) * 3 + d[2] + 1;
    c->in_tag[i] = AROUND - c->out_tag[i];
    c->inner[i] = region(c, size, inner);
    c->border[i] = region(c, size, border);
    c->neighbors++;
}

static Cube arrange(int points)
{
    Cube c = {.points = points, .side = points + 2};
    int size, rank, periods[3] = {0, 0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, c.ranks);
    MPI_Cart_create(MPI_COMM_WORLD, 3, c.ranks, periods, 1, &c.comm);
    MPI_Comm_rank(c.comm, &rank);
    MPI_Cart_coords(c.comm, rank, 3, c.at);
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++)
                if (x || y || z) meet(&c, (int[3]){z, y, x});
    return c;
}

/* Where row (z, y) of the cube begins, counted without the border. */
static size_t row(const Cube *c, int z, int y)
{
    size_t side = (size_t)c->side;
    return ((size_t)(z + 1) * side + (size_t)(y + 1)) * side + 1;
}

/* Fill the border of v. */
static void exchange(const Cube *c, double *v)
{
    double began = MPI_Wtime();
    MPI_Request request[AROUND];
    for (int i = 0; i < c->neighbors; i++)
        MPI_Irecv(v, 1, c->border[i], c->rank[i], c->in_tag[i], c->comm, &request[i]);
    for (int i = 0; i < c->neighbors; i++) MPI_Send(v, 1, c->inner[i], c->rank[i], c->out_tag[i], c->comm);
    MPI_Waitall(c->neighbors, request, MPI_STATUSES_IGNORE);
    spent[HALO] += MPI_Wtime() - began;
}

/* The sum of the 27 values at and around p. */
static inline double sum27(const double *p, size_t side)
{
    double sum = 0;
    for (const double *plane = p - side * side; plane <= p + side * side; plane += side * side)
        for (const double *q = plane - side; q <= plane + side; q += side) sum += q[-1] + q[0] + q[1];
    return sum;
}

/* y = A x; fills the border of x. */
static void multiply(const Cube *c, double *x, double *y)
{
    exchange(c, x);
    double began = MPI_Wtime();
    size_t side = (size_t)c->side;
    for (int k = 0; k < c->points; k++)
        for (int j = 0; j < c->points; j++) {
            size_t at = row(c, k, j);
            for (size_t i = at; i < at + (size_t)c->points; i++) y[i] = 27 * x[i] - sum27(&x[i], side);
        }
    spent[SPMV] += MPI_Wtime() - began;
}

/* z = M^-1 r: from z = 0 through the points and back. */
static void precondition(const Cube *c, const double *r, double *z)
{
    double began = MPI_Wtime();
    size_t side = (size_t)c->side;
    memset(z, 0, side * side * side * sizeof *z);
    for (int k = 0; k < c->points; k++)
        for (int j = 0; j < c->points; j++) {
            size_t at = row(c, k, j);
            for (size_t i = at; i < at + (size_t)c->points; i++) z[i] = (r[i] + sum27(&z[i], side) - z[i]) / 26;
        }
    for (int k = c->points - 1; k >= 0; k--)
        for (int j = c->points - 1; j >= 0; j--) {
            size_t at = row(c, k, j);
            for (size_t i = at + (size_t)c->points; i-- > at;) z[i] = (r[i] + sum27(&z[i], side) - z[i]) / 26;
        }
    spent[SYMGS] += MPI_Wtime() - began;
}

/* The scalar product over all ranks. */
static double dot(const Cube *c, const double *a, const double *b)
{
    double began = MPI_Wtime(), mine = 0, all = 0;
    for (int k = 0; k < c->points; k++)
        for (int j = 0; j < c->points; j++) {
            size_t at = row(c, k, j);
            for (size_t i = at; i < at + (size_t)c->points; i++) mine += a[i] * b[i];
        }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, c->comm);
    spent[DDOT] += MPI_Wtime() - began;
    return all;
}

/* w = f a + g b; w may be a or b. */
static void waxpby(const Cube *c, double *w, double f, const double *a, double g, const double *b)
{
    double began = MPI_Wtime();
    for (int k = 0; k < c->points; k++)
        for (int j = 0; j < c->points; j++) {
            size_t at = row(c, k, j);
            for (size_t i = at; i < at + (size_t)c->points; i++) w[i] = f * a[i] + g * b[i];
        }
    spent[WAXPBY] += MPI_Wtime() - began;
}

static double *need(const Cube *c)
{
    size_t side = (size_t)c->side;
    double *v = calloc(side * side * side, sizeof *v);
    if (!v) MPI_Abort(MPI_COMM_WORLD, 1);
    return v;
}

/* Solve A x = b from x = 0, where r = b; r becomes b - A x. Returns the iterations. */
static int conjugate_gradient(const Cube *c, double *x, double *r, int most, double tolerance, double *residual)
{
    double *z = need(c), *p = need(c), *q = need(c);
    double norm = sqrt(dot(c, r, r)), rz = 1;
    int k = 0;
    for (*residual = 1; k < most && *residual > tolerance; k++) {
        precondition(c, r, z);
        double before = rz;
        rz = dot(c, r, z);
        waxpby(c, p, 1, z, k ? rz / before : 0, p);
        multiply(c, p, q);
        double alpha = rz / dot(c, p, q);
        waxpby(c, x, 1, x, alpha, p);
        waxpby(c, r, 1, r, -alpha, q);
        *residual = sqrt(dot(c, r, r)) / norm;
    }
    free(z);
    free(p);
    free(q);
    return k;
}

/* Floating-point operations as HPCG counts them, two for each of the 27 points of a product and of each sweep, and the
 * shares of the time, over all ranks. */
static void tell(const Cube *c, int iterations, double seconds)
{
    int rank, size = c->ranks[0] * c->ranks[1] * c->ranks[2];
    double operations = (3 * 2 + 3 * 2 + 3 * 2 * 27) * pow(c->points, 3) * size * iterations, all[PARTS], total;
    MPI_Comm_rank(c->comm, &rank);
    MPI_Reduce(spent, all, PARTS, MPI_DOUBLE, MPI_SUM, 0, c->comm);
    MPI_Reduce(&seconds, &total, 1, MPI_DOUBLE, MPI_SUM, 0, c->comm);
    if (rank != 0) return;
    printf("%.3f GFLOP/s:", operations / seconds / 1e9);
    for (int i = 0; i < PARTS; i++) printf("%s %s %.1f %%", i ? "," : "", part_name[i], 100 * all[i] / total);
    printf("\n");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, detailed = argc > 1 && !strcmp(argv[1], "-t");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    argc -= detailed;
    argv += detailed;
    int points = argc > 1 ? atoi(argv[1]) : 32, most = argc > 2 ? atoi(argv[2]) : 500;
    double tolerance = argc > 3 ? strtod(argv[3], NULL) : 1e-9, residual;
    if (argc > 4 || points < 1 || points > 1000 || most < 1) {
        if (rank == 0) fprintf(stderr, "usage: cg27 [-t] [points [iterations [tolerance]]]\n");
        MPI_Finalize();
        return 2;
    }
    Cube c = arrange(points);
    MPI_Comm_rank(c.comm, &rank);
    double *x = need(&c), *b = need(&c);
    for (int k = 0; k < points; k++)
        for (int j = 0; j < points; j++)
            for (int i = 0; i < points; i++) x[row(&c, k, j) + (size_t)i] = 1;
    multiply(&c, x, b);
    memset(x, 0, (size_t)c.side * (size_t)c.side * (size_t)c.side * sizeof *x);
    memset(spent, 0, sizeof spent);
    double began = MPI_Wtime();
    int iterations = conjugate_gradient(&c, x, b, most, tolerance, &residual);
    double seconds = MPI_Wtime() - began;
    if (rank == 0)
        printf("%d x %d x %d ranks of %d^3 points, %.3f s\n", c.ranks[0], c.ranks[1], c.ranks[2], points, seconds);
    if (detailed) tell(&c, iterations, seconds);
    if (rank == 0) printf("answer: iterations=%d residual=%.4e\n", iterations, residual);
    free(x);
    free(b);
    for (int i = 0; i < c.neighbors; i++) {
        MPI_Type_free(&c.inner[i]);
        MPI_Type_free(&c.border[i]);
    }
    MPI_Comm_free(&c.comm);
    MPI_Finalize();
    return 0;
}
