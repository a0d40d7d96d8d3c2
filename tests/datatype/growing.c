/* Short messages whose elements lie far apart, which a receiver may scatter while the sender still gathers: into the
 * same layout, into others, into bytes, and in all the ways in which a message can be received, other receives
 * before it. */
/* ranks: 2 */
#include "../check.h"

enum { TURNS = 40, MEMORY = 9 << 20 };

static unsigned char *memory, *packed, *expected;

static MPI_Datatype rows(int n, int block, int pitch)
{
    MPI_Datatype t;
    MPI_Type_create_hvector(n, block, pitch, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    return t;
}

static MPI_Datatype face(void)
{
    int sizes[3] = {20, 25, 32}, sub[3] = {18, 23, 1}, start[3] = {1, 1, 3};
    MPI_Datatype t;
    MPI_Type_create_subarray(3, sizes, sub, start, MPI_ORDER_C, MPI_DOUBLE, &t);
    MPI_Type_commit(&t);
    return t;
}

static MPI_Datatype backwards(void)
{
    MPI_Datatype t, u;
    int one = 1;
    MPI_Aint last = 999 * 4096;
    MPI_Type_create_hvector(1000, 8, -4096, MPI_BYTE, &t);
    MPI_Type_create_hindexed(1, &one, &last, t, &u);
    MPI_Type_free(&t);
    MPI_Type_commit(&u);
    return u;
}

enum { SAME, BYTES, HALVES, ANY, PROBED, POSTED, POSTED_TYPED, BEHIND, BEFORE, WAYS };

/* What follows or goes before the message, so that a ring has both kinds of records. */
static void small(int turn)
{
    int n = turn;
    if (check_rank == 0) {
        MPI_Send(&n, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&n, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(n == turn);
    }
}

static void receive(int way, MPI_Datatype type, MPI_Datatype halves, int bytes)
{
    MPI_Status status;
    MPI_Request request;
    int n = -1, first = -1;
    if (way == SAME) {
        MPI_Recv(memory, 1, type, 0, 5, MPI_COMM_WORLD, &status);
    } else if (way == BYTES) {
        MPI_Recv(packed, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &status);
    } else if (way == HALVES) {
        MPI_Recv(memory, 1, halves, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    } else if (way == ANY) {
        MPI_Recv(memory, 1, type, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
    } else if (way == PROBED) {
        MPI_Probe(0, 5, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &n);
        CHECK(n == bytes);
        MPI_Recv(memory, 1, type, 0, 5, MPI_COMM_WORLD, &status);
    } else if (way == POSTED) {
        MPI_Irecv(packed, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
    } else if (way == POSTED_TYPED) {
        MPI_Irecv(memory, 1, type, 0, 5, MPI_COMM_WORLD, &request);
        for (int done = 0; !done;) MPI_Test(&request, &done, &status);
    } else if (way == BEHIND) { /* a receive that waits takes it, not the one that comes now */
        MPI_Irecv(packed, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request);
        MPI_Recv(memory, 1, type, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &n);
        CHECK(n == 1 && status.MPI_TAG == 6);
        MPI_Wait(&request, &status);
    } else { /* and one that waits for another does not */
        MPI_Irecv(&first, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &request);
        MPI_Recv(memory, 1, type, 0, 5, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(first == bytes);
    }
    MPI_Get_count(&status, MPI_BYTE, &n);
    CHECK(n == bytes && status.MPI_SOURCE == 0 && status.MPI_TAG == 5);
}

static void layout(MPI_Datatype type, MPI_Datatype halves)
{
    int bytes, position;
    MPI_Type_size(type, &bytes);
    for (int turn = 0; turn < TURNS; turn++)
        for (int way = 0; way < WAYS; way++) {
            MPI_Datatype as = way == HALVES ? halves : type;
            check_fill(memory, MEMORY / 64, (uint64_t)turn);
            for (int i = 0; i < bytes; i++) packed[i] = (unsigned char)(i * 7 + (i >> 8) + turn + way);
            memcpy(expected, packed, (size_t)bytes);
            position = 0;
            if (check_rank == 0) {
                MPI_Unpack(packed, bytes, &position, memory, 1, type, MPI_COMM_WORLD);
                MPI_Send(memory, 1, type, 1, 5, MPI_COMM_WORLD);
                if (way >= BEHIND) MPI_Send(&bytes, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
            } else {
                memset(packed, 0xEE, (size_t)bytes);
                MPI_Unpack(packed, bytes, &position, memory, 1, as, MPI_COMM_WORLD);
                receive(way, type, as, bytes);
                position = 0;
                if (way != BYTES && way != POSTED && way != BEHIND) {
                    MPI_Pack(memory, 1, as, packed, bytes, &position, MPI_COMM_WORLD);
                }
                for (int i = 0; i < bytes; i++) CHECK(packed[i] == expected[i]);
            }
            if (turn % 3 == 0) small(turn);
        }
    MPI_Type_free(&type);
    MPI_Type_free(&halves);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    memory = calloc(1, MEMORY);
    packed = malloc(1 << 16);
    expected = malloc(1 << 16);
    layout(rows(1024, 8, 8192), rows(512, 16, 8192));
    layout(rows(1024, 8, 8192), rows(1, 8192, 8192));
    layout(rows(600, 24, 1000), rows(1200, 12, 500));
    layout(rows(2000, 4, 68), rows(4000, 2, 3));
    layout(rows(64, 40, 4096), rows(40, 64, 4096));
    layout(face(), rows(18 * 23, 8, 300));
    layout(backwards(), backwards());
    free(memory);
    free(packed);
    free(expected);
    return check_end();
}
