/* Messages from one sender that could match one receive do so in the order sent, whatever their length,
 * mode, and whether wildcards or exact envelopes receive them (MPI 5.0, 3.5). */
#include "../check.h"

enum { COUNT = 200, LONG = 40000 };

/* Lengths of all protocols mixed: 0 bytes up to some long ones. */
static int length(int i) { return i % 17 == 0 ? LONG : i % 5 == 0 ? 1000 : i % 3; }

/* COUNT numbered messages; tag < 0 means four tags in turn. */
static void sender(int to, int tag)
{
    MPI_Request *request = malloc(sizeof(MPI_Request) * COUNT);
    int room = 0;
    for (int i = 0; i < COUNT; i++) room += length(i) + 1;
    int *all = calloc((size_t)room, sizeof(int)), *p = all;
    for (int i = 0; i < COUNT; i++) {
        p[0] = i;
        if (i % 7 == 3) MPI_Issend(p, length(i) + 1, MPI_INT, to, tag < 0 ? i % 4 : tag, MPI_COMM_WORLD, &request[i]);
        else MPI_Isend(p, length(i) + 1, MPI_INT, to, tag < 0 ? i % 4 : tag, MPI_COMM_WORLD, &request[i]);
        p += length(i) + 1;
    }
    MPI_Waitall(COUNT, request, MPI_STATUSES_IGNORE);
    free(all);
    free(request);
}

/* Everybody sends to rank 0 with one tag; rank 0 receives by a mixture of wildcards. */
static void one_tag(int *buf)
{
    if (check_rank > 0) {
        sender(0, 9);
        return;
    }
    int *next = calloc((size_t)check_size, sizeof(int)), got;
    for (int i = 0; i < COUNT * (check_size - 1); i++) {
        int source = MPI_ANY_SOURCE, tag = i % 2 ? MPI_ANY_TAG : 9;
        if (i % 3 == 0) { /* name a sender that is not finished */
            source = 1 + i / 3 % (check_size - 1);
            if (next[source] == COUNT) source = MPI_ANY_SOURCE;
        }
        MPI_Status status;
        MPI_Recv(buf, LONG + 1, MPI_INT, source, tag, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &got);
        CHECK_SAY(buf[0] == next[status.MPI_SOURCE], "from rank %d came message %d before %d", status.MPI_SOURCE,
                  buf[0], next[status.MPI_SOURCE]);
        CHECK_EQ(got, length(buf[0]) + 1);
        next[status.MPI_SOURCE]++;
    }
    free(next);
}

/* Receives posted in advance, exact and wild in turn, are filled in the order posted. */
static void posted_first(void)
{
    if (check_size < 2 || check_rank > 1) return;
    int *in = malloc(sizeof(int) * COUNT), token = 0;
    MPI_Request *request = malloc(sizeof(MPI_Request) * COUNT);
    if (check_rank == 0) {
        for (int i = 0; i < COUNT; i++)
            MPI_Irecv(&in[i], 1, MPI_INT, i % 4 < 2 ? 1 : MPI_ANY_SOURCE, i % 3 ? 5 : MPI_ANY_TAG, MPI_COMM_WORLD,
                      &request[i]);
        MPI_Send(&token, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
        MPI_Waitall(COUNT, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < COUNT; i++) CHECK_EQ(in[i], i);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++) MPI_Send(&i, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    free(in);
    free(request);
}

/* Four tags: each tag is a stream of its own, received tag by tag, last tag first. */
static void by_tag(int *buf)
{
    if (check_rank > 0) {
        sender(0, -1);
        return;
    }
    for (int tag = 3; tag >= 0; tag--)
        for (int r = 1; r < check_size; r++)
            for (int i = tag; i < COUNT; i += 4) {
                MPI_Recv(buf, LONG + 1, MPI_INT, r, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                CHECK_SAY(buf[0] == i, "tag %d: message %d came instead of %d", tag, buf[0], i);
            }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int *buf = malloc(sizeof(int) * (LONG + 1));
    one_tag(buf);
    MPI_Barrier(MPI_COMM_WORLD);
    posted_first();
    MPI_Barrier(MPI_COMM_WORLD);
    by_tag(buf);
    free(buf);
    return check_end();
}
