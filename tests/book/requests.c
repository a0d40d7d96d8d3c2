/* Examples 2.17 to 2.24 of "MPI: The Complete Reference": nonblocking messages from several producers to one consumer,
 * requests that are freed, and what is promised of order, progress and buffers.
 *
 * ranks: 4
 */
#include "producers.h"

enum { LONG = 60000 }; /* floats, more than any library sends before its receive is posted */

/* The consumer serves the producers in turn. */
static void example_2_17(void)
{
    if (check_rank < check_size - 1) {
        producers_send(217);
        return;
    }
    int n = check_size - 1;
    producers_buffer *b = calloc((size_t)n, sizeof *b);
    MPI_Request *request = malloc(sizeof *request * (size_t)n);
    MPI_Status status;
    for (int i = 0; i < n; i++) producers_post(&b[i], i, 217, &request[i]);
    for (int k = 0; k < n * PRODUCERS_ROUNDS; k++) {
        int i = k % n;
        MPI_Wait(&request[i], &status);
        producers_consume(&b[i], i, &status);
        if (producers_goes_on(&b[i])) producers_post(&b[i], i, 217, &request[i]);
    }
    for (int i = 0; i < n; i++) CHECK(request[i] == MPI_REQUEST_NULL);
    free(request);
    free(b);
}

/* The consumer looks at one producer after the other and serves who has sent something. */
static void example_2_18(void)
{
    if (check_rank < check_size - 1) {
        producers_send(218);
        return;
    }
    int n = check_size - 1;
    producers_buffer *b = calloc((size_t)n, sizeof *b);
    MPI_Request *request = malloc(sizeof *request * (size_t)n);
    MPI_Status status;
    for (int i = 0; i < n; i++) producers_post(&b[i], i, 218, &request[i]);
    for (int k = 0, i = 0; k < n * PRODUCERS_ROUNDS; k++) {
        int flag = 0;
        for (;; i = (i + 1) % n) {
            if (!producers_goes_on(&b[i])) continue;
            MPI_Test(&request[i], &flag, &status);
            if (flag) break;
        }
        producers_consume(&b[i], i, &status);
        if (producers_goes_on(&b[i])) producers_post(&b[i], i, 218, &request[i]);
    }
    free(request);
    free(b);
}

