/* Wrong arguments of collectives in all their forms: the right class of error, which tells function, argument and
 * value; no request is made, and the communicator goes on as if nothing had been called. Errors of operations that are
 * under way are told by the call that completes them. */
/* needs: MPI_Iallreduce MPI_Allreduce_init */
#include "../coll/forms.h"

#ifdef MPI_ABI_VERSION

static MPI_Comm comm;
static forms_world world;

/* The name of an operation in a form, as errors tell it. */
static const char *name_of(int op, int kind)
{
    static char name[64];
    char lower[40], upper[40];
    snprintf(lower, sizeof lower, "%s", forms_name[op]);
    snprintf(upper, sizeof upper, "%c%s", lower[0] - 'a' + 'A', lower + 1);
    switch (kind % 3) {
    case FORMS_BLOCKING: snprintf(name, sizeof name, "MPI_%s:", upper); break;
    case FORMS_NONBLOCKING: snprintf(name, sizeof name, "MPI_I%s:", lower); break;
    default: snprintf(name, sizeof name, "MPI_%s_init:", upper);
    }
    return name;
}

/* All forms of an operation refuse these arguments, and tell the words. */
static void refused(const forms_args *a, int op, int want, const char *word, const char *value)
{
    for (int kind = 0; kind < FORMS_KINDS; kind++) {
        MPI_Request q = MPI_REQUEST_NULL;
        int code = forms_call(a, op, kind, &q), class_ = -1, n;
        char text[MPI_MAX_ERROR_STRING] = "";
        MPI_Error_class(code, &class_);
        MPI_Error_string(code, text, &n);
        CHECK_SAY(class_ == want, "%s gives class %s, not %d: %s", name_of(op, kind), check_class_name(class_), want,
                  text);
        CHECK_SAY(strstr(text, name_of(op, kind)) && strstr(text, word) && strstr(text, value),
                  "\"%s\" does not tell %s, %s and %s", text, name_of(op, kind), word, value);
        CHECK(q == MPI_REQUEST_NULL);
    }
}

