/* Generalized requests: completed by a thread, in every kind of wait and test, cancelled, freed early, with errors. */
/* ranks: 1 2 */
#include "../check.h"
#include <pthread.h>

struct work {
    int queries, frees, cancels, complete, value, code;
    MPI_Request request;
};

static int query(void *extra, MPI_Status *status)
{
    struct work *w = extra;
    int flag = -1;
    w->queries++;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE); /* MPI works in here */
    CHECK_EQ(flag, 0);
    MPI_Status_set_elements(status, MPI_INT, w->value);
    MPI_Status_set_cancelled(status, w->cancels > 0);
    status->MPI_SOURCE = w->value + 1;
    status->MPI_TAG = w->value + 2;
    return w->code;
}

static int release(void *extra)
{
    struct work *w = extra;
    w->frees++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    struct work *w = extra;
    w->cancels++;
    w->complete = complete;
    if (!complete) MPI_Grequest_complete(w->request);
    return MPI_SUCCESS;
}

static void begin(struct work *w, int value)
{
    memset(w, 0, sizeof *w);
    w->value = value;
    CHECK_EQ(MPI_Grequest_start(query, release, cancel, w, &w->request), MPI_SUCCESS);
    CHECK(w->request != MPI_REQUEST_NULL);
}

static void says(const MPI_Status *s, int value)
{
    int n = -1;
    MPI_Get_count(s, MPI_INT, &n);
    CHECK_EQ(n, value);
    CHECK_EQ(s->MPI_SOURCE, value + 1);
    CHECK_EQ(s->MPI_TAG, value + 2);
}

static void *complete(void *arg)
{
    MPI_Request r = ((struct work *)arg)->request;
    MPI_Grequest_complete(r);
    return NULL;
}

static void by_a_thread(void)
{
    struct work w;
    MPI_Status s;
    pthread_t thread;
    begin(&w, 5);
    pthread_create(&thread, NULL, complete, &(struct work){.request = w.request});
    MPI_Wait(&w.request, &s);
    pthread_join(thread, NULL);
    CHECK(w.request == MPI_REQUEST_NULL);
    CHECK_EQ(w.queries, 1);
    CHECK_EQ(w.frees, 1);
    says(&s, 5);
}

static void test_and_look(void)
{
    struct work w;
    MPI_Status s;
    int flag = -1;
    begin(&w, 8);
    MPI_Test(&w.request, &flag, &s);
    CHECK_EQ(flag, 0);
    CHECK_EQ(w.queries, 0);
    MPI_Grequest_complete(w.request);
    MPI_Request_get_status(w.request, &flag, &s);
    CHECK_EQ(flag, 1);
    says(&s, 8);
    CHECK_EQ(w.frees, 0);
    MPI_Test(&w.request, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 1);
    CHECK_EQ(w.queries, 2);
    CHECK_EQ(w.frees, 1);
}

static void among_others(void)
{
    struct work w[3];
    MPI_Request r[5];
    MPI_Status s[5];
    int word = 3, got = -1, n = -1, index[5];
    for (int i = 0; i < 3; i++) begin(&w[i], i * 10), r[i] = w[i].request;
    MPI_Irecv(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r[3]);
    MPI_Isend(&word, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r[4]);
    MPI_Grequest_complete(w[1].request);
    do MPI_Waitsome(3, r, &n, index, s); /* only one of the three is complete */
    while (n == 0);
    CHECK_EQ(n, 1);
    CHECK_EQ(index[0], 1);
    says(&s[0], 10);
    MPI_Grequest_complete(w[0].request);
    MPI_Waitany(3, r, &n, s);
    CHECK_EQ(n, 0);
    says(&s[0], 0);
    MPI_Grequest_complete(w[2].request);
    MPI_Waitall(5, r, s);
    says(&s[2], 20);
    CHECK_EQ(got, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(w[i].queries, 1);
        CHECK_EQ(w[i].frees, 1);
    }
}

static void cancelled(void)
{
    struct work w;
    MPI_Status s;
    int flag = -1;
    begin(&w, 1);
    MPI_Cancel(&w.request);
    CHECK_EQ(w.cancels, 1);
    CHECK_EQ(w.complete, 0);
    MPI_Wait(&w.request, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK_EQ(flag, 1);
    CHECK_EQ(w.frees, 1);
    begin(&w, 1);
    MPI_Grequest_complete(w.request);
    MPI_Cancel(&w.request);
    CHECK_EQ(w.complete, 1);
    MPI_Wait(&w.request, MPI_STATUS_IGNORE);
}

/* The free function is called when the request is both freed and complete. */
static void freed_early(void)
{
    struct work w;
    MPI_Request copy;
    begin(&w, 1);
    copy = w.request;
    MPI_Request_free(&w.request);
    CHECK(w.request == MPI_REQUEST_NULL);
    CHECK_EQ(w.frees, 0);
    MPI_Grequest_complete(copy);
    CHECK_EQ(w.frees, 1);
    CHECK_EQ(w.queries, 0);
    begin(&w, 1);
    MPI_Grequest_complete(w.request);
    MPI_Request_free(&w.request);
    CHECK_EQ(w.frees, 1);
}

static void failing(void)
{
    struct work w[2];
    MPI_Request r[2];
    MPI_Status s[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    begin(&w[0], 1);
    w[0].code = MPI_ERR_OTHER;
    MPI_Grequest_complete(w[0].request);
    CHECK_CLASS(MPI_Wait(&w[0].request, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_EQ(w[0].frees, 1);
    for (int i = 0; i < 2; i++) begin(&w[i], 1), r[i] = w[i].request, MPI_Grequest_complete(r[i]);
    w[1].code = MPI_ERR_OTHER;
    CHECK_CLASS(MPI_Waitall(2, r, s), MPI_ERR_IN_STATUS);
    CHECK_EQ(s[0].MPI_ERROR, MPI_SUCCESS);
    CHECK_CLASS(s[1].MPI_ERROR, MPI_ERR_OTHER);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    by_a_thread();
    test_and_look();
    among_others();
    if (!check_library("MPICH")) { /* which cannot complete a request in its cancel function, and frees early */
        cancelled();
        freed_early();
        failing();
    }
    return check_end();
}