/* The reply says that the send is complete, so that nobody waits for it. */
static void example_2_19(void)
{
    enum { N = 50 };
    float out, in = -1;
    MPI_Request request;
    if (check_rank > 1) return;
    if (check_rank == 0) {
        for (int i = 1; i <= N; i++) {
            out = (float)i;
            MPI_Isend(&out, 1, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
            CHECK(request == MPI_REQUEST_NULL);
            MPI_Irecv(&in, 1, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(in == (float)-i);
        }
        return;
    }
    for (int i = 1; i <= N; i++) {
        MPI_Irecv(&in, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(in == (float)i);
        out = (float)-i;
        MPI_Isend(&out, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, &request);
        if (i < N) MPI_Request_free(&request);
        else MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void numbers(float *a, int n, float first)
{
    for (int i = 0; i < n; i++) a[i] = first + (float)i;
}

static void are_numbers(const float *a, int n, float first)
{
    for (int i = 0; i < n; i++) CHECK_SAY(a[i] == first + (float)i, "number %d is %g", i, (double)a[i]);
}

/* Two messages of one envelope match the receives in the order in which these were posted, whoever is waited for first.
 */
static void example_2_20(int n)
{
    if (check_rank > 1) return;
    float *a = calloc((size_t)n, sizeof *a), *b = calloc((size_t)n, sizeof *b);
    MPI_Request r1, r2;
    if (check_rank == 0) {
        numbers(a, n, 1);
        numbers(b, n, 2);
        MPI_Isend(a, n, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, &r1);
        MPI_Isend(b, n, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, &r2);
    } else {
        MPI_Irecv(a, n, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, &r1);
        MPI_Irecv(b, n, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, &r2);
    }
    MPI_Wait(&r2, MPI_STATUS_IGNORE);
    MPI_Wait(&r1, MPI_STATUS_IGNORE);
    are_numbers(a, n, 1);
    are_numbers(b, n, 2);
    free(a);
    free(b);
}

/* A long message and a short one behind it: they may end in any order, and each is found complete by a test. */
static void example_2_21(void)
{
    if (check_rank > 1) return;
    float *a = calloc(LONG, sizeof *a), b = -1;
    int flag1 = 0, flag2 = 0;
    MPI_Request r1, r2;
    if (check_rank == 0) {
        numbers(a, LONG, 3);
        b = 4;
        MPI_Isend(a, LONG, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, &r1);
        MPI_Isend(&b, 1, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, &r2);
    } else {
        MPI_Irecv(a, LONG, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, &r1);
        MPI_Irecv(&b, 1, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, &r2);
    }
    while (!flag1 || !flag2) {
        if (!flag1) MPI_Test(&r1, &flag1, MPI_STATUS_IGNORE);
        if (!flag2) MPI_Test(&r2, &flag2, MPI_STATUS_IGNORE);
    }
    are_numbers(a, LONG, 3);
    CHECK(b == 4);
    free(a);
}

/* The first send ends once its receive is posted, though the receiver waits for the second one. */
static void example_2_22(void)
{
    float *a = calloc(LONG, sizeof *a), *b = calloc(LONG, sizeof *b);
    MPI_Request request;
    if (check_rank == 0) {
        numbers(a, LONG, 5);
        numbers(b, LONG, 6);
        MPI_Send(a, LONG, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
        MPI_Send(b, LONG, MPI_FLOAT, 1, 1, MPI_COMM_WORLD);
    } else if (check_rank == 1) {
        MPI_Irecv(a, LONG, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(b, LONG, MPI_FLOAT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        are_numbers(a, LONG, 5);
        are_numbers(b, LONG, 6);
    }
    free(a);
    free(b);
}

/* Two processes send, then receive: no message has to be kept for that. */
static void example_2_23(void)
{
    if (check_rank > 1) return;
    float *out = calloc(LONG, sizeof *out), *in = calloc(LONG, sizeof *in);
    int peer = 1 - check_rank;
    MPI_Request request;
    numbers(out, LONG, (float)check_rank);
    MPI_Isend(out, LONG, MPI_FLOAT, peer, 23, MPI_COMM_WORLD, &request);
    MPI_Recv(in, LONG, MPI_FLOAT, peer, 23, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    are_numbers(in, LONG, (float)peer);
    free(out);
    free(in);
}

/* Messages are received in an order that is not the one in which they are sent. */
static void example_2_24(void)
{
    float *one = calloc(LONG, sizeof *one), *two = calloc(LONG, sizeof *two);
    MPI_Request r1, r2;
    if (check_rank == 0) {
        numbers(one, LONG, 7);
        numbers(two, LONG, 8);
        MPI_Send(one, LONG, MPI_FLOAT, 1, 1, MPI_COMM_WORLD);
        MPI_Send(two, LONG, MPI_FLOAT, 1, 2, MPI_COMM_WORLD);
    } else if (check_rank == 1) {
        MPI_Irecv(two, LONG, MPI_FLOAT, 0, 2, MPI_COMM_WORLD, &r1);
        MPI_Irecv(one, LONG, MPI_FLOAT, 0, 1, MPI_COMM_WORLD, &r2);
        MPI_Wait(&r1, MPI_STATUS_IGNORE);
        MPI_Wait(&r2, MPI_STATUS_IGNORE);
        are_numbers(one, LONG, 7);
        are_numbers(two, LONG, 8);
    }
    free(one);
    free(two);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    example_2_17();
    example_2_18();
    example_2_19();
    example_2_20(1);
    example_2_20(LONG);
    example_2_21();
    example_2_22();
    example_2_23();
    example_2_24();
    return check_end();
}
