/* MPI_Isendrecv and MPI_Isendrecv_replace: many at a time, long and short, strided, to oneself and to nobody. */
/* ranks: 1 2 3 4 8 */
#include "../check.h"

#if MPI_VERSION >= 4
enum { MANY = 20, LONG = 300000 };

static int next, previous;

/* Several at a time go around the ring; the request's status is the receive's. */
static void ring(void)
{
    int out[MANY], in[MANY];
    MPI_Request request[MANY];
    MPI_Status status[MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = check_rank * 1000 + i;
        in[i] = -1;
        MPI_Isendrecv(&out[i], 1, MPI_INT, next, i, &in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &request[i]);
    }
    MPI_Waitall(MANY, request, status);
    for (int i = 0; i < MANY; i++) {
        int n = -1;
        CHECK(request[i] == MPI_REQUEST_NULL);
        CHECK_EQ(in[i], previous * 1000 + i);
        CHECK_EQ(status[i].MPI_SOURCE, previous);
        CHECK_EQ(status[i].MPI_TAG, i);
        MPI_Get_count(&status[i], MPI_INT, &n);
        CHECK_EQ(n, 1);
    }
}

/* A long message in either direction: everybody only waits. */
static void long_ones(void)
{
    unsigned char *out = malloc(LONG), *in = malloc(LONG);
    MPI_Request request;
    MPI_Status status;
    int flag = 0;
    check_fill(out, LONG, (uint64_t)check_rank);
    MPI_Isendrecv(out, LONG, MPI_BYTE, next, 1, in, LONG, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &request);
    while (!flag) MPI_Test(&request, &flag, &status);
    CHECK_EQ(status.MPI_SOURCE, previous);
    CHECK_EQ(check_differs(in, LONG, (uint64_t)previous), -1);
    /* The buffer that is sent is replaced; what leaves is what was there. */
    MPI_Isendrecv_replace(out, LONG, MPI_BYTE, next, 2, previous, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK_EQ(check_differs(out, LONG, (uint64_t)previous), -1);
    free(out);
    free(in);
}

static void strided(void)
{
    MPI_Datatype every_other;
    MPI_Request request;
    int a[10];
    MPI_Type_vector(5, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    for (int i = 0; i < 10; i++) a[i] = check_rank * 100 + i;
    MPI_Isendrecv_replace(a, 1, every_other, next, 3, previous, 3, MPI_COMM_WORLD, &request);
    MPI_Type_free(&every_other);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 10; i++) CHECK_EQ(a[i], (i % 2 ? check_rank : previous) * 100 + i);
}

/* Each half may go nowhere. */
static void nobody(void)
{
    int word = 7, in = -1, n = -1;
    MPI_Request request[2];
    MPI_Status status;
    MPI_Isendrecv(&word, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], &status);
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_INT, &n);
    CHECK_EQ(n, 0);
    CHECK_EQ(in, -1);
    MPI_Isendrecv(&word, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, check_rank, 4, MPI_COMM_WORLD, &request[0]);
    MPI_Isendrecv(&word, 1, MPI_INT, check_rank, 4, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    CHECK_EQ(in, 7);
    word = 9;
    MPI_Isendrecv_replace(&word, 1, MPI_INT, check_rank, 5, check_rank, 5, MPI_COMM_WORLD, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    CHECK_EQ(word, 9);
}

/* The receive's error is the request's. */
static void truncated(void)
{
    int out[2] = {1, 2}, in = 0;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Isendrecv(out, 2, MPI_INT, next, 0, &in, 1, MPI_INT, previous, 0, comm, &request);
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Comm_free(&comm);
}

/* Given up at once, it still takes place. */
static void freed(void)
{
    static int word, in;
    MPI_Request request;
    word = check_rank, in = -1;
    MPI_Isendrecv(&word, 1, MPI_INT, next, 6, &in, 1, MPI_INT, previous, 6, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    for (int flag; *(volatile int *)&in == -1;) {
        MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    CHECK_EQ(in, previous);
}
#endif

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
#if MPI_VERSION >= 4
    if (check_library("MPICH Version:\t4.0")) return check_end(); /* whose status is that of the send */
    next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    ring();
    long_ones();
    strided();
    nobody();
    truncated();
    freed();
#endif
    return check_end();
}
