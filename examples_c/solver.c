/* solver.c - solve A x = b by conjugate gradients, A sparse, symmetric and positive definite.
 *
 *   mpiexec -n 4 ./solver matrix.mtx [tolerance [most-iterations]]
 *
 * The matrix is read from a Matrix Market file (coordinate real symmetric). b is A times a vector of ones,
 * so that the error of the solution is known. Rank 0 reads the file and deals out blocks of rows; each rank
 * keeps its block as compressed rows with the columns renumbered: own entries first, then those it
 * needs from others, which are exchanged before every product.
 *
 * Sums over all ranks are taken in rank order, from partial sums that every rank gathers. The answer
 * line therefore depends on the number of ranks only, not on where they run or how a reduction is done.
 */
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int row, column; double value; } Entry;

/* The rows of this rank, and the exchange that a product needs. */
typedef struct {
    int n;                          /* rows of the whole matrix */
    int first, rows;                /* ours: first .. first+rows-1 */
    int *start, *column;            /* compressed rows; columns count own entries, then ghosts */
    double *value, *diagonal;
    int ghosts;                     /* entries needed from others */
    int *send_count, *send_at;      /* to each rank: how many of our entries, from where in send_index */
    int *recv_count, *recv_at;      /* from each rank: how many ghosts, where they go */
    int *send_index;
    double *send_buffer;
} Matrix;

static int rank, size;

