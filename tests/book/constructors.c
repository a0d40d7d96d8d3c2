/* Examples 3.1 to 3.16 of "MPI: The Complete Reference": what the constructors of datatypes make, and messages of
 * triangles, sections of arrays, transposed matrices and particles. Each process sends to the next and receives from
 * the previous.
 *
 * ranks: 4
 */
#include "particles.h"

static int next, previous;

/* A basic element of a type map: a double, float or char, or an int. */
typedef struct {
    MPI_Datatype basic;
    MPI_Aint at;
} entry;

/* Packs one element of a type, unpacks its entries one by one, and compares them with what is in memory. */
static void maps_to(MPI_Datatype type, const entry *map, int n, MPI_Aint lb)
{
    static char memory[400];
    char packed[400], got[8];
    int position = 0, end = 0, size = 0;
    check_fill(memory, sizeof memory, 3);
    MPI_Type_commit(&type);
    MPI_Pack(memory - lb, 1, type, packed, sizeof packed, &end, MPI_COMM_SELF);
    for (int i = 0; i < n; i++) {
        int bytes = 0;
        MPI_Type_size(map[i].basic, &bytes);
        size += bytes;
        MPI_Unpack(packed, end, &position, got, 1, map[i].basic, MPI_COMM_SELF);
        CHECK_SAY(memcmp(got, memory - lb + map[i].at, (size_t)bytes) == 0, "entry %d is not at %ld", i,
                  (long)map[i].at);
    }
    CHECK_EQ(position, end);
    int all = 0;
    MPI_Type_size(type, &all);
    CHECK_EQ(all, size);
}

static void spans(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent)
{
    MPI_Aint a = -1, b = -1;
    MPI_Type_get_extent(type, &a, &b);
    CHECK_EQ(a, lb);
    CHECK_EQ(b, extent);
}

static void example_3_1(void)
{
    enum { N = 100 };
    double(*a)[N] = calloc(N, sizeof *a), (*b)[N] = calloc(N, sizeof *b);
    int disp[N], blocklen[N];
    MPI_Datatype upper;
    for (int i = 0; i < N; i++) {
        disp[i] = N * i + i;
        blocklen[i] = N - i;
        for (int j = 0; j < N; j++) a[i][j] = check_rank * 1e5 + i * N + j;
    }
    MPI_Type_indexed(N, blocklen, disp, MPI_DOUBLE, &upper);
    MPI_Type_commit(&upper);
    MPI_Sendrecv(a, 1, upper, next, 0, b, 1, upper, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) CHECK(b[i][j] == (j < i ? 0 : previous * 1e5 + i * N + j));
    MPI_Type_free(&upper);
    free(a);
    free(b);
}

/* A double and a char behind it (3.2, 3.3). Which order they have does not matter for the extent. */
static MPI_Datatype example_3_2(void)
{
    int one[2] = {1, 1}, size = 0;
    MPI_Aint at[2] = {0, 8};
    MPI_Datatype of[2] = {MPI_DOUBLE, MPI_CHAR}, type, other;
    MPI_Type_create_struct(2, one, at, of, &type);
    spans(type, 0, 16);
    MPI_Type_size(type, &size);
    CHECK_EQ(size, 9);
    of[0] = MPI_CHAR;
    of[1] = MPI_DOUBLE;
    at[1] = 1;
    MPI_Type_create_struct(2, one, at, of, &other);
    spans(other, 0, 16);
    MPI_Type_free(&other);
    return type;
}

/* Fills a map with elements of the double and the char, each at one of these places. */
static int pairs_at(entry *map, const MPI_Aint *at, int n)
{
    for (int i = 0; i < n; i++) {
        map[2 * i] = (entry){MPI_DOUBLE, at[i]};
        map[2 * i + 1] = (entry){MPI_CHAR, at[i] + 8};
    }
    return 2 * n;
}

static void example_3_4(MPI_Datatype old)
{
    entry map[6];
    MPI_Datatype new;
    MPI_Type_contiguous(3, old, &new);
    maps_to(new, map, pairs_at(map, (MPI_Aint[]){0, 16, 32}, 3), 0);
    spans(new, 0, 48);
    MPI_Type_free(&new);
}

