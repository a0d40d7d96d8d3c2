/* misbehave HOW RANK [CODE]: rank RANK does what HOW says, while the others wait for it in a collective. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

int main(int argc, char **argv)
{
    if (argc < 3) return 99;
    const char *how = argv[1];
    int who = atoi(argv[2]), code = argc > 3 ? atoi(argv[3]) : 0, rank;
    const char *number = getenv("IMPI_RANK");
    int early = number && atoi(number) == who;

    if (is(how, "before-init") && early) return code;
    if (is(how, "killed-before-init") && early) raise(SIGKILL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == who) {
        if (is(how, "abort")) MPI_Abort(MPI_COMM_WORLD, code);
        if (is(how, "no-finalize")) exit(code);
        if (is(how, "raise")) raise(code);
        if (is(how, "crash")) *(volatile int *)8 = 1;
    }
    if (is(how, "child-stays") && fork() == 0) {
        execlp("sleep", "sleep", "1000", (char *)NULL);
        _exit(98);
    }
    if (is(how, "wait-for-signal")) {
        MPI_Barrier(MPI_COMM_WORLD);
        printf("ready\n");
        fflush(stdout);
        for (;;) pause();
    }
    if (!is(how, "sleep")) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return is(how, "after-finalize") && rank == who ? code : 0;
}
