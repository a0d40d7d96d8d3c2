/* What MPI_Pack makes, byte by byte: as in memory on a communicator whose members are alike; on one that spans IMPI
 * clients which agree on nothing beyond IMPI 0.0 (IMPI_PLAIN), external32 without a header, of which Pack_size is the
 * exact size. Packed on one client and sent, it is unpacked, or received as what it is, on another.
 *
 * ranks: 1 2 3 4
 */
#include "../check.h"
#include <complex.h>
#include <stddef.h>
#include <wchar.h>

typedef struct {
    int i;
    double d[2];
    char c;
    long l;
    wchar_t w;
    float complex z;
    long double q;
    short s;
} item;

static const item sent = {-2, {1.5, -0.25}, 'x', 0x01020304, 0x20ac, 1.0f - 2.0f * I, -3.0L, 0x0102};

static const unsigned char external[] = {
    0xff, 0xff, 0xff, 0xfe,
    0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xbf, 0xd0, 0, 0, 0, 0, 0, 0,
    'x',
    1, 2, 3, 4,
    0x20, 0xac,
    0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0,
    0xc0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 2,
};

static MPI_Datatype make_item(void)
{
    int lengths[8] = {1, 2, 1, 1, 1, 1, 1, 1};
    MPI_Aint at[8] = {offsetof(item, i), offsetof(item, d), offsetof(item, c), offsetof(item, l),
                      offsetof(item, w), offsetof(item, z), offsetof(item, q), offsetof(item, s)};
    MPI_Datatype of[8] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_LONG, MPI_WCHAR, MPI_C_FLOAT_COMPLEX, MPI_LONG_DOUBLE,
        MPI_SHORT}, t, u;
    MPI_Type_create_struct(8, lengths, at, of, &t);
    MPI_Type_create_resized(t, 0, sizeof(item), &u);
    MPI_Type_commit(&u);
    MPI_Type_free(&t);
    return u;
}

static int same(const item *a)
{
    return a->i == sent.i && a->d[0] == sent.d[0] && a->d[1] == sent.d[1] && a->c == sent.c && a->l == sent.l &&
        a->w == sent.w
        && a->z == sent.z && a->q == sent.q && a->s == sent.s;
}

/* Packs and unpacks on a communicator whose form is external32 or not. */
static void form(MPI_Datatype type, MPI_Comm comm, int is_external)
{
    unsigned char packed[512], native[512];
    int size = -1, one = -1, at = 0, native_size;
    item back[2];
    MPI_Type_size(type, &native_size);
    MPI_Pack_size(2, type, comm, &size);
    CHECK_EQ(size, 2 * (is_external ? (int)sizeof external : native_size));
    MPI_Pack_size(1, MPI_LONG, comm, &one);
    CHECK_EQ(one, is_external ? 4 : (int)sizeof(long));
    memset(packed, 0xEE, sizeof packed);
    item two[2] = {sent, sent};
    MPI_Pack(two, 2, type, packed, size, &at, comm);
    CHECK_EQ(at, size);
    CHECK_EQ(packed[size], 0xEE);
    at = 0;
    if (is_external) {
        CHECK(!memcmp(packed, external, sizeof external) &&
              !memcmp(packed + sizeof external, external, sizeof external));
    } else {
        MPI_Pack(two, 2, type, native, sizeof native, &at, MPI_COMM_SELF);
        CHECK(at == size && !memcmp(packed, native, (size_t)size));
        CHECK(!memcmp(packed, &sent.i, sizeof sent.i) && !memcmp(packed + sizeof sent.i, sent.d, sizeof sent.d));
    }
    at = 0;
    memset(back, 0, sizeof back);
    MPI_Unpack(packed, size, &at, back, 2, type, comm);
    CHECK(at == size && same(&back[0]) && same(&back[1]));
}

/* The client of each rank. */
static int client[64];

static void find_clients(void)
{
    int *color = NULL, flag = 0, own = 0;
    if (check_spans()) MPI_Comm_get_attr(MPI_COMM_WORLD, IMPI_CLIENT_COLOR, &color, &flag);
    if (flag) own = *color;
    MPI_Allgather(&own, 1, MPI_INT, client, 1, MPI_INT, MPI_COMM_WORLD);
}

/* From each rank to each other: as packed bytes; and as items on one of the two sides, but for packed external32
 * within a client, whose ranks send each other what is in memory. */
static void travels(MPI_Datatype type, int plain)
{
    unsigned char out[512], in[512];
    int n = 0, length = -1, at;
    item back;
    MPI_Status status;
    MPI_Request request[2];
    MPI_Pack(&sent, 1, type, out, sizeof out, &n, MPI_COMM_WORLD);
    for (int step = 0; step < check_size; step++) {
        int to = (check_rank + step) % check_size, from = (check_rank + check_size - step) % check_size;
        MPI_Sendrecv(out, n, MPI_PACKED, to, 1, in, sizeof in, MPI_PACKED, from, 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_PACKED, &length);
        CHECK_EQ(length, n);
        CHECK(!memcmp(in, out, (size_t)n));
        at = 0;
        memset(&back, 0, sizeof back);
        MPI_Unpack(in, length, &at, &back, 1, type, MPI_COMM_WORLD);
        CHECK(at == length && same(&back));

        int sends = !plain || client[to] != client[check_rank], gets = !plain || client[from] != client[check_rank];
        memset(&back, 0, sizeof back);
        memset(in, 0, sizeof in);
        request[0] = request[1] = MPI_REQUEST_NULL;
        if (gets) MPI_Irecv(&back, 1, type, from, 2, MPI_COMM_WORLD, &request[0]);
        if (gets) MPI_Irecv(in, sizeof in, MPI_PACKED, from, 3, MPI_COMM_WORLD, &request[1]);
        if (sends) MPI_Send(out, n, MPI_PACKED, to, 2, MPI_COMM_WORLD);
        if (sends) MPI_Send(&sent, 1, type, to, 3, MPI_COMM_WORLD);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        if (gets) CHECK(same(&back) && !memcmp(in, out, (size_t)n));
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    const char *set = getenv("IMPI_PLAIN");
    int plain = set && !strcmp(set, "1") && check_spans();
    MPI_Datatype type = make_item();
    form(type, MPI_COMM_WORLD, plain);
    form(type, MPI_COMM_SELF, 0);
    find_clients();
    travels(type, plain);
    MPI_Type_free(&type);
    return check_end();
}
