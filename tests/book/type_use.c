/* Examples 3.17 to 3.28 of "MPI: The Complete Reference": handles of datatypes, types that match, the length of a
 * message, addresses, bounds that are set, and particles that are packed with their index. Examples 3.25 to 3.27 are in
 * datatype/packed_particles.c.
 *
 * ranks: 4
 */
#include "particles.h"

static int next, previous;

/* Sends elements of a type, one number for each place that the type has, and compares what comes. */
static void works(MPI_Datatype type, int numbers, int stride)
{
    float out[40], in[40];
    for (int i = 0; i < 40; i++) out[i] = (float)(check_rank * 100 + i), in[i] = -1;
    MPI_Sendrecv(out, 1, type, next, 0, in, numbers, MPI_FLOAT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < numbers; i++) CHECK(in[i] == (float)(previous * 100 + i / 5 * stride + i % 5));
}

/* Two handles of one type, of which one gets another type. */
static void example_3_17(void)
{
    MPI_Datatype type1, type2;
    MPI_Type_contiguous(5, MPI_FLOAT, &type1);
    MPI_Type_commit(&type1);
    type2 = type1;
    MPI_Type_vector(3, 5, 4, MPI_FLOAT, &type1);
    MPI_Type_commit(&type1);
    works(type2, 5, 5);
    MPI_Type_free(&type2);
    CHECK(type2 == MPI_DATATYPE_NULL);
    works(type1, 15, 4);
    type2 = type1;
    works(type2, 15, 4);
    MPI_Type_free(&type2);
    CHECK(type2 == MPI_DATATYPE_NULL);
}

/* Whatever the four numbers are made of, each send matches each receive. */
static void example_3_18(void)
{
    MPI_Datatype type2, type4, type22;
    MPI_Type_contiguous(2, MPI_FLOAT, &type2);
    MPI_Type_contiguous(4, MPI_FLOAT, &type4);
    MPI_Type_contiguous(2, type2, &type22);
    MPI_Type_commit(&type2);
    MPI_Type_commit(&type4);
    MPI_Type_commit(&type22);
    const int count[4] = {4, 2, 1, 1};
    const MPI_Datatype type[4] = {MPI_FLOAT, type2, type22, type4};
    for (int s = 0; s < 4; s++)
        for (int r = 0; r < 4; r++) {
            float a[4], b[4] = {0};
            int n = -1;
            MPI_Status status;
            for (int i = 0; i < 4; i++) a[i] = (float)(check_rank * 100 + s * 10 + i);
            MPI_Sendrecv(a, count[s], type[s], next, r, b, count[r], type[r], previous, r, MPI_COMM_WORLD, &status);
            for (int i = 0; i < 4; i++) CHECK(b[i] == (float)(previous * 100 + s * 10 + i));
            MPI_Get_count(&status, type[r], &n);
            CHECK_EQ(n, count[r]);
        }
    MPI_Type_free(&type2);
    MPI_Type_free(&type4);
    MPI_Type_free(&type22);
}

static void example_3_19(void)
{
    float a[4] = {1, 2, 3, 4}, b[4];
    MPI_Datatype type2;
    MPI_Type_contiguous(2, MPI_FLOAT, &type2);
    MPI_Type_commit(&type2);
    for (int n = 2; n <= 3; n++) {
        int count = -1, elements = -1;
        MPI_Status status;
        MPI_Sendrecv(a, n, MPI_FLOAT, next, n, b, 2, type2, previous, n, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, type2, &count);
        MPI_Get_elements(&status, type2, &elements);
        CHECK_EQ(count, n == 2 ? 1 : MPI_UNDEFINED);
        CHECK_EQ(elements, n);
        for (int i = 0; i < n; i++) CHECK(b[i] == a[i]);
    }
    MPI_Type_free(&type2);
}

static void example_3_20(void)
{
    static float a[100][100];
    MPI_Aint first, other;
    MPI_Get_address(&a[0][0], &first);
    MPI_Get_address(&a[9][9], &other);
    CHECK_EQ(MPI_Aint_diff(other, first), 909 * sizeof(float));
    CHECK_EQ(MPI_Aint_add(first, 909 * (MPI_Aint)sizeof(float)), other);
}

static MPI_Aint address(void *at)
{
    MPI_Aint a;
    MPI_Get_address(at, &a);
    return a;
}

/* Sends all particles from here by a type for one of them, and compares what comes. */
static void all_particles(const struct particles_one *p, const void *from, MPI_Datatype type)
{
    struct particles_one *want = particles_make(previous), *in = calloc(PARTICLES, sizeof *in);
    MPI_Datatype plain = particles_type();
    CHECK(from == p || from == MPI_BOTTOM);
    MPI_Sendrecv(from, PARTICLES, type, next, 0, in, PARTICLES, plain, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < PARTICLES; i++) CHECK_SAY(particles_equal(&in[i], &want[i]), "particle %d differs", i);
    MPI_Type_free(&plain);
    free(want);
    free(in);
}

