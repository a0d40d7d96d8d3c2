/* Threads communicate while another starts and stops variables and listens to events: no message is lost or counted
 * twice, whatever way it takes. */
/* ranks: 1 2 */
#include "tool.h"
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 600 };

static volatile int over;
static long events;

static void on_event(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *data)
{
    int kind = -1;
    (void)r, (void)safety, (void)data;
    OK(MPI_T_event_read(e, 0, &kind));
    CHECK(kind >= 0 && kind <= 2);
    events++; /* functions are called one after the other */
}

/* Messages around the ring, by several ways, and their contents. */
static void *talk(void *arg)
{
    MPI_Comm c = *(MPI_Comm *)arg;
    const int next = (check_rank + 1) % check_size, last = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < ROUNDS; i++) {
        int out = 1000 * check_rank + i, in = -1, sum = -1;
        MPI_Request r;
        if (i % 3 == 0) {
            MPI_Sendrecv(&out, 1, MPI_INT, next, 1, &in, 1, MPI_INT, last, 1, c, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(&in, 1, MPI_INT, last, 1, c, &r);
            MPI_Send(&out, 1, MPI_INT, next, 1, c);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
        CHECK_EQ(in, 1000 * last + i);
        if (i % 50 == 0) {
            out = 1;
            MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, c);
            CHECK_EQ(sum, check_size);
        }
    }
    return NULL;
}

/* Looks on, now by one way, now by another, now not at all. */
static void *look_on(void *arg)
{
    int index;
    MPI_T_pvar_session s;
    (void)arg;
    OK(MPI_T_event_get_index("request_completed", &index));
    OK(MPI_T_pvar_session_create(&s));
    MPI_T_pvar_handle sent = tool_handle(s, "messages_sent_machine", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle peak = tool_handle(s, "unexpected_length", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    MPI_T_pvar_handle length = tool_handle(s, "unexpected_length", MPI_T_PVAR_CLASS_LEVEL, NULL);
    unsigned long long before = 0;
    while (!over) {
        MPI_T_event_registration r;
        OK(MPI_T_pvar_start(s, sent));
        OK(MPI_T_pvar_start(s, peak));
        OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &r));
        OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, on_event));
        CHECK(tool_read(s, length) < 100000);
        CHECK(tool_read(s, peak) < 100000);
        OK(MPI_T_pvar_stop(s, peak));
        OK(MPI_T_event_handle_free(r, NULL, NULL));
        unsigned long long now = tool_read(s, sent);
        CHECK(now >= before);
        before = now;
        OK(MPI_T_pvar_stop(s, sent));
        CHECK_EQ(tool_read(s, sent), tool_read(s, sent));
    }
    OK(MPI_T_pvar_session_free(&s));
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t talkers[THREADS], onlooker;
    MPI_Comm comms[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    tool_start();
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    pthread_create(&onlooker, NULL, look_on, NULL);
    for (int i = 0; i < THREADS; i++) pthread_create(&talkers[i], NULL, talk, &comms[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(talkers[i], NULL);
    over = 1;
    pthread_join(onlooker, NULL);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
    OK(MPI_T_finalize());
    return check_end();
}