static void example_3_5(MPI_Datatype old)
{
    entry map[12];
    MPI_Datatype new;
    MPI_Type_vector(2, 3, 4, old, &new);
    maps_to(new, map, pairs_at(map, (MPI_Aint[]){0, 16, 32, 64, 80, 96}, 6), 0);
    spans(new, 0, 112);
    MPI_Type_free(&new);
}

static void example_3_6(MPI_Datatype old)
{
    entry map[6];
    MPI_Datatype new;
    MPI_Type_vector(3, 1, -2, old, &new);
    maps_to(new, map, pairs_at(map, (MPI_Aint[]){0, -32, -64}, 3), -64);
    spans(new, -64, 80);
    MPI_Type_free(&new);
}

/* With a stride of 4 bytes the entries overlap, so that nothing may be received so; 64 are what 3.5 has. */
static void example_3_7(MPI_Datatype old)
{
    entry map[12];
    MPI_Aint lb = -1, extent = -1;
    MPI_Datatype new;
    MPI_Type_create_hvector(2, 3, 4, old, &new);
    MPI_Type_get_true_extent(new, &lb, &extent);
    CHECK(lb == 0 && extent == 45);
    MPI_Type_free(&new);
    MPI_Type_create_hvector(2, 3, 64, old, &new);
    maps_to(new, map, pairs_at(map, (MPI_Aint[]){0, 16, 32, 64, 80, 96}, 6), 0);
    spans(new, 0, 112);
    MPI_Type_free(&new);
}

/* Every other element of every other column of an array of columns, sent to oneself. */
static void example_3_8(void)
{
    float a[5][6], e[9];
    MPI_Datatype one, two;
    for (int i = 0; i < 30; i++) a[i / 6][i % 6] = (float)i;
    MPI_Type_vector(3, 1, 2, MPI_FLOAT, &one);
    spans(one, 0, 5 * sizeof(float));
    MPI_Type_create_hvector(3, 1, 12 * sizeof(float), one, &two);
    MPI_Type_commit(&two);
    MPI_Sendrecv(a, 1, two, check_rank, 0, e, 9, MPI_FLOAT, check_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 9; i++) CHECK(e[i] == (float)(12 * (i / 3) + 2 * (i % 3)));
    MPI_Type_free(&one);
    MPI_Type_free(&two);
}

/* A matrix is sent row by row and received column by column. */
static void example_3_9(void)
{
    enum { N = 60 };
    float(*a)[N] = calloc(N, sizeof *a), (*b)[N] = calloc(N, sizeof *b);
    MPI_Datatype row, transposed;
    for (int i = 0; i < N * N; i++) a[i / N][i % N] = (float)(i + check_rank);
    MPI_Type_vector(N, 1, N, MPI_FLOAT, &row);
    MPI_Type_create_hvector(N, 1, sizeof(float), row, &transposed);
    MPI_Type_commit(&transposed);
    MPI_Sendrecv(a, 1, transposed, check_rank, 0, b, N * N, MPI_FLOAT, check_rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < N * N; i++) CHECK(b[i % N][i / N] == a[i / N][i % N]);
    MPI_Type_free(&row);
    MPI_Type_free(&transposed);
    free(a);
    free(b);
}

/* Where all particles are: three of the doubles of each. */
static void example_3_10(void)
{
    struct particles_one *p = particles_make(check_rank), *want = particles_make(previous);
    double *in = calloc(PARTICLES, 3 * sizeof *in);
    MPI_Datatype location;
    MPI_Type_create_hvector(PARTICLES, 3, sizeof *p, MPI_DOUBLE, &location);
    MPI_Type_commit(&location);
    MPI_Sendrecv(p[0].d, 1, location, next, 0, in, 3 * PARTICLES, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 3 * PARTICLES; i++) CHECK(in[i] == want[i / 3].d[i % 3]);
    MPI_Type_free(&location);
    free(p);
    free(want);
    free(in);
}

static void example_3_11(MPI_Datatype old)
{
    int b[2] = {3, 1}, d[2] = {4, 0};
    entry map[8];
    MPI_Datatype new;
    MPI_Type_indexed(2, b, d, old, &new);
    maps_to(new, map, pairs_at(map, (MPI_Aint[]){64, 80, 96, 0}, 4), 0);
    spans(new, 0, 112);
    MPI_Type_free(&new);
}

