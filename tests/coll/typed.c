/* Collectives with derived types, and with different types of one signature at the two ends. */
#include "../check.h"

enum { ROWS = 6, COLUMNS = 5 };
static MPI_Datatype column, columns, pair;

static int cell(int rank, int y, int x) { return rank * 1000 + y * 10 + x; }

static void fill(int m[ROWS][COLUMNS], int rank)
{
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++) m[y][x] = rank < 0 ? -1 : cell(rank, y, x);
}

/* The root sends columns, the others receive them as rows of a transpose. */
static void bcast(int root)
{
    int m[ROWS][COLUMNS], t[COLUMNS][ROWS];
    fill(m, root);
    memset(t, -1, sizeof t);
    if (check_rank == root) MPI_Bcast(m, COLUMNS, columns, root, MPI_COMM_WORLD);
    else {
        MPI_Bcast(t, ROWS * COLUMNS, MPI_INT, root, MPI_COMM_WORLD);
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLUMNS; x++) CHECK_EQ(t[x][y], cell(root, y, x));
    }
}

/* Every rank gives column 2; the root has it as a block of the right length, or as pairs. */
static void gather(int root)
{
    int m[ROWS][COLUMNS], *all = calloc((size_t)check_size * ROWS, sizeof(int));
    fill(m, check_rank);
    MPI_Gather(&m[0][2], 1, column, all, ROWS / 2, pair, root, MPI_COMM_WORLD);
    if (check_rank == root)
        for (int i = 0; i < check_size * ROWS; i++) CHECK_EQ(all[i], cell(i / ROWS, i % ROWS, 2));
    fill(m, -1);
    MPI_Scatter(all, ROWS, MPI_INT, &m[0][1], 1, column, root, MPI_COMM_WORLD);
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++) CHECK_EQ(m[y][x], x == 1 ? cell(check_rank, y, 2) : -1);
    free(all);
}

/* Gather into columns of a wide matrix, one for every rank: extents decide where parts go. */
static void into_columns(void)
{
    int mine[ROWS], *wide = malloc(sizeof(int) * (size_t)(ROWS * check_size));
    MPI_Datatype strip, type;
    MPI_Type_vector(ROWS, 1, check_size, MPI_INT, &strip);
    MPI_Type_create_resized(strip, 0, sizeof(int), &type);
    MPI_Type_commit(&type);
    for (int y = 0; y < ROWS; y++) mine[y] = cell(check_rank, y, 0);
    MPI_Allgather(mine, ROWS, MPI_INT, wide, 1, type, MPI_COMM_WORLD);
    for (int y = 0; y < ROWS; y++)
        for (int r = 0; r < check_size; r++) CHECK_EQ(wide[y * check_size + r], cell(r, y, 0));
    /* And back: Alltoall of columns gives everybody what it asks of each. */
    int *in = calloc((size_t)(ROWS * check_size), sizeof(int));
    for (int y = 0; y < ROWS; y++)
        for (int r = 0; r < check_size; r++) wide[y * check_size + r] = cell(check_rank, y, r);
    MPI_Alltoall(wide, 1, type, in, ROWS, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check_size; r++)
        for (int y = 0; y < ROWS; y++) CHECK_EQ(in[r * ROWS + y], cell(r, y, check_rank));
    MPI_Type_free(&strip);
    MPI_Type_free(&type);
    free(wide);
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size < 10);
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Type_create_resized(column, 0, sizeof(int), &columns);
    MPI_Type_commit(&columns);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int root = 0; root < check_size; root++) {
        bcast(root);
        gather(root);
    }
    into_columns();
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
    MPI_Type_free(&pair);
    return check_end();
}
