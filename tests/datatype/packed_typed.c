/* Data packed by the sender and received as what it is, and the other way round, by each way to send and to receive.
 *
 * ranks: 1 2 3 4
 */
#include "packed.h"

enum { WAYS = 7 };

/* Sends to each rank in turn and receives from another one, itself included. */
static void each_way(int way, int packs, int unpacks, int items)
{
    for (int step = 0; step < check_size; step++) {
        int to = (check_rank + step) % check_size, from = (check_rank + check_size - step) % check_size, count = -1;
        packed_block out = packed_give(MPI_COMM_WORLD, packs, 1, items, check_rank);
        packed_block in = packed_room(MPI_COMM_WORLD, unpacks, 1, items);
        MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Status status;
        MPI_Message message;
        switch (way) {
        case 0: /* the message comes after its receive */
            MPI_Irecv(in.buf, in.count, in.type, from, way, MPI_COMM_WORLD, &q[0]);
            MPI_Send(out.buf, out.count, out.type, to, way, MPI_COMM_WORLD);
            MPI_Wait(&q[0], &status);
            break;
        case 1: /* or before */
            MPI_Isend(out.buf, out.count, out.type, to, way, MPI_COMM_WORLD, &q[1]);
            MPI_Mprobe(from, way, MPI_COMM_WORLD, &message, &status);
            MPI_Get_count(&status, MPI_PACKED, &count);
            if (unpacks) CHECK_EQ(count, in.count);
            MPI_Mrecv(in.buf, in.count, in.type, &message, &status);
            break;
        case 2:
            MPI_Issend(out.buf, out.count, out.type, to, way, MPI_COMM_WORLD, &q[1]);
            MPI_Recv(in.buf, in.count, in.type, from, way, MPI_COMM_WORLD, &status);
            break;
        case 3:
            MPI_Bsend(out.buf, out.count, out.type, to, way, MPI_COMM_WORLD);
            MPI_Recv(in.buf, in.count, in.type, from, way, MPI_COMM_WORLD, &status);
            break;
        case 4:
            MPI_Sendrecv(out.buf, out.count, out.type, to, way, in.buf, in.count, in.type, from, way, MPI_COMM_WORLD,
                         &status);
            break;
        case 5:
            MPI_Recv_init(in.buf, in.count, in.type, from, way, MPI_COMM_WORLD, &q[0]);
            MPI_Send_init(out.buf, out.count, out.type, to, way, MPI_COMM_WORLD, &q[1]);
            MPI_Startall(2, q);
            MPI_Wait(&q[0], &status);
            break;
        case 6: /* in place: what is sent is of the same form as what comes */
            free(in.buf);
            in = packed_give(MPI_COMM_WORLD, packs, 1, items, check_rank);
            MPI_Sendrecv_replace(in.buf, in.count, in.type, to, way, from, way, MPI_COMM_WORLD, &status);
            break;
        }
        MPI_Get_count(&status, in.type, &count);
        CHECK_EQ(count, in.count);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        packed_check(&in, 0, from, "point to point");
        for (int k = 0; k < 2; k++)
            if (q[k] != MPI_REQUEST_NULL) MPI_Request_free(&q[k]);
        packed_free(&in);
        packed_free(&out);
    }
}

/* Partitions of one side are packed. */
static void partitions(int packs)
{
    enum { PARTS = 3, EACH = 50 };
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    packed_block out = packed_give(MPI_COMM_WORLD, packs, PARTS, EACH, check_rank);
    packed_block in = packed_room(MPI_COMM_WORLD, !packs, PARTS, EACH);
    MPI_Request q[2];
    MPI_Psend_init(out.buf, PARTS, out.count, out.type, next, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(in.buf, PARTS, in.count, in.type, previous, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    for (int time = 0; time < 2; time++) {
        MPI_Startall(2, q);
        for (int k = PARTS - 1; k >= 0; k--) MPI_Pready(k, q[0]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int k = 0; k < PARTS; k++) packed_check(&in, k, previous + k, "partitioned");
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    packed_free(&in);
    packed_free(&out);
}

int main(int argc, char **argv)
{
    static char room[4 << 20];
    static const int lengths[] = {0, 1, 100, 10000};
    check_start(&argc, &argv);
    packed_start();
    MPI_Buffer_attach(room, sizeof room);
    for (int way = 0; way < WAYS; way++)
        for (int form = 0; form < 4; form++)
            for (int k = 0; k < 4; k++) each_way(way, form & 1, form >> 1, lengths[k]);
    partitions(0);
    partitions(1);
    void *back;
    int size;
    MPI_Buffer_detach(&back, &size);
    MPI_Type_free(&packed_type);
    return check_end();
}
