/* Pack and Unpack: several items in one buffer, position by position; sent as packed, received as packed or typed;
 * and the external representation, which is the same everywhere. */
#include "../check.h"

static int next, previous;

static void mixed(void)
{
    char buffer[1000], in[1000];
    int position = 0, n = check_rank + 1, got_n = 0, length = -1, room = 0, part;
    double d[9], got[9];
    for (int i = 0; i < 9; i++) d[i] = check_rank + i * 0.125;
    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &part);
    room += part;
    MPI_Pack_size(9, MPI_DOUBLE, MPI_COMM_WORLD, &part);
    room += part;
    MPI_Pack_size(5, MPI_CHAR, MPI_COMM_WORLD, &part);
    room += part;
    CHECK(room <= (int)sizeof buffer);
    MPI_Pack(&n, 1, MPI_INT, buffer, room, &position, MPI_COMM_WORLD);
    MPI_Pack(d, n, MPI_DOUBLE, buffer, room, &position, MPI_COMM_WORLD);
    MPI_Pack("hello", 5, MPI_CHAR, buffer, room, &position, MPI_COMM_WORLD);
    CHECK(position <= room);
    MPI_Status status;
    MPI_Sendrecv(buffer, position, MPI_PACKED, next, 0, in, sizeof in, MPI_PACKED, previous, 0, MPI_COMM_WORLD,
                 &status);
    MPI_Get_count(&status, MPI_PACKED, &length);
    position = 0;
    MPI_Unpack(in, length, &position, &got_n, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK_EQ(got_n, previous + 1);
    MPI_Unpack(in, length, &position, got, got_n, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < got_n; i++) CHECK(got[i] == previous + i * 0.125);
    char word[6] = "";
    MPI_Unpack(in, length, &position, word, 5, MPI_CHAR, MPI_COMM_WORLD);
    CHECK(!strcmp(word, "hello"));
    CHECK_EQ(position, length);
}

/* Items packed one by one unpack as an array, and the reverse. */
static void one_by_one(void)
{
    enum { N = 300 };
    short out[N], in[N];
    char *buffer = malloc(N * 64);
    int position = 0, end;
    for (int i = 0; i < N; i++) {
        out[i] = (short)(i * 3);
        MPI_Pack(&out[i], 1, MPI_SHORT, buffer, N * 64, &position, MPI_COMM_WORLD);
    }
    end = position;
    position = 0;
    MPI_Unpack(buffer, end, &position, in, N, MPI_SHORT, MPI_COMM_WORLD);
    CHECK_EQ(position, end);
    CHECK(!memcmp(in, out, sizeof in));
    memset(in, 0, sizeof in);
    position = 0;
    MPI_Pack(out, N, MPI_SHORT, buffer, N * 64, &position, MPI_COMM_WORLD);
    end = position;
    position = 0;
    for (int i = 0; i < N; i++) MPI_Unpack(buffer, end, &position, &in[i], 1, MPI_SHORT, MPI_COMM_WORLD);
    CHECK_EQ(position, end);
    CHECK(!memcmp(in, out, sizeof in));
    free(buffer);
}

static void external(void)
{
    static const unsigned char want[] = {0, 0, 0, 1, 0xff, 0xfe, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 'x', 0x40, 0x20, 0, 0};
    unsigned char buffer[64];
    int one = 1, back_one = 0;
    short minus_two = -2, back_two = 0;
    double d = 1.5, back_d = 0;
    float f = 2.5f, back_f = 0;
    char x = 'x', back_x = 0;
    MPI_Aint position = 0, size = -1;
    MPI_Pack_external_size("external32", 3, MPI_DOUBLE, &size);
    CHECK_EQ(size, 24);
    MPI_Pack_external("external32", &one, 1, MPI_INT, buffer, sizeof buffer, &position);
    MPI_Pack_external("external32", &minus_two, 1, MPI_SHORT, buffer, sizeof buffer, &position);
    MPI_Pack_external("external32", &d, 1, MPI_DOUBLE, buffer, sizeof buffer, &position);
    MPI_Pack_external("external32", &x, 1, MPI_CHAR, buffer, sizeof buffer, &position);
    MPI_Pack_external("external32", &f, 1, MPI_FLOAT, buffer, sizeof buffer, &position);
    CHECK_EQ(position, sizeof want);
    CHECK(!memcmp(buffer, want, sizeof want));
    position = 0;
    MPI_Unpack_external("external32", buffer, sizeof want, &position, &back_one, 1, MPI_INT);
    MPI_Unpack_external("external32", buffer, sizeof want, &position, &back_two, 1, MPI_SHORT);
    MPI_Unpack_external("external32", buffer, sizeof want, &position, &back_d, 1, MPI_DOUBLE);
    MPI_Unpack_external("external32", buffer, sizeof want, &position, &back_x, 1, MPI_CHAR);
    MPI_Unpack_external("external32", buffer, sizeof want, &position, &back_f, 1, MPI_FLOAT);
    CHECK(back_one == 1 && back_two == -2 && back_d == 1.5 && back_x == 'x' && back_f == 2.5f);
    CHECK_EQ(position, sizeof want);
}

/* What does not fit is refused, and what is refused moves nothing; nothing fits everywhere. */
static void edges(void)
{
    int in[4] = {1, 2, 3, 4}, out[4] = {0}, position, size = -1;
    char buffer[32];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    memset(buffer, 7, sizeof buffer);
    position = 17;
    CHECK_CLASS(MPI_Pack(in, 4, MPI_INT, buffer, 32, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    CHECK_EQ(position, 17);
    position = -1;
    CHECK_CLASS(MPI_Pack(in, 1, MPI_INT, buffer, 32, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    position = 0;
    CHECK_CLASS(MPI_Pack(in, -1, MPI_INT, buffer, 32, &position, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Pack(in, 1, MPI_DATATYPE_NULL, buffer, 32, &position, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Pack(NULL, 1, MPI_INT, buffer, 32, &position, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Pack(in, 1, MPI_INT, buffer, 32, NULL, MPI_COMM_WORLD), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Unpack(buffer, 12, &position, out, 4, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    CHECK_CLASS(MPI_Unpack(buffer, 32, &position, out, -2, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Pack_size(-1, MPI_INT, MPI_COMM_WORLD, &size), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    CHECK_EQ(position, 0);
    CHECK_EQ(out[0], 0);
    for (int i = 0; i < 32; i++) CHECK_EQ(buffer[i], 7);
    position = 32;
    CHECK_EQ(MPI_Pack(NULL, 0, MPI_INT, buffer, 32, &position, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(position, 32);
    position = 16;
    CHECK_EQ(MPI_Pack(in, 4, MPI_INT, buffer, 32, &position, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(position, 32);
    position = 16;
    CHECK_EQ(MPI_Unpack(buffer, 32, &position, out, 4, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(position, 32);
    CHECK(memcmp(in, out, sizeof in) == 0);
    CHECK_EQ(MPI_Pack_size(1 << 30, MPI_INT, MPI_COMM_WORLD, &size), MPI_SUCCESS);
    CHECK_EQ(size, MPI_UNDEFINED); /* 2^32 bytes */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    mixed();
    edges();
    one_by_one();
    external();
    return check_end();
}
