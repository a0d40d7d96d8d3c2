/* A communicator that is freed while messages are under way: they arrive; persistent requests still work. */
#include "../check.h"

enum { LONG = 200000 };

/* A message that a matched probe has taken out keeps its communicator, too. */
static void matched(int next, int before)
{
    for (int round = 0; round < 20; round++) {
        MPI_Comm c, d[4];
        MPI_Message m;
        MPI_Request r;
        int out = round + check_rank, in = -1, other = -1;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Isend(&out, 1, MPI_INT, next, round, c, &r);
        MPI_Mprobe(before, round, c, &m, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK_EQ(MPI_Comm_free(&c), MPI_SUCCESS);
        for (int i = 0; i < 4; i++) MPI_Comm_dup(MPI_COMM_WORLD, &d[i]);
        CHECK_EQ(MPI_Mrecv(&in, 1, MPI_INT, &m, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(in, round + before);
        for (int i = 0; i < 4; i++) {
            MPI_Sendrecv(&out, 1, MPI_INT, next, round, &other, 1, MPI_INT, before, round, d[i], MPI_STATUS_IGNORE);
            CHECK_EQ(other, round + before);
            MPI_Comm_free(&d[i]);
        }
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    matched(next, before);
    char *out = malloc(LONG), *in = malloc(LONG);
    for (int round = 0; round < 20; round++) {
        MPI_Comm c;
        MPI_Request r[6];
        int a = -1, b = round, x = -1, y = 7 * round;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        check_fill(out, LONG, (uint64_t)(check_rank + round));
        memset(in, 0, LONG);
        MPI_Irecv(in, LONG, MPI_CHAR, before, 1, c, &r[0]);
        MPI_Irecv(&a, 1, MPI_INT, round % 2 ? MPI_ANY_SOURCE : before, 2, c, &r[1]);
        MPI_Recv_init(&x, 1, MPI_INT, before, 3, c, &r[4]);
        MPI_Send_init(&y, 1, MPI_INT, next, 3, c, &r[5]);
        MPI_Isend(out, LONG, MPI_CHAR, next, 1, c, &r[2]);
        MPI_Isend(&b, 1, MPI_INT, next, 2, c, &r[3]);
        MPI_Startall(2, r + 4);
        CHECK_EQ(MPI_Comm_free(&c), MPI_SUCCESS);
        CHECK(c == MPI_COMM_NULL);
        MPI_Comm d;
        MPI_Comm_dup(MPI_COMM_WORLD, &d); /* new ones do not get in the way */
        int stray = 99;
        MPI_Request s;
        MPI_Isend(&stray, 1, MPI_INT, next, 2, d, &s);
        CHECK_EQ(MPI_Waitall(6, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        CHECK_EQ(a, round);
        CHECK_EQ(x, 7 * round);
        CHECK_EQ(check_differs(in, LONG, (uint64_t)(before + round)), -1);
        MPI_Recv(&a, 1, MPI_INT, before, 2, d, MPI_STATUS_IGNORE);
        CHECK_EQ(a, 99);
        MPI_Wait(&s, MPI_STATUS_IGNORE);
        MPI_Request_free(&r[4]);
        MPI_Request_free(&r[5]);
        MPI_Comm_free(&d);
    }
    free(in);
    free(out);
    return check_end();
}