/* One wrong argument after the other; those that only the root looks at, it alone gives. */
static void wrong(int op)
{
    forms_case c;
    int root = check_size - 1, at_root = check_rank == root, last = check_size - 1;
    int scatters = op == FORMS_SCATTER || op == FORMS_SCATTERV, reduces = op >= FORMS_REDUCE;
    int blocks = op == FORMS_REDUCE_SCATTER_BLOCK || op == FORMS_REDUCE_SCATTER;
    const char *count = reduces ? "count" : "sendcount", *type = reduces ? "datatype" : "sendtype";
    forms_make(&c, &world, op, 2, 0, root, 0, 0);
    forms_fill(&c, 1);
    forms_args a = c.args;

    a.comm = MPI_COMM_NULL;
    refused(&a, op, MPI_ERR_COMM, "comm", "MPI_COMM_NULL");
    a = c.args;
    for (int kind = 0; kind < FORMS_KINDS; kind++)
        if (kind % 3 != FORMS_BLOCKING) CHECK_CLASS(forms_call(&a, op, kind, NULL), MPI_ERR_ARG);
    if (forms_rooted(op)) {
        char value[16];
        snprintf(value, sizeof value, "%d", check_size);
        a.root = check_size;
        refused(&a, op, MPI_ERR_ROOT, "root", value);
        a.root = -1;
        refused(&a, op, MPI_ERR_ROOT, "root", "-1");
        a.root = MPI_ROOT;
        refused(&a, op, MPI_ERR_ROOT, "root", "");
    }
    if (op == FORMS_BARRIER) goto end;
    a = c.args;
    if (op == FORMS_BCAST) {
        a.r.count = -3;
        refused(&a, op, MPI_ERR_COUNT, "count", "-3");
        a = c.args, a.r.type = MPI_DATATYPE_NULL;
        refused(&a, op, MPI_ERR_TYPE, "datatype", "MPI_DATATYPE_NULL");
        a = c.args, a.r.buf = NULL;
        refused(&a, op, MPI_ERR_BUFFER, "buffer", "NULL");
        a.r.buf = MPI_IN_PLACE;
        refused(&a, op, MPI_ERR_BUFFER, "buffer", "MPI_IN_PLACE");
        goto end;
    }
    /* What is sent. */
    if (!scatters || at_root) {
        if (op == FORMS_SCATTERV || op == FORMS_ALLTOALLV || op == FORMS_ALLTOALLW) {
            char name[24];
            snprintf(name, sizeof name, "sendcounts[%d]", last);
            int counts[8] = {0}, *was = a.s.counts;
            MPI_Count counts_c[8] = {0}, *was_c = a.s.counts_c;
            counts_c[last] = counts[last] = -4;
            a.s.counts = counts, a.s.counts_c = counts_c;
            refused(&a, op, MPI_ERR_COUNT, name, "-4");
            a.s.counts = NULL, a.s.counts_c = NULL;
            refused(&a, op, MPI_ERR_ARG, "sendcounts", "NULL");
            a.s.counts = was, a.s.counts_c = was_c, a.s.displs = NULL, a.s.displs_c = NULL;
            refused(&a, op, MPI_ERR_ARG, "displs", "NULL");
        } else if (!blocks) {
            a.s.count = -3;
            refused(&a, op, MPI_ERR_COUNT, count, "-3");
        }
        a = c.args;
        if (op == FORMS_ALLTOALLW) {
            MPI_Datatype types[8];
            for (int r = 0; r < check_size; r++) types[r] = r == last ? MPI_DATATYPE_NULL : MPI_INT;
            a.s.types = types;
            refused(&a, op, MPI_ERR_TYPE, "sendtypes", "MPI_DATATYPE_NULL");
            a.s.types = NULL;
            refused(&a, op, MPI_ERR_ARG, "sendtypes", "NULL");
        } else {
            a.s.type = MPI_DATATYPE_NULL;
            refused(&a, op, MPI_ERR_TYPE, type, "MPI_DATATYPE_NULL");
            a = c.args, a.s.buf = NULL;
            refused(&a, op, MPI_ERR_BUFFER, "sendbuf", "NULL");
        }
    }
    if (forms_rooted(op) && !at_root) { /* in place is for the root */
        a = c.args;
        if (scatters) a.r.buf = MPI_IN_PLACE;
        else a.s.buf = MPI_IN_PLACE;
        refused(&a, op, MPI_ERR_BUFFER, scatters ? "recvbuf" : "sendbuf", "MPI_IN_PLACE");
    }
    /* What is received. */
    a = c.args;
    if (!forms_rooted(op) || at_root || scatters) {
        int counts_too = op == FORMS_GATHERV || op == FORMS_ALLGATHERV || op == FORMS_ALLTOALLV ||
                         op == FORMS_ALLTOALLW || op == FORMS_REDUCE_SCATTER;
        if (counts_too) {
            char name[24];
            snprintf(name, sizeof name, "recvcounts[%d]", last);
            int counts[8] = {0};
            MPI_Count counts_c[8] = {0};
            counts_c[last] = counts[last] = -5;
            a.r.counts = counts, a.r.counts_c = counts_c;
            refused(&a, op, MPI_ERR_COUNT, name, "-5");
            a.r.counts = NULL, a.r.counts_c = NULL;
            refused(&a, op, MPI_ERR_ARG, "recvcounts", "NULL");
        } else if (!reduces || blocks) {
            a.r.count = -5;
            refused(&a, op, MPI_ERR_COUNT, "recvcount", "-5");
        }
        a = c.args;
        if (!scatters) {
            a.r.buf = MPI_IN_PLACE;
            refused(&a, op, MPI_ERR_BUFFER, "recvbuf", "MPI_IN_PLACE");
        }
        if (op != FORMS_ALLTOALLW) {
            a = c.args, a.r.buf = NULL;
            refused(&a, op, MPI_ERR_BUFFER, "recvbuf", "NULL");
        }
        if (!reduces && op != FORMS_ALLTOALLW) {
            a = c.args, a.r.type = MPI_DATATYPE_NULL;
            refused(&a, op, MPI_ERR_TYPE, "recvtype", "MPI_DATATYPE_NULL");
        }
    }
    if (reduces) {
        a = c.args, a.op = MPI_OP_NULL;
        refused(&a, op, MPI_ERR_OP, "op", "MPI_OP_NULL");
        a.op = MPI_REPLACE;
        refused(&a, op, MPI_ERR_OP, "op", "");
        a.op = MPI_BAND, a.s.type = MPI_DOUBLE;
        refused(&a, op, MPI_ERR_OP, "MPI_BAND", "MPI_DOUBLE");
        a = c.args, a.s.buf = a.r.buf;
        if (!forms_rooted(op) || at_root) refused(&a, op, MPI_ERR_BUFFER, "sendbuf", "recvbuf");
    }
end:
    forms_free(&c);
}

