/* All kinds of messages and collective operations between processes that have met at a port. */
/* ranks: 2 3 4 */
/* needs: MPI_Comm_accept MPI_Comm_connect */
#include "family.h"

enum { BIG = 5 << 20 };

static int me, ours, theirs, left; /* left: this process's half has accepted */

static int sends(int mode, void *buf, int n, int to, MPI_Comm comm)
{
    switch (mode) {
    case 0: return MPI_Send(buf, n, MPI_BYTE, to, 10 + mode, comm);
    case 1: return MPI_Ssend(buf, n, MPI_BYTE, to, 10 + mode, comm);
    case 2: return MPI_Bsend(buf, n, MPI_BYTE, to, 10 + mode, comm);
    default: return MPI_Rsend(buf, n, MPI_BYTE, to, 10 + mode, comm);
    }
}

/* Rank 0 of one half sends to each of the other in every mode and size; then the other way round. */
static void modes(MPI_Comm inter)
{
    static const int sizes[] = {0, 1, 17, 4096, 70001, 1 << 20};
    for (int way = 0; way < 2; way++)
        for (int mode = 0; mode < 4; mode++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                int n = sizes[s], go;
                char *buf = malloc(n + 1);
                if (left == way && me == 0) {
                    check_fill(buf, n, n + mode);
                    void *space = malloc(n + MPI_BSEND_OVERHEAD + 1), *at;
                    if (mode == 2) MPI_Buffer_attach(space, n + MPI_BSEND_OVERHEAD);
                    for (int r = 0; r < theirs; r++) {
                        if (mode == 3) MPI_Recv(&go, 1, MPI_INT, r, 9, inter, MPI_STATUS_IGNORE);
                        CHECK_EQ(sends(mode, buf, n, r, inter), MPI_SUCCESS);
                        if (mode == 2) MPI_Buffer_detach(&at, &go), MPI_Buffer_attach(space, n + MPI_BSEND_OVERHEAD);
                    }
                    if (mode == 2) MPI_Buffer_detach(&at, &go);
                    free(space);
                } else if (left != way) {
                    MPI_Request q;
                    MPI_Status st;
                    int got;
                    if (mode == 3) { /* the receive is there when the sender hears of it */
                        MPI_Irecv(buf, n, MPI_BYTE, 0, 10 + mode, inter, &q);
                        MPI_Send(&mode, 1, MPI_INT, 0, 9, inter);
                        CHECK_EQ(MPI_Wait(&q, &st), MPI_SUCCESS);
                    } else if (mode == 1) { /* found first */
                        MPI_Message m;
                        CHECK_EQ(MPI_Mprobe(0, MPI_ANY_TAG, inter, &m, &st), MPI_SUCCESS);
                        CHECK_EQ(st.MPI_TAG, 10 + mode);
                        CHECK_EQ(MPI_Mrecv(buf, n, MPI_BYTE, &m, &st), MPI_SUCCESS);
                    } else {
                        if (mode == 0) CHECK_EQ(MPI_Probe(0, 10, inter, &st), MPI_SUCCESS);
                        CHECK_EQ(MPI_Recv(buf, n, MPI_BYTE, MPI_ANY_SOURCE, 10 + mode, inter, &st), MPI_SUCCESS);
                    }
                    MPI_Get_count(&st, MPI_BYTE, &got);
                    CHECK_EQ(got, n);
                    CHECK_EQ(st.MPI_SOURCE, 0);
                    CHECK_EQ(check_differs(buf, n, n + mode), -1);
                }
                free(buf);
            }
}

/* Rows of one side are columns of the other. */
static void types(MPI_Comm inter)
{
    enum { N = 200 };
    static double out[N][N], in[N][N];
    MPI_Datatype column, columns;
    MPI_Request q[2];
    MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column);
    MPI_Type_create_resized(column, 0, sizeof(double), &columns);
    MPI_Type_commit(&columns);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) out[i][j] = i * N + j, in[i][j] = -1;
    if (me < theirs && me < ours) {
        MPI_Irecv(in, N * N, MPI_DOUBLE, me, 30, inter, &q[0]);
        MPI_Isend(out, N, columns, me, 30, inter, &q[1]);
        CHECK_EQ(MPI_Waitall(2, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) CHECK_EQ(in[i][j], j * N + i);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&columns);
}

