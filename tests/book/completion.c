/* Examples 2.25 to 2.32 of "MPI: The Complete Reference": calls that complete any, some or all of several requests,
 * probes, messages that are cancelled, and requests that are used again and again.
 *
 * ranks: 4
 */
#include "producers.h"

typedef struct {
    int n; /* producers */
    producers_buffer *b;
    MPI_Request *request;
} consumer;

static consumer all_posted(int tag)
{
    consumer c = {check_size - 1, NULL, NULL};
    c.b = calloc((size_t)c.n, sizeof *c.b);
    c.request = malloc(sizeof *c.request * (size_t)c.n);
    for (int i = 0; i < c.n; i++) {
        c.request[i] = MPI_REQUEST_NULL;
        if (tag) producers_post(&c.b[i], i, tag, &c.request[i]);
    }
    return c;
}

static void consume(consumer *c, int i, int tag, MPI_Status *status)
{
    CHECK(c->request[i] == MPI_REQUEST_NULL);
    producers_consume(&c->b[i], i, status);
    if (tag && producers_goes_on(&c->b[i])) producers_post(&c->b[i], i, tag, &c->request[i]);
}

static void all_consumed(consumer *c)
{
    for (int i = 0; i < c->n; i++) CHECK_EQ(c->b[i].rounds, PRODUCERS_ROUNDS);
    free(c->b);
    free(c->request);
}

/* The consumer takes whichever message has arrived. */
static void example_2_25(void)
{
    if (check_rank < check_size - 1) {
        producers_send(225);
        return;
    }
    consumer c = all_posted(225);
    MPI_Status status;
    int i = -1;
    for (int k = 0; k < c.n * PRODUCERS_ROUNDS; k++) {
        MPI_Waitany(c.n, c.request, &i, &status);
        consume(&c, i, 225, &status);
    }
    MPI_Waitany(c.n, c.request, &i, &status);
    CHECK_EQ(i, MPI_UNDEFINED);
    all_consumed(&c);
}

/* The consumer takes all messages that have arrived, so that no producer waits for ever. */
static void example_2_27(void)
{
    if (check_rank < check_size - 1) {
        producers_send(227);
        return;
    }
    consumer c = all_posted(227);
    MPI_Status *status = malloc(sizeof *status * (size_t)c.n);
    int *index = malloc(sizeof *index * (size_t)c.n), count = -1;
    for (int k = 0; k < c.n * PRODUCERS_ROUNDS; k += count) {
        MPI_Waitsome(c.n, c.request, &count, index, status);
        CHECK(count >= 1 && count <= c.n);
        for (int i = 0; i < count; i++) consume(&c, index[i], 227, &status[i]);
    }
    MPI_Waitsome(c.n, c.request, &count, index, status);
    CHECK_EQ(count, MPI_UNDEFINED);
    free(index);
    free(status);
    all_consumed(&c);
}

/* One message of each producer in a phase, in any order: null requests among the others say who has been served. */
static void example_2_32(void)
{
    if (check_rank < check_size - 1) {
        producers_send(232);
        return;
    }
    consumer c = all_posted(0);
    MPI_Status status;
    for (int phase = 0; phase < PRODUCERS_ROUNDS;) {
        int i = -1;
        MPI_Waitany(c.n, c.request, &i, &status);
        if (i != MPI_UNDEFINED) {
            consume(&c, i, 0, &status);
            CHECK_EQ(c.b[i].rounds, phase);
            continue;
        }
        for (int j = 0; j < c.n; j++) producers_post(&c.b[j], j, 232, &c.request[j]);
        phase++;
    }
    for (int k = 0; k < c.n; k++) {
        int i = -1;
        MPI_Waitany(c.n, c.request, &i, &status);
        consume(&c, i, 0, &status);
    }
    all_consumed(&c);
}

/* Jacobi's iteration on N x N points whose border is fixed. A process has m columns and a column of each neighbor; a
 * column is N + 2 numbers. */
enum { N = 24, STEPS = 12 };
typedef double column[N + 2];

static double point(int x, int y) { return x == 0 || y == 0 || x == N + 1 || y == N + 1 ? x * 3 + y : (x * y) % 7; }

static column *columns(int first, int n)
{
    column *a = malloc(sizeof *a * (size_t)n);
    for (int x = 0; x < n; x++)
        for (int y = 0; y < N + 2; y++) a[x][y] = point(first + x, y);
    return a;
}

static void relax(column *b, column *a, int x)
{
    for (int y = 1; y <= N; y++) b[x][y] = 0.25 * (a[x][y - 1] + a[x][y + 1] + a[x - 1][y] + a[x + 1][y]);
}

/* What one process computes alone. */
static column *alone(void)
{
    column *a = columns(0, N + 2), *b = columns(0, N + 2);
    for (int step = 0; step < STEPS; step++) {
        for (int x = 1; x <= N; x++) relax(b, a, x);
        memcpy(a, b, sizeof *a * (N + 2));
    }
    free(b);
    return a;
}

/* Messages of a step are started when the columns at the edges are new, and completed after the inner ones. With
 * persistent requests (2.31) they are made once, else in every step (2.26). */