/* An operation after all that. */
static void right(int op)
{
    forms_case c;
    MPI_Request q;
    forms_make(&c, &world, op, 20, 0, 0, 0, 0);
    forms_fill(&c, 1);
    CHECK_EQ(forms_call(&c.args, op, FORMS_NONBLOCKING, &q), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
    forms_check(&c, "after errors");
    forms_free(&c);
}

/* Neighbors that are not there. */
static void neighborhoods(void)
{
    int in[8] = {0}, out[8] = {0}, counts[4] = {1, 1, 1, -6}, displs[4] = {0}, dims[2] = {1, 1}, periods[2] = {1, 1};
    MPI_Count counts_c[4] = {1, 1, 1, -6};
    MPI_Aint displs_c[4] = {0};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    forms_side s = {in, 1, MPI_INT, counts, displs, counts_c, displs_c, types}, r = s;
    r.buf = out;
    forms_args a = {.s = s, .r = r, .comm = comm, .info = MPI_INFO_NULL};
    MPI_Comm cart, inter, local;
    for (int op = FORMS_OPS; op < FORMS_ALL; op++) refused(&a, op, MPI_ERR_TOPOLOGY, "comm", "");
    a.comm = MPI_COMM_NULL;
    for (int op = FORMS_OPS; op < FORMS_ALL; op++) refused(&a, op, MPI_ERR_COMM, "comm", "MPI_COMM_NULL");
    if (check_size > 1) {
        int high = check_rank > 0;
        MPI_Comm_split(comm, high, 0, &local);
        MPI_Intercomm_create(local, 0, comm, high ? 0 : 1, 3, &inter);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        a.comm = inter;
        for (int op = FORMS_OPS; op < FORMS_ALL; op++) refused(&a, op, MPI_ERR_COMM, "intercommunicator", "");
        MPI_Comm_free(&inter);
        MPI_Comm_free(&local);
    }
    MPI_Cart_create(comm, 2, dims, periods, 0, &cart); /* a rank, four times its own neighbor */
    if (cart == MPI_COMM_NULL) return;
    MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
    a.comm = cart;
    for (int op = FORMS_OPS; op < FORMS_ALL; op++) {
        int each = op >= FORMS_NEIGHBOR_ALLTOALLV, w = op == FORMS_NEIGHBOR_ALLTOALLW;
        if (each) refused(&a, op, MPI_ERR_COUNT, "sendcounts[3]", "-6");
        counts[3] = 1, counts_c[3] = 1;
        a.r.buf = MPI_IN_PLACE;
        refused(&a, op, MPI_ERR_BUFFER, "recvbuf", "MPI_IN_PLACE");
        a.r.buf = out, a.s.buf = MPI_IN_PLACE;
        refused(&a, op, MPI_ERR_BUFFER, "sendbuf", "MPI_IN_PLACE");
        a.s.buf = in, a.s.type = MPI_DATATYPE_NULL;
        if (!w) refused(&a, op, MPI_ERR_TYPE, "sendtype", "MPI_DATATYPE_NULL");
        a.s.type = MPI_INT;
        for (int kind = 0; kind < FORMS_KINDS; kind++)
            if (kind % 3 != FORMS_BLOCKING) CHECK_CLASS(forms_call(&a, op, kind, NULL), MPI_ERR_ARG);
        counts[3] = counts_c[3] = -6;
    }
    MPI_Comm_free(&cart);
}

/* A request of a collective can be neither cancelled nor freed while it is under way. */
static void under_way(void)
{
    MPI_Request q[2];
    const int last = check_rank == check_size - 1;
    MPI_Barrier_init(comm, MPI_INFO_NULL, &q[1]);
    CHECK_CLASS(MPI_Cancel(&q[1]), MPI_ERR_REQUEST); /* not active */
    for (int r = 0; last && r < check_size - 1; r++) MPI_Recv(NULL, 0, MPI_INT, r, 7, comm, MPI_STATUS_IGNORE);
    MPI_Ibarrier(comm, &q[0]);
    MPI_Start(&q[1]);
    for (int i = 0; i < 2 && !last; i++) { /* the last rank has not entered them yet */
        MPI_Request was = q[i];
        CHECK_CLASS(MPI_Cancel(&q[i]), MPI_ERR_REQUEST);
        CHECK_CLASS(MPI_Request_free(&q[i]), MPI_ERR_REQUEST);
        CHECK(q[i] == was);
    }
    if (!last) MPI_Send(NULL, 0, MPI_INT, check_size - 1, 7, comm);
    CHECK_EQ(MPI_Waitall(2, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Request_free(&q[1]), MPI_SUCCESS);
}

static void await(MPI_Request q)
{
    for (int flag = 0; !flag;) MPI_Request_get_status(q, &flag, MPI_STATUS_IGNORE);
}

/* A rank that has been told that the operation is complete may free its request. All ranks get the same answer,
 * whichever of them came last. */
static void seen_complete(void)
{
    enum { LONG = 100000 };
    static int in[LONG], out[LONG];
    for (int round = 0; round < 20; round++) {
        MPI_Request q[6];
        MPI_Comm copy[2];
        int one = 1, sum = 0, n = 0;
        MPI_Ibarrier(comm, &q[n++]);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &q[n++]);
        MPI_Iallreduce(in, out, LONG, MPI_INT, MPI_SUM, comm, &q[n++]);
        MPI_Comm_idup(comm, &copy[0], &q[n++]);
        MPI_Barrier_init(comm, MPI_INFO_NULL, &q[n]);
        MPI_Start(&q[n++]);
        for (int i = 0; i < n; i++) await(q[(i + round) % n]);
        for (int i = 0; i < n; i++) {
            CHECK_EQ(MPI_Request_free(&q[i]), MPI_SUCCESS);
            CHECK(q[i] == MPI_REQUEST_NULL);
        }
        CHECK_EQ(sum, check_size);
        MPI_Comm_idup(copy[0], &copy[1], &q[0]); /* not seen to be complete, be it or not */
        CHECK_CLASS(MPI_Request_free(&q[0]), MPI_ERR_REQUEST);
        CHECK_EQ(MPI_Wait(&q[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
        for (int i = 0; i < 2; i++) {
            MPI_Barrier(copy[i]);
            MPI_Comm_free(&copy[i]);
        }
    }
}

/* A rank that expects less than the root sends gets an error when it completes the operation; the others get their
 * data. Operations under way beside it, and later ones, are well. */
static void truncated(void)
{
    if (check_size == 1) return;
    for (int k = 0; k < 12; k++) {
        int data[4], n = check_rank == check_size - 1 ? 2 : 3, sum[2] = {0, 0}, one = 1, flag = 0;
        for (int i = 0; i < 4; i++) data[i] = check_rank == 0 ? k + i : -1;
        MPI_Request q[3];
        MPI_Status status[3];
        MPI_Iallreduce(&one, &sum[0], 1, MPI_INT, MPI_SUM, comm, &q[0]);
        MPI_Ibcast(data, n, MPI_INT, 0, comm, &q[1]);
        MPI_Iallreduce(&one, &sum[1], 1, MPI_INT, MPI_SUM, comm, &q[2]);
        if (k % 3 == 0) {
            CHECK_CLASS(MPI_Wait(&q[1], MPI_STATUS_IGNORE), n == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        } else if (k % 3 == 1) {
            int code = MPI_SUCCESS;
            while (!flag) code = MPI_Test(&q[1], &flag, MPI_STATUS_IGNORE);
            CHECK_CLASS(code, n == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        } else {
            CHECK_CLASS(MPI_Waitall(3, q, status), n == 2 ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
            if (n == 2) {
                CHECK_CLASS(status[0].MPI_ERROR, MPI_SUCCESS);
                CHECK_CLASS(status[1].MPI_ERROR, MPI_ERR_TRUNCATE);
            }
        }
        CHECK(q[1] == MPI_REQUEST_NULL);
        CHECK_EQ(MPI_Waitall(3, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        CHECK(sum[0] == check_size && sum[1] == check_size);
        if (n == 3) CHECK_EQ(data[2], k + 2);
        if (check_rank != 0) CHECK_EQ(data[n], -1);
        right(k);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 8);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    world = forms_world_of(comm, 0);
    for (int op = 0; op < FORMS_OPS; op++) {
        wrong(op);
        right(op);
    }
    neighborhoods();
    under_way();
    seen_complete();
    truncated();
    for (int op = 0; op < FORMS_OPS; op++) right(op);
    forms_world_free(&world);
    MPI_Comm_free(&comm);
    return check_end();
}
#else
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_end();
}
#endif