/* Displacements are bytes: with 4 the entries overlap, 64 is what 3.11 has. */
static void example_3_12(MPI_Datatype old)
{
    int b[2] = {3, 1};
    MPI_Aint d[2] = {4, 0}, lb = -1, extent = -1;
    entry map[8];
    MPI_Datatype new;
    MPI_Type_create_hindexed(2, b, d, old, &new);
    MPI_Type_get_true_extent(new, &lb, &extent);
    CHECK(lb == 0 && extent == 45);
    MPI_Type_free(&new);
    d[0] = 64;
    MPI_Type_create_hindexed(2, b, d, old, &new);
    maps_to(new, map, pairs_at(map, (MPI_Aint[]){64, 80, 96, 0}, 4), 0);
    spans(new, 0, 112);
    MPI_Type_free(&new);
}

static void example_3_13(MPI_Datatype old)
{
    int b[3] = {2, 1, 3};
    MPI_Aint d[3] = {0, 16, 26};
    MPI_Datatype t[3] = {MPI_FLOAT, old, MPI_CHAR}, new;
    static const MPI_Aint at[7] = {0, 4, 16, 24, 26, 27, 28};
    entry map[7];
    for (int i = 0; i < 7; i++) map[i] = (entry){i < 2 ? MPI_FLOAT : i == 2 ? MPI_DOUBLE
                                                                            : MPI_CHAR,
                                                 at[i]};
    MPI_Type_create_struct(3, b, d, t, &new);
    maps_to(new, map, 7, 0);
    spans(new, 0, 32);
    MPI_Type_free(&new);
}

static void example_3_14(void)
{
    struct particles_one *p = particles_make(check_rank), *want = particles_make(previous);
    struct particles_one *in = calloc(PARTICLES, sizeof *in);
    MPI_Datatype type = particles_type();
    spans(type, 0, sizeof *p);
    MPI_Sendrecv(p, PARTICLES, type, next, 0, in, PARTICLES, type, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < PARTICLES; i++) CHECK_SAY(particles_equal(&in[i], &want[i]), "particle %d differs", i);
    MPI_Type_free(&type);
    free(p);
    free(want);
    free(in);
}

/* Only particles of class 0 are sent, and received next to each other: as a block each (3.15), or in blocks as long as
 * can be (3.16). */
static void class_zero(int longest)
{
    struct particles_one *p = particles_make(check_rank), *want = particles_make(previous);
    struct particles_one *in = calloc(PARTICLES, sizeof *in);
    int zdisp[PARTICLES], zblocklen[PARTICLES], j = 0, count = -1, n = 0;
    MPI_Datatype type = particles_type(), zparticles;
    MPI_Status status;
    for (int i = 0, k; i < PARTICLES; i = k) {
        k = i + 1;
        if (p[i].class != 0) continue;
        while (longest && k < PARTICLES && p[k].class == 0) k++;
        zdisp[j] = i;
        zblocklen[j++] = k - i;
    }
    MPI_Type_indexed(j, zblocklen, zdisp, type, &zparticles);
    MPI_Type_commit(&zparticles);
    MPI_Sendrecv(p, 1, zparticles, next, 0, in, PARTICLES, type, previous, 0, MPI_COMM_WORLD, &status);
    for (int i = 0; i < PARTICLES; i++)
        if (want[i].class == 0) CHECK_SAY(particles_equal(&in[n++], &want[i]), "particle %d differs", i);
    MPI_Get_count(&status, type, &count);
    CHECK_EQ(count, n);
    CHECK(longest ? j < n : j == n);
    MPI_Type_free(&type);
    MPI_Type_free(&zparticles);
    free(p);
    free(want);
    free(in);
}

static void example_3_15(void) { class_zero(0); }
static void example_3_16(void) { class_zero(1); }

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    example_3_1();
    MPI_Datatype pair = example_3_2();
    example_3_4(pair);
    example_3_5(pair);
    example_3_6(pair);
    example_3_7(pair);
    example_3_8();
    example_3_9();
    example_3_10();
    example_3_11(pair);
    example_3_12(pair);
    example_3_13(pair);
    example_3_14();
    example_3_15();
    example_3_16();
    MPI_Type_free(&pair);
    return check_end();
}
