/* Packing again and again by types that are loops around a block, where only the first time may cost a look at the
 * type: large and small, one element and several, types that follow each other under the same name, and arguments that
 * are wrong.
 *
 * ranks: 1 2
 */
#include "../check.h"

enum { ROOM = 4 << 20 };
static unsigned char *spread, *packed, *want, *back;

/* Blocks of so many bytes, rows x columns of them, at these distances: packs count elements three times, and
 * compares. */
static void blocks(int rows, MPI_Aint row, int columns, MPI_Aint column, int block, MPI_Aint extent, int count)
{
    MPI_Datatype byte, line, all, type;
    MPI_Type_contiguous(block, MPI_BYTE, &byte);
    MPI_Type_create_hvector(columns, 1, column, byte, &line);
    MPI_Type_create_hvector(rows, 1, row, line, &all);
    MPI_Type_create_resized(all, 0, extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&byte);
    MPI_Type_free(&line);
    MPI_Type_free(&all);
    int n = 0;
    check_fill(spread, ROOM, (uint64_t)block);
    for (int e = 0; e < count; e++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++, n += block) {
                memcpy(want + n, spread + e * extent + i * row + j * column, (size_t)block);
            }
    for (int turn = 0; turn < 3; turn++) {
        int position = 3;
        memset(packed, 0xA5, (size_t)n + 16);
        CHECK_EQ(MPI_Pack(spread, count, type, packed, n + 3, &position, MPI_COMM_WORLD), MPI_SUCCESS);
        CHECK_EQ(position, n + 3);
        CHECK(!memcmp(packed + 3, want, (size_t)n));
        CHECK(packed[2] == 0xA5 && packed[n + 3] == 0xA5);
        position = 3;
        memset(back, 0x5A, ROOM);
        CHECK_EQ(MPI_Unpack(packed, n + 3, &position, back, count, type, MPI_COMM_WORLD), MPI_SUCCESS);
        CHECK_EQ(position, n + 3);
        unsigned char *expect = malloc(ROOM);
        memset(expect, 0x5A, ROOM);
        for (int e = 0, k = 0; e < count; e++)
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < columns; j++, k += block) {
                    memcpy(expect + e * extent + i * row + j * column, want + k, (size_t)block);
                }
        CHECK(!memcmp(back, expect, ROOM));
        free(expect);
    }
    MPI_Type_free(&type);
}

/* Absolute addresses. */
static void bottom(void)
{
    int length = 700, position = 0;
    MPI_Aint at;
    MPI_Datatype type;
    MPI_Get_address(spread + 5, &at);
    MPI_Type_create_hindexed(1, &length, &at, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int turn = 0; turn < 3; turn++) {
        position = 0;
        memset(packed, 0, 700);
        CHECK_EQ(MPI_Pack(MPI_BOTTOM, 1, type, packed, 700, &position, MPI_COMM_WORLD), MPI_SUCCESS);
        CHECK(!memcmp(packed, spread + 5, 700));
    }
    MPI_Type_free(&type);
}

static int class_of(int err)
{
    int class;
    MPI_Error_class(err, &class);
    return class;
}

static void wrong(void)
{
    MPI_Datatype type, copy;
    int position = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_vector(10, 1, 2, MPI_DOUBLE, &type);
    /* not committed */
    CHECK_EQ(class_of(MPI_Pack(spread, 1, type, packed, 80, &position, MPI_COMM_WORLD)), MPI_ERR_TYPE);
    MPI_Type_commit(&type);
    for (int turn = 0; turn < 2; turn++) {
        position = 0;
        CHECK_EQ(MPI_Pack(spread, 1, type, packed, 80, &position, MPI_COMM_WORLD), MPI_SUCCESS);
        CHECK_EQ(class_of(MPI_Pack(spread, 1, type, packed, 159, &position, MPI_COMM_WORLD)), MPI_ERR_TRUNCATE);
        CHECK_EQ(position, 80);
        CHECK_EQ(class_of(MPI_Unpack(packed, 79, &position, spread, 1, type, MPI_COMM_WORLD)), MPI_ERR_TRUNCATE);
        CHECK_EQ(class_of(MPI_Pack(spread, -1, type, packed, 80, &position, MPI_COMM_WORLD)), MPI_ERR_COUNT);
        CHECK_EQ(class_of(MPI_Pack(spread, 2, type, packed, 80, &position, MPI_COMM_WORLD)), MPI_ERR_TRUNCATE);
        position = 0;
        CHECK_EQ(MPI_Pack(spread, 0, type, packed, 80, &position, MPI_COMM_WORLD), MPI_SUCCESS);
        CHECK_EQ(position, 0);
    }
    copy = type;
    MPI_Type_free(&type);
    CHECK_EQ(class_of(MPI_Pack(spread, 1, copy, packed, 80, &position, MPI_COMM_WORLD)), MPI_ERR_TYPE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    spread = malloc(ROOM), packed = malloc(ROOM), want = malloc(ROOM), back = malloc(ROOM);
    static const int runs[] = {1, 100, 127, 128, 65535, 65536, 65537, 65536 + 127, 65536 + 128, 1000003};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        blocks(1, 0, 1, 0, runs[i], runs[i], 1);
        blocks(1, 0, 1, 0, runs[i], runs[i], 3);
        blocks(1, 0, 1, 0, runs[i], runs[i] + 1, 2);
    }
    static const int widths[] = {1, 2, 3, 4, 7, 8, 12, 16, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 240, 511, 512,
                                 513, 1008};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        int b = widths[i];
        blocks(40, 4096, 1, 0, b, 4096 * 40, 1);
        blocks(40, 4096, 1, 0, b, 4096 * 40, 2);
        blocks(40, 1032, 1, 0, b, 1032 * 40, 1);
        blocks(62, 3 * 1032, 2, 1032, b, 62 * 3 * 1032, 1);
        blocks(12, 20 * 1040, 15, 1040, b, 12 * 20 * 1040, 2);
    }
    bottom();
    wrong();
    return check_end();
}
