/* A port at which nobody connects, or nobody accepts, is left after the time that the info key timeout says; one that
 * is closed while somebody waits ends the wait of both. Messages go on meanwhile. */
/* ranks: 1 2 4 */
/* needs: MPI_Comm_accept MPI_Comm_connect */
#include "family.h"
#include <pthread.h>

static char port[MPI_MAX_PORT_NAME];

static void *close_it(void *unused)
{
    CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
    return unused;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    if (!check_library("libimpi") || level != MPI_THREAD_MULTIPLE) return check_end(); /* others wait for ever */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info info;
    MPI_Comm inter;
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "0.2");
    CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);

    /* While the root waits, it serves a long message that its neighbor receives. */
    enum { N = 1 << 20 };
    char *out = malloc(N), *in = malloc(N);
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    MPI_Request q[2];
    check_fill(out, N, check_rank);
    MPI_Irecv(in, N, MPI_BYTE, before, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(out, N, MPI_BYTE, next, 1, MPI_COMM_WORLD, &q[1]);
    double start = MPI_Wtime();
    CHECK_CLASS(MPI_Comm_accept(port, info, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    CHECK(check_rank > 0 || MPI_Wtime() - start >= 0.15); /* of the root's waiting; others may have come late */
    CHECK_EQ(MPI_Waitall(2, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK_EQ(check_differs(in, N, before), -1);
    free(out), free(in);

    /* Each dials a port of its own. */
    CHECK_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);

    /* Another thread closes it. */
    pthread_t thread;
    MPI_Info_set(info, "timeout", "50");
    CHECK_EQ(pthread_create(&thread, NULL, close_it, NULL), 0);
    CHECK_CLASS(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
    CHECK_EQ(pthread_join(thread, NULL), 0);

    if (check_size > 1) { /* and that of somebody who is dialed */
        MPI_Comm pair;
        MPI_Comm_split(MPI_COMM_WORLD, check_rank < 2 ? 0 : MPI_UNDEFINED, 0, &pair);
        if (check_rank == 0) CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
        if (check_rank < 2) MPI_Bcast(port, sizeof port, MPI_CHAR, 0, pair);
        if (check_rank == 0) close_it(NULL);
        if (check_rank == 1) CHECK_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
        if (check_rank < 2) MPI_Comm_free(&pair);
    }
    MPI_Info_free(&info);
    return check_end();
}
