/* sessions HOW RANK [CODE]: a program of sessions only, in which rank RANK does what HOW says. "which" prints each
 * rank's MPI_APPNUM instead, in the world model. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

int main(int argc, char **argv)
{
    if (argc < 3) return 99;
    const char *how = argv[1];
    int who = atoi(argv[2]), code = argc > 3 ? atoi(argv[3]) : 0, rank;
    if (is(how, "which")) {
        int *number, flag;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
        printf("%d:%d\n", rank, flag ? *number : -1);
        return MPI_Finalize();
    }
    MPI_Session s;
    MPI_Group g;
    MPI_Comm c;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
    MPI_Comm_create_from_group(g, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c);
    MPI_Group_free(&g);
    MPI_Comm_rank(c, &rank);
    if (rank == who) {
        if (is(how, "abort")) MPI_Abort(c, code);
        if (is(how, "error")) MPI_Send(&code, 1, MPI_INT, -7, 0, c);
        if (is(how, "leave-open")) exit(code);
    }
    MPI_Barrier(c);
    MPI_Comm_free(&c);
    MPI_Session_finalize(&s);
    if (is(how, "finalized")) { /* the world model, between sessions */
        MPI_Init(&argc, &argv);
        MPI_Finalize();
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
        MPI_Session_finalize(&s);
        return rank == who ? code : 0;
    }
    if (rank == who && is(how, "outlives")) { /* until there is a file */
        const struct timespec moment = {0, 1000000};
        while (access(argv[3], F_OK) != 0) nanosleep(&moment, NULL);
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
        MPI_Session_finalize(&s);
    }
    if (rank == who && is(how, "killed-resting")) raise(code);
    if (rank == who && is(how, "quits-resting")) _exit(code);
    while (is(how, "killed-resting") && rank % 2) pause(); /* some have no end of their own */
    return is(how, "afterwards") && rank == who ? code : 0;
}