static void jacobi(int persistent)
{
    int m = N / check_size + (check_rank < N % check_size), first = check_rank * (N / check_size);
    first += check_rank < N % check_size ? check_rank : N % check_size;
    int left = check_rank > 0 ? check_rank - 1 : MPI_PROC_NULL;
    int right = check_rank < check_size - 1 ? check_rank + 1 : MPI_PROC_NULL;
    column *a = columns(first, m + 2), *b = columns(first, m + 2), *want = alone();
    MPI_Request r[4];
    MPI_Comm comm = MPI_COMM_WORLD;
    if (persistent) {
        MPI_Send_init(b[1] + 1, N, MPI_DOUBLE, left, 31, comm, &r[0]);
        MPI_Send_init(b[m] + 1, N, MPI_DOUBLE, right, 31, comm, &r[1]);
        MPI_Recv_init(a[0] + 1, N, MPI_DOUBLE, left, 31, comm, &r[2]);
        MPI_Recv_init(a[m + 1] + 1, N, MPI_DOUBLE, right, 31, comm, &r[3]);
    }
    for (int step = 0; step < STEPS; step++) {
        relax(b, a, 1);
        relax(b, a, m);
        if (persistent) {
            MPI_Startall(4, r);
        } else {
            MPI_Isend(b[1] + 1, N, MPI_DOUBLE, left, 26, comm, &r[0]);
            MPI_Isend(b[m] + 1, N, MPI_DOUBLE, right, 26, comm, &r[1]);
            MPI_Irecv(a[0] + 1, N, MPI_DOUBLE, left, 26, comm, &r[2]);
            MPI_Irecv(a[m + 1] + 1, N, MPI_DOUBLE, right, 26, comm, &r[3]);
        }
        for (int x = 2; x < m; x++) relax(b, a, x);
        for (int x = 1; x <= m; x++) memcpy(a[x], b[x], sizeof *a);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4; i++) CHECK((r[i] == MPI_REQUEST_NULL) == !persistent);
    }
    for (int x = 1; x <= m; x++)
        for (int y = 0; y < N + 2; y++) CHECK(a[x][y] == want[first + x][y]);
    if (persistent)
        for (int i = 0; i < 4; i++) MPI_Request_free(&r[i]);
    free(a);
    free(b);
    free(want);
}

static void example_2_26(void) { jacobi(0); }
static void example_2_31(void) { jacobi(1); }

/* A probe says whose message it is, so that it is received as what it is. */
static void example_2_28(void)
{
    int i = 28;
    float x = 2.8F;
    MPI_Status status;
    if (check_rank == 0) MPI_Send(&i, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    if (check_rank == 1) MPI_Send(&x, 1, MPI_FLOAT, 2, 0, MPI_COMM_WORLD);
    if (check_rank != 2) return;
    i = 0;
    x = 0;
    for (int k = 0; k < 2; k++) {
        MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        if (status.MPI_SOURCE == 0) MPI_Recv(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status);
        else MPI_Recv(&x, 1, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, &status);
    }
    CHECK(i == 28 && x == 2.8F);
}

/* A receive from any source may take another message than the one that was probed: all that is sure is that each is
 * received once. Here both are of one type, for the book's program is not correct. */
static void example_2_29(void)
{
    int mine = 290 + check_rank, got[2] = {-1, -1};
    MPI_Status status;
    if (check_rank < 2) MPI_Send(&mine, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    if (check_rank != 2) return;
    for (int k = 0; k < 2; k++) {
        int in = -1;
        MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == 0 || status.MPI_SOURCE == 1);
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == 0 || status.MPI_SOURCE == 1);
        CHECK_EQ(got[status.MPI_SOURCE], -1);
        got[status.MPI_SOURCE] = in;
    }
    CHECK_EQ(got[0], 290);
    CHECK_EQ(got[1], 291);
}

/* A receive is cancelled, or has its message: if it is cancelled the message is there for the next one. With before the
 * message cannot have been sent. */
static void example_2_30(int before)
{
    char a = 'a';
    int flag = -1;
    MPI_Request request;
    MPI_Status status;
    if (check_rank == 0) {
        if (before) MPI_Recv(NULL, 0, MPI_CHAR, 1, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&a, 1, MPI_CHAR, 1, 30, MPI_COMM_WORLD);
    } else if (check_rank == 1) {
        a = 'b';
        MPI_Irecv(&a, 1, MPI_CHAR, 0, 30, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        if (before) {
            CHECK(flag);
            MPI_Send(NULL, 0, MPI_CHAR, 0, 31, MPI_COMM_WORLD);
        }
        if (flag) {
            CHECK(a == 'b');
            MPI_Recv(&a, 1, MPI_CHAR, 0, 30, MPI_COMM_WORLD, &status);
        }
        CHECK(a == 'a');
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    example_2_25();
    example_2_26();
    example_2_27();
    example_2_28();
    MPI_Barrier(MPI_COMM_WORLD); /* receives from any source */
    example_2_29();
    MPI_Barrier(MPI_COMM_WORLD);
    example_2_30(0);
    example_2_30(1);
    example_2_31();
    example_2_32();
    return check_end();
}
