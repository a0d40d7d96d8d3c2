/* Examples 3.25 to 3.27 of "MPI: The Complete Reference", in today's calls: the same message made by a derived datatype
 * and by MPI_Pack, and received as either; and particles of one class, packed one by one, received as an array. The
 * latter go to all others, too, by MPI_Bcast.
 *
 * ranks: 1 2 3 4
 */
#include "../check.h"

/* A message of an int and 100 characters (3.25), to the next rank and from the previous one. */
static void same_message(int packs, int unpacks)
{
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    int i = 1000 + check_rank, lengths[2] = {1, 100}, position = 0, got = -1, count = -1;
    char c[100], came[100], buffer[110], incoming[110];
    MPI_Aint at[2];
    MPI_Datatype of[2] = {MPI_INT, MPI_CHAR}, out, in;
    MPI_Request request;
    MPI_Status status;
    for (int k = 0; k < 100; k++) c[k] = (char)(check_rank + k);

    MPI_Get_address(&i, &at[0]);
    MPI_Get_address(c, &at[1]);
    MPI_Type_create_struct(2, lengths, at, of, &out);
    MPI_Type_commit(&out);
    MPI_Get_address(&got, &at[0]);
    MPI_Get_address(came, &at[1]);
    MPI_Type_create_struct(2, lengths, at, of, &in);
    MPI_Type_commit(&in);

    if (unpacks) MPI_Irecv(incoming, sizeof incoming, MPI_PACKED, previous, 0, MPI_COMM_WORLD, &request);
    else MPI_Irecv(MPI_BOTTOM, 1, in, previous, 0, MPI_COMM_WORLD, &request);
    if (packs) {
        MPI_Pack(&i, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
        MPI_Pack(c, 100, MPI_CHAR, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
        MPI_Send(buffer, position, MPI_PACKED, next, 0, MPI_COMM_WORLD);
    } else MPI_Send(MPI_BOTTOM, 1, out, next, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    if (unpacks) {
        MPI_Get_count(&status, MPI_PACKED, &count);
        position = 0;
        MPI_Unpack(incoming, count, &position, &got, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Unpack(incoming, count, &position, came, 100, MPI_CHAR, MPI_COMM_WORLD);
        CHECK_EQ(position, count);
    } else {
        MPI_Get_count(&status, in, &count);
        CHECK_EQ(count, 1);
    }
    CHECK_EQ(got, 1000 + previous);
    for (int k = 0; k < 100; k++) CHECK_EQ(came[k], (char)(previous + k));
    MPI_Type_free(&out);
    MPI_Type_free(&in);
}

enum { PARTICLES = 1000 };
typedef struct {
    char class;
    double d[6];
    char b[7];
} particle;

static particle own[PARTICLES], got[PARTICLES + 1];

static void set(particle *p, int rank, int i)
{
    memset(p, 0, sizeof *p);
    p->class = (char)(i % 3);
    for (int k = 0; k < 6; k++) p->d[k] = rank + i + k / 8.0;
    for (int k = 0; k < 7; k++) p->b[k] = (char)(i + k);
}

/* What has come is the particles of class zero of a rank, and nothing behind them. */
static void check_class_zero(int rank)
{
    int n = 0;
    for (int i = 0; i < PARTICLES; i += 3, n++) {
        particle want;
        set(&want, rank, i);
        CHECK_EQ(got[n].class, 0);
        CHECK_SAY(!memcmp(got[n].d, want.d, sizeof want.d) && !memcmp(got[n].b, want.b, sizeof want.b),
                  "particle %d of rank %d has come as another one", i, rank);
    }
    CHECK_EQ(got[n].class, 77);
}

static void class_zero(void)
{
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    int lengths[3] = {1, 6, 7}, size = 0, position = 0, n = 0, count = -1;
    MPI_Aint at[3] = {0, sizeof(double), 7 * sizeof(double)};
    MPI_Datatype of[3] = {MPI_CHAR, MPI_DOUBLE, MPI_CHAR}, type;
    MPI_Request request;
    MPI_Status status;
    MPI_Type_create_struct(3, lengths, at, of, &type);
    MPI_Type_commit(&type);

    memset(got, 77, sizeof got);
    MPI_Irecv(got, PARTICLES, type, previous, 0, MPI_COMM_WORLD, &request);
    MPI_Pack_size(PARTICLES, type, MPI_COMM_WORLD, &size);
    char *buffer = malloc((size_t)size);
    for (int i = 0; i < PARTICLES; i++) {
        set(&own[i], check_rank, i);
        if (own[i].class != 0) continue;
        MPI_Pack(&own[i], 1, type, buffer, size, &position, MPI_COMM_WORLD);
        n++;
    }
    MPI_Send(buffer, position, MPI_PACKED, next, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, type, &count);
    CHECK_EQ(count, n);
    check_class_zero(previous);

    for (int root = 0; root < check_size; root++) {
        if (check_rank == root) MPI_Bcast(buffer, position, MPI_PACKED, root, MPI_COMM_WORLD);
        else {
            memset(got, 77, sizeof got);
            MPI_Bcast(got, n, type, root, MPI_COMM_WORLD);
            check_class_zero(root);
        }
    }
    free(buffer);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int packs = 0; packs < 2; packs++)
        for (int unpacks = 0; unpacks < 2; unpacks++) same_message(packs, unpacks);
    class_zero();
    return check_end();
}