/* A receive that has been posted is taken back; a persistent pair is started again and again. */
static void requests(MPI_Comm inter)
{
    MPI_Request q;
    MPI_Status st;
    int x = -1, flag = 0;
    MPI_Irecv(&x, 1, MPI_INT, 0, 40, inter, &q);
    MPI_Cancel(&q);
    MPI_Wait(&q, &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK(flag);
    if (me >= theirs || me >= ours) return;
    MPI_Request p[2];
    int out = 0, in = 0;
    MPI_Recv_init(&in, 1, MPI_INT, me, 41, inter, &p[0]);
    MPI_Send_init(&out, 1, MPI_INT, me, 41, inter, &p[1]);
    for (int i = 1; i <= 50; i++) {
        out = i;
        MPI_Startall(2, p);
        MPI_Waitall(2, p, MPI_STATUSES_IGNORE);
        CHECK_EQ(in, i);
    }
    MPI_Request_free(&p[0]);
    MPI_Request_free(&p[1]);
}

/* The collective operations of an intercommunicator, of each kind, blocking and not. */
static void collectives(MPI_Comm inter)
{
    int most = ours > theirs ? ours : theirs, sum = 0, all;
    int *in = calloc(most + 1, sizeof(int)), *out = calloc(most + 1, sizeof(int));
    int *counts = calloc(most + 1, sizeof(int)), *displs = calloc(most + 1, sizeof(int)), base = left ? 1000 : 2000;
    int their_base = 3000 - base;
    MPI_Request q;
    CHECK_EQ(MPI_Barrier(inter), MPI_SUCCESS);
    for (int way = 0; way < 2; way++) { /* rooted ones: the root is rank 0 of one half */
        int root = left != way ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, is_root = left == way && me == 0;
        int value = is_root ? 77 : -1, got = -1;
        CHECK_EQ(MPI_Bcast(&value, 1, MPI_INT, root, inter), MPI_SUCCESS);
        if (left != way) CHECK_EQ(value, 77);
        value = base + me;
        CHECK_EQ(MPI_Gather(&value, 1, MPI_INT, in, 1, MPI_INT, root, inter), MPI_SUCCESS);
        for (int r = 0; is_root && r < theirs; r++) CHECK_EQ(in[r], their_base + r);
        for (int r = 0; r < theirs; r++) out[r] = base + 10 * r;
        CHECK_EQ(MPI_Scatter(out, 1, MPI_INT, &got, 1, MPI_INT, root, inter), MPI_SUCCESS);
        if (left != way) CHECK_EQ(got, their_base + 10 * me);
        value = 1 + me;
        CHECK_EQ(MPI_Reduce(&value, &got, 1, MPI_INT, MPI_SUM, root, inter), MPI_SUCCESS);
        if (is_root) CHECK_EQ(got, theirs * (theirs + 1) / 2);
        char *big = malloc(BIG);
        if (is_root) check_fill(big, BIG, 3);
        CHECK_EQ(MPI_Ibcast(big, BIG, MPI_BYTE, root, inter, &q), MPI_SUCCESS);
        CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
        if (left != way || is_root) CHECK_EQ(check_differs(big, BIG, 3), -1);
        free(big);
    }
    int mine = base + me;
    CHECK_EQ(MPI_Allgather(&mine, 1, MPI_INT, in, 1, MPI_INT, inter), MPI_SUCCESS);
    for (int r = 0; r < theirs; r++) CHECK_EQ(in[r], their_base + r);
    for (int r = 0; r < theirs; r++) out[r] = base + 10 * me + r;
    CHECK_EQ(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter), MPI_SUCCESS);
    for (int r = 0; r < theirs; r++) CHECK_EQ(in[r], their_base + 10 * r + me);
    for (int r = 0; r < theirs; r++) counts[r] = 1, displs[r] = theirs - 1 - r;
    CHECK_EQ(MPI_Iallgatherv(&mine, 1, MPI_INT, in, counts, displs, MPI_INT, inter, &q), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int r = 0; r < theirs; r++) CHECK_EQ(in[theirs - 1 - r], their_base + r);
    mine = 1;
    CHECK_EQ(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_SUCCESS);
    CHECK_EQ(sum, theirs);
    CHECK_EQ(MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_MAX, inter, &q), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(all, 1);
    free(in), free(out), free(counts), free(displs);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm inter = family_halves(MPI_COMM_WORLD);
    left = check_rank % 2 == 0;
    MPI_Comm_rank(inter, &me);
    MPI_Comm_size(inter, &ours);
    MPI_Comm_remote_size(inter, &theirs);
    modes(inter);
    family_talk(inter, 1, BIG);
    types(inter);
    requests(inter);
    collectives(inter);
    CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
    return check_end();
}
