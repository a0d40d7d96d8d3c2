/* misbehave HOW RANK [CODE]: rank RANK does what HOW says, while the others wait for it in a collective. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *how;
static int who;

/* The rank that a launcher has given this process; -1: none. */
static int launched(void)
{
    const char *names[] = {"IMPI_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK"};
    for (int i = 0; i < 3; i++) {
        const char *number = getenv(names[i]);
        if (number) return atoi(number);
    }
    return -1;
}

/* Says that it is there, and goes no further. */
static _Noreturn void stay(void)
{
    printf("ready\n");
    fflush(stdout);
    for (;;) pause();
}

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* MPI_Finalize begins with this. */
static int at_the_end(MPI_Comm c, int key, void *value, void *extra)
{
    int rank;
    (void)key, (void)value, (void)extra, (void)c;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != who) return MPI_SUCCESS;
    if (is(how, "killed-in-finalize")) raise(SIGKILL);
    stay();
}

/* Waits for the rank that leaves, and does what it must not be blamed for. */
static void miss_it(void)
{
    int in[2];
    MPI_Request requests[2];
    if (!is(how, "leave-waiting")) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++) MPI_Irecv(&in[i], 1, MPI_INT, who, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (is(how, "leave-aborting")) MPI_Abort(MPI_COMM_WORLD, 99);
    exit(98);
}

int main(int argc, char **argv)
{
    if (argc < 3) return 99;
    int code = argc > 3 ? atoi(argv[3]) : 0, rank, key;
    how = argv[1];
    who = atoi(argv[2]);
    int early = launched() == who;

    if (is(how, "before-init") && early) return code;
    if (is(how, "killed-before-init") && early) raise(SIGKILL);
    if (is(how, "stays-before-init") && early) stay();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strstr(how, "-later")) /* ranks of one machine meet on a board by then */
        for (int i = 0; i < 100; i++) MPI_Barrier(MPI_COMM_WORLD);
    if (is(how, "stays-from-barrier")) MPI_Barrier(MPI_COMM_WORLD); /* the next one has begun for all others */
    if (strstr(how, "leave-")) MPI_Barrier(MPI_COMM_WORLD); /* all have joined */
    if (rank == who) {
        if (is(how, "abort") || is(how, "abort-later")) MPI_Abort(MPI_COMM_WORLD, code);
        if (is(how, "no-finalize") || is(how, "exit-later")) exit(code);
        if (is(how, "raise") || is(how, "raise-later")) raise(code);
        if (strstr(how, "leave-")) exit(code);
        if (is(how, "stays-from-barrier")) stay();
        if (is(how, "crash")) *(volatile int *)8 = 1;
    }
    if (strstr(how, "leave-")) miss_it();
    if (is(how, "child-stays") && fork() == 0) {
        execlp("sleep", "sleep", "1000", (char *)NULL);
        _exit(98);
    }
    if (is(how, "wait-for-signal")) {
        MPI_Barrier(MPI_COMM_WORLD);
        stay();
    }
    if (is(how, "talk")) {
        static double in[1 << 16], out[1 << 16];
        MPI_Barrier(MPI_COMM_WORLD);
        printf("ready\n");
        fflush(stdout);
        for (;;) MPI_Allreduce(in, out, 1 << 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (is(how, "hear")) { /* rank RANK goes on when it hears something */
        MPI_Barrier(MPI_COMM_WORLD);
        printf("ready\n");
        fflush(stdout);
        if (rank == who) getchar();
    }
    if (strstr(how, "in-finalize")) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    }
    if (!is(how, "sleep")) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (is(how, "killed-after-finalize") && rank == who) raise(SIGKILL);
    return is(how, "after-finalize") && rank == who ? code : 0;
}