static void die(const char *what, const char *detail)
{
    fprintf(stderr, "solver: %s%s\n", what, detail);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void *need(size_t count, size_t bytes)
{
    void *p = calloc(count ? count : 1, bytes);
    if (!p) die("out of memory", "");
    return p;
}

static int first_row(int n, int of) { return (int)((long long)n * of / size); }

static int owner(int n, int row)
{
    int r = (int)((long long)row * size / n);
    while (row < first_row(n, r)) r--;
    while (row >= first_row(n, r + 1)) r++;
    return r;
}

/* Rank 0: all entries of the file, both triangles. */
static Entry *read_file(const char *path, int *n, int *count)
{
    char line[1024];
    FILE *f = fopen(path, "r");
    if (!f) die("cannot open ", path);
    if (!fgets(line, sizeof line, f) || strncmp(line, "%%MatrixMarket matrix coordinate real symmetric", 47))
        die("not a real symmetric Matrix Market coordinate file: ", path);
    do {
        if (!fgets(line, sizeof line, f)) die("no size line in ", path);
    } while (line[0] == '%');
    int columns, stored;
    if (sscanf(line, "%d %d %d", n, &columns, &stored) != 3 || *n < 1 || *n != columns || stored < 1)
        die("bad size line in ", path);
    Entry *entry = need((size_t)stored * 2, sizeof *entry);
    *count = 0;
    for (int i = 0; i < stored; i++) {
        Entry e;
        if (fscanf(f, "%d %d %lf", &e.row, &e.column, &e.value) != 3) die("file ends early: ", path);
        if (e.row < 1 || e.row > *n || e.column < 1 || e.column > *n) die("entry outside the matrix in ", path);
        e.row--;
        e.column--;
        entry[(*count)++] = e;
        if (e.row != e.column) entry[(*count)++] = (Entry){e.column, e.row, e.value};
    }
    fclose(f);
    return entry;
}

static int by_place(const void *a, const void *b)
{
    const Entry *p = a, *q = b;
    if (p->row != q->row) return p->row < q->row ? -1 : 1;
    return (p->column > q->column) - (p->column < q->column);
}

/* Give each rank the entries of its rows, sorted by row and column. */
static Entry *deal_out(const char *path, int *n, int *mine)
{
    Entry *all = NULL;
    int total = 0, *counts = need((size_t)size, sizeof *counts), *at = need((size_t)size, sizeof *at);
    if (rank == 0) {
        all = read_file(path, n, &total);
        qsort(all, (size_t)total, sizeof *all, by_place);
        for (int i = 0; i < total; i++) counts[owner(*n, all[i].row)]++;
        for (int r = 1; r < size; r++) at[r] = at[r - 1] + counts[r - 1];
    }
    MPI_Bcast(n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(counts, 1, MPI_INT, mine, 1, MPI_INT, 0, MPI_COMM_WORLD);

    MPI_Datatype packed, type;
    int length[2] = {2, 1};
    MPI_Aint place[2] = {offsetof(Entry, row), offsetof(Entry, value)};
    MPI_Datatype of[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_struct(2, length, place, of, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(Entry), &type);
    MPI_Type_commit(&type);
    Entry *own = need((size_t)*mine, sizeof *own);
    MPI_Scatterv(all, counts, at, type, own, *mine, type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&packed);
    MPI_Type_free(&type);
    free(counts);
    free(at);
    free(all);
    return own;
}

static int by_number(const void *a, const void *b)
{
    int p = *(const int *)a, q = *(const int *)b;
    return (p > q) - (p < q);
}

/* Tell the owners of the ghosts which entries we need; they keep the list. */
static void plan_exchange(Matrix *m, const int *ghost)
{
    m->recv_count = need((size_t)size, sizeof(int));
    m->recv_at = need((size_t)size, sizeof(int));
    m->send_count = need((size_t)size, sizeof(int));
    m->send_at = need((size_t)size, sizeof(int));
    for (int i = 0; i < m->ghosts; i++) m->recv_count[owner(m->n, ghost[i])]++;
    MPI_Alltoall(m->recv_count, 1, MPI_INT, m->send_count, 1, MPI_INT, MPI_COMM_WORLD);
    int sends = m->send_count[0];
    for (int r = 1; r < size; r++) {
        m->recv_at[r] = m->recv_at[r - 1] + m->recv_count[r - 1];
        m->send_at[r] = m->send_at[r - 1] + m->send_count[r - 1];
        sends += m->send_count[r];
    }
    m->send_index = need((size_t)sends, sizeof(int));
    m->send_buffer = need((size_t)sends, sizeof(double));
    MPI_Alltoallv(ghost, m->recv_count, m->recv_at, MPI_INT, m->send_index, m->send_count, m->send_at, MPI_INT,
                  MPI_COMM_WORLD);
    for (int i = 0; i < sends; i++) m->send_index[i] -= m->first;
}

static Matrix build(int n, const Entry *entry, int count)
{
    Matrix m = {.n = n, .first = first_row(n, rank)};
    m.rows = first_row(n, rank + 1) - m.first;
    int *ghost = need((size_t)count, sizeof *ghost), outside = 0;
    for (int i = 0; i < count; i++)
        if (entry[i].column < m.first || entry[i].column >= m.first + m.rows) ghost[outside++] = entry[i].column;
    qsort(ghost, (size_t)outside, sizeof *ghost, by_number);
    for (int i = 0; i < outside; i++)
        if (i == 0 || ghost[i] != ghost[i - 1]) ghost[m.ghosts++] = ghost[i];

    m.start = need((size_t)m.rows + 1, sizeof(int));
    m.column = need((size_t)count, sizeof(int));
    m.value = need((size_t)count, sizeof(double));
    m.diagonal = need((size_t)m.rows, sizeof(double));
    for (int i = 0; i < count; i++) {
        int row = entry[i].row - m.first, column = entry[i].column - m.first;
        m.start[row + 1]++;
        m.value[i] = entry[i].value;
        if (row == column) m.diagonal[row] += entry[i].value;
        if (column >= 0 && column < m.rows) {
            m.column[i] = column;
        } else {
            int *found = bsearch(&entry[i].column, ghost, (size_t)m.ghosts, sizeof *ghost, by_number);
            m.column[i] = m.rows + (int)(found - ghost);
        }
    }
    for (int row = 0; row < m.rows; row++) {
        m.start[row + 1] += m.start[row];
        if (!(m.diagonal[row] > 0)) die("the diagonal is not positive", "");
    }
    plan_exchange(&m, ghost);
    free(ghost);
    return m;
}

/* y = A x. x has room for the ghosts behind its own entries. */
static void multiply(const Matrix *m, double *x, double *y)
{
    int sends = m->send_at[size - 1] + m->send_count[size - 1];
    for (int i = 0; i < sends; i++) m->send_buffer[i] = x[m->send_index[i]];
    MPI_Alltoallv(m->send_buffer, m->send_count, m->send_at, MPI_DOUBLE,
                  x + m->rows, m->recv_count, m->recv_at, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int row = 0; row < m->rows; row++) {
        double sum = 0;
        for (int k = m->start[row]; k < m->start[row + 1]; k++) sum += m->value[k] * x[m->column[k]];
        y[row] = sum;
    }
}

/* The scalar product over all ranks, partial sums added in rank order. */
static double dot(int n, const double *a, const double *b)
{
    static double *partial;
    if (!partial) partial = need((size_t)size, sizeof *partial);
    double mine = 0, sum = 0;
    for (int i = 0; i < n; i++) mine += a[i] * b[i];
    MPI_Allgather(&mine, 1, MPI_DOUBLE, partial, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) sum += partial[r];
    return sum;
}

/* x = the solution, from x = 0. Returns the iterations; *residual is |b - A x| / |b|. */
static int conjugate_gradient(const Matrix *m, const double *b, double *x, double tolerance, int most, double *residual)
{
    int n = m->rows, k = 0;
    size_t room = (size_t)(n + m->ghosts);
    double *r = need(room, sizeof *r), *z = need(room, sizeof *z), *p = need(room, sizeof *p),
           *q = need(room, sizeof *q);
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        r[i] = b[i];
        p[i] = z[i] = r[i] / m->diagonal[i];
    }
    double norm = sqrt(dot(n, b, b)), rz = dot(n, r, z);
    while (k < most && sqrt(dot(n, r, r)) > tolerance * norm) {
        multiply(m, p, q);
        double pq = dot(n, p, q);
        if (!(pq > 0)) die("the matrix is not positive definite", "");
        double alpha = rz / pq;
        for (int i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            z[i] = r[i] / m->diagonal[i];
        }
        double next = dot(n, r, z), beta = next / rz;
        rz = next;
        for (int i = 0; i < n; i++) p[i] = z[i] + beta * p[i];
        k++;
    }
    multiply(m, x, q);
    for (int i = 0; i < n; i++) r[i] = b[i] - q[i];
    *residual = norm > 0 ? sqrt(dot(n, r, r)) / norm : 0;
    free(r);
    free(z);
    free(p);
    free(q);
    return k;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2 || argc > 4) {
        if (rank == 0) fprintf(stderr, "usage: solver matrix.mtx [tolerance [most-iterations]]\n");
        MPI_Finalize();
        return 2;
    }
    double tolerance = argc > 2 ? strtod(argv[2], NULL) : 1e-10;

    int n = 0, count = 0;
    Entry *entry = deal_out(argv[1], &n, &count);
    int most = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 20 * n;
    Matrix m = build(n, entry, count);
    free(entry);

    double *x = need((size_t)(m.rows + m.ghosts), sizeof *x), *b = need((size_t)m.rows, sizeof *b);
    for (int i = 0; i < m.rows; i++) x[i] = 1;
    multiply(&m, x, b);
    double began = MPI_Wtime(), residual;
    int iterations = conjugate_gradient(&m, b, x, tolerance, most, &residual);
    double seconds = MPI_Wtime() - began;

    double worst = 0, error = 0, mean = 0, entries = 0, mine = count;
    for (int i = 0; i < m.rows; i++) worst = fmax(worst, fabs(x[i] - 1));
    MPI_Reduce(&worst, &error, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &entries, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &mean, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    int failed = residual > 10 * tolerance;
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d rows, %.0f entries, %d ranks, %.3f s: %s\n", n, entries, size, mean / size, failed ? "not converged"
            : "converged");
        printf("answer: iterations=%d residual=%.12e error=%.12e\n", iterations, residual, error);
    }
    free(x);
    free(b);
    MPI_Finalize();
    return failed;
}
