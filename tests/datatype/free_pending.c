/* Datatypes are freed while messages that use them are under way: short and long, nonblocking and persistent. */
/* ranks: 1 2 3 */
#include "../check.h"

enum { LONG = 60000 };

static MPI_Datatype every_other(int n, int how)
{
    MPI_Datatype t;
    if (how == 0) {
        MPI_Type_vector(n, 1, 2, MPI_INT, &t);
    } else {
        int *at = malloc(sizeof(int) * (size_t)n);
        for (int i = 0; i < n; i++) at[i] = 2 * i;
        MPI_Type_create_indexed_block(n, 1, at, MPI_INT, &t);
        free(at);
    }
    MPI_Type_commit(&t);
    return t;
}

/* Others in the place of the freed ones: their handles and records are used again. */
static void disturb(void)
{
    for (int i = 0; i < 50; i++) {
        MPI_Datatype t;
        MPI_Type_vector(3 + i, 2, 5, MPI_CHAR, &t);
        MPI_Type_commit(&t);
        MPI_Type_free(&t);
    }
}

static void exchange(int n, int how, int persistent)
{
    int *out = malloc(sizeof(int) * 2 * (size_t)n), *in = malloc(sizeof(int) * 2 * (size_t)n);
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    MPI_Request request[2];
    MPI_Datatype s = every_other(n, how), r = every_other(n, 1 - how);
    for (int i = 0; i < 2 * n; i++) out[i] = check_rank * 1000000 + i, in[i] = -1;
    if (persistent) {
        MPI_Recv_init(in, 1, r, previous, 5, MPI_COMM_WORLD, &request[0]);
        MPI_Send_init(out, 1, s, next, 5, MPI_COMM_WORLD, &request[1]);
    } else {
        MPI_Irecv(in, 1, r, previous, 5, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, 1, s, next, 5, MPI_COMM_WORLD, &request[1]);
    }
    MPI_Type_free(&s);
    MPI_Type_free(&r);
    CHECK(s == MPI_DATATYPE_NULL && r == MPI_DATATYPE_NULL);
    disturb();
    for (int turn = 0; turn <= persistent; turn++) {
        if (persistent) {
            memset(in, 0xff, sizeof(int) * 2 * (size_t)n);
            MPI_Startall(2, request);
            disturb();
        }
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2 * n; i++) CHECK_EQ(in[i], i % 2 ? -1 : previous * 1000000 + i);
    }
    if (persistent) {
        MPI_Request_free(&request[0]);
        MPI_Request_free(&request[1]);
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int how = 0; how < 2; how++)
        for (int persistent = 0; persistent < 2; persistent++) {
            exchange(5, how, persistent);
            exchange(700, how, persistent);
            exchange(LONG, how, persistent);
        }
    return check_end();
}
