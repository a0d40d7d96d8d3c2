/* Processes that end independently: each has its last session at another time, and begins others between; one after the
 * other they end for good, and the rest goes on when the process before is gone. */
/* needs: MPI_Session_init MPI_Comm_create_from_group */
#include "../check.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static MPI_Session begin(void)
{
    MPI_Session s;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), MPI_SUCCESS);
    return s;
}

/* The communicator of the ranks from first on. */
static MPI_Comm from(MPI_Session s, int first, const char *tag)
{
    MPI_Group world, rest;
    MPI_Comm c;
    int size;
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://WORLD", &world), MPI_SUCCESS);
    MPI_Group_rank(world, &check_rank);
    MPI_Group_size(world, &size);
    check_size = size;
    int range[1][3] = {{first, size - 1, 1}};
    MPI_Group_range_incl(world, 1, range, &rest);
    CHECK_EQ(MPI_Comm_create_from_group(rest, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    MPI_Group_free(&world);
    MPI_Group_free(&rest);
    return c;
}

/* Waits outside MPI until a process of this machine has ended. */
static void outlive(int pid)
{
    const struct timespec moment = {0, 1000000};
    for (int i = 0; kill(pid, 0) == 0; i++) {
        CHECK_SAY(i < 20000, "process %d does not end", pid);
        nanosleep(&moment, NULL);
    }
}

enum { MANY = 40, WORDS = 30000 };

/* What a process leaves behind for the next one: messages that the program lets go of. */
static void bequeath(MPI_Comm c)
{
    static int words[WORDS];
    MPI_Request r;
    for (int i = 0; i < WORDS; i++) words[i] = check_rank + i;
    CHECK_EQ(MPI_Isend(words, WORDS, MPI_INT, 1, 7, c, &r), MPI_SUCCESS);
    MPI_Request_free(&r);
    for (int i = 0; i < MANY; i++) CHECK_EQ(MPI_Send(&i, 1, MPI_INT, 1, 8, c), MPI_SUCCESS);
}

static void inherit(MPI_Comm c)
{
    static int words[WORDS];
    for (int i = 0; i < MANY; i++) {
        int in = -1;
        CHECK_EQ(MPI_Recv(&in, 1, MPI_INT, 0, 8, c, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(in, i);
    }
    CHECK_EQ(MPI_Recv(words, WORDS, MPI_INT, 0, 7, c, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < WORDS; i++) CHECK_EQ(words[i], check_rank - 1 + i);
}

int main(void)
{
    MPI_Session s = begin();
    MPI_Comm c = from(s, 0, "all");
    MPI_Barrier(c);
    MPI_Comm_free(&c);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);

    /* Round k is one of the ranks from k on: rank k - 1 has ended. */
    for (int k = 0; k <= check_rank; k++) {
        s = begin();
        c = from(s, k, "those who are left");
        int rank, size, sum = -1, one = 1;
        MPI_Comm_rank(c, &rank);
        MPI_Comm_size(c, &size);
        CHECK_EQ(size, check_size - k);
        CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c), MPI_SUCCESS);
        CHECK_EQ(sum, size);
        int leaver = getpid();
        CHECK_EQ(MPI_Bcast(&leaver, 1, MPI_INT, 0, c), MPI_SUCCESS);
        if (rank == 0 && size > 1) bequeath(c);
        if (rank == 1) inherit(c);
        MPI_Comm_free(&c);
        CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
        if (rank > 0) outlive(leaver);
    }
    return 0;
}