/* The type of a particle whose components are this far from here. */
static MPI_Datatype type_from(struct particles_one *p, MPI_Aint here)
{
    int blocklen[3] = {1, 6, 7};
    MPI_Aint disp[3] = {address(p) - here, address(p[0].d) - here, address(p[0].b) - here};
    MPI_Datatype type[3] = {MPI_CHAR, MPI_DOUBLE, MPI_CHAR}, made;
    MPI_Type_create_struct(3, blocklen, disp, type, &made);
    return made;
}

/* Displacements are differences of addresses (3.21), the extent is the distance of two particles (3.23), displacements
 * are addresses (3.24). */
static void examples_3_21_to_24(void)
{
    struct particles_one *p = particles_make(check_rank);
    MPI_Datatype relative = type_from(p, address(p)), sized, absolute = type_from(p, 0);
    MPI_Aint lb = -1, extent = -1;
    MPI_Type_commit(&relative);
    all_particles(p, p, relative);

    MPI_Type_create_resized(relative, 0, address(&p[1]) - address(&p[0]), &sized);
    MPI_Type_commit(&sized);
    MPI_Type_get_extent(sized, &lb, &extent);
    CHECK_EQ(lb, 0);
    CHECK_EQ(extent, sizeof *p);
    all_particles(p, p, sized);

    MPI_Type_commit(&absolute);
    all_particles(p, MPI_BOTTOM, absolute);
    MPI_Type_free(&relative);
    MPI_Type_free(&sized);
    MPI_Type_free(&absolute);
    free(p);
}

/* An int from -3 to 5: two of them have their ints 9 bytes apart. */
static void example_3_22(void)
{
    MPI_Datatype type1, type2;
    MPI_Aint lb = -1, extent = -1;
    MPI_Type_create_resized(MPI_INT, -3, 9, &type1);
    MPI_Type_get_extent(type1, &lb, &extent);
    CHECK(lb == -3 && extent == 9);
    MPI_Type_contiguous(2, type1, &type2);
    MPI_Type_get_extent(type2, &lb, &extent);
    CHECK(lb == -3 && extent == 18);
    MPI_Type_get_true_extent(type2, &lb, &extent);
    CHECK(lb == 0 && extent == 13);
    MPI_Type_free(&type1);
    MPI_Type_free(&type2);
}

/* Particles of class 0 arrive where they were: each is packed behind its index, and -1 ends them. */
static void example_3_28(void)
{
    struct particles_one *p = particles_make(check_rank), *want = particles_make(previous);
    struct particles_one *in = calloc(PARTICLES, sizeof *in);
    int blocklen[2] = {6, 7}, size, one, position = 0, length = -1, last = -1, i, n = 0;
    MPI_Aint disp[2] = {0, offsetof(struct particles_one, b) - offsetof(struct particles_one, d)};
    MPI_Datatype type[2] = {MPI_DOUBLE, MPI_CHAR}, rest;
    MPI_Status status;
    MPI_Type_create_struct(2, blocklen, disp, type, &rest);
    MPI_Type_commit(&rest);
    MPI_Pack_size(1, rest, MPI_COMM_WORLD, &size);
    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &one);
    size = PARTICLES * (size + one) + one;
    char *out = malloc((size_t)size), *came = malloc((size_t)size);
    for (i = 0; i < PARTICLES; i++) {
        if (p[i].class != 0) continue;
        MPI_Pack(&i, 1, MPI_INT, out, size, &position, MPI_COMM_WORLD);
        MPI_Pack(p[i].d, 1, rest, out, size, &position, MPI_COMM_WORLD);
    }
    i = -1;
    MPI_Pack(&i, 1, MPI_INT, out, size, &position, MPI_COMM_WORLD);
    MPI_Sendrecv(out, position, MPI_PACKED, next, 0, came, size, MPI_PACKED, previous, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_PACKED, &length);
    for (position = 0; MPI_Unpack(came, length, &position, &i, 1, MPI_INT, MPI_COMM_WORLD), i >= 0; n++) {
        CHECK(i > last && i < PARTICLES && want[i].class == 0);
        last = i;
        MPI_Unpack(came, length, &position, in[i].d, 1, rest, MPI_COMM_WORLD);
        in[i].class = 0;
        CHECK_SAY(particles_equal(&in[i], &want[i]), "particle %d differs", i);
    }
    CHECK_EQ(position, length);
    for (i = 0; i < PARTICLES; i++) n -= want[i].class == 0;
    CHECK_EQ(n, 0);
    MPI_Type_free(&rest);
    free(out);
    free(came);
    free(p);
    free(want);
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    example_3_17();
    example_3_18();
    example_3_19();
    example_3_20();
    example_3_22();
    examples_3_21_to_24();
    example_3_28();
    return check_end();
}
