/* Ranks FIRST to LAST are lost, and all others go on: each finds that it cannot receive from them, and that it can from
 * the next survivor. HOW says how they are lost: kill, exit, or wait, which is somebody else's business, or tell, which
 * is so, too, and says the process's number. A rank that stops is not lost. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, first, last;

static int is_victim(int r) { return r >= first && r <= last; }

static void lose(const char *how)
{
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "exit")) _exit(7);
    if (!strcmp(how, "tell")) printf("process %d\n", (int)getpid()), fflush(stdout);
    for (;;) pause();
}

static void fail(const char *what, int other, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "no error";
    int n;
    if (code) MPI_Error_string(code, text, &n);
    printf("%d: %s %d: %s\n", rank, what, other, text);
}

/* Each victim's loss raises MPIX_ERR_PROC_FAILED, which text says in all versions of the header. */
static void notice(int victim)
{
    int x, n, code = MPI_Recv(&x, 1, MPI_INT, victim, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char text[MPI_MAX_ERROR_STRING] = "";
    if (code) MPI_Error_string(code, text, &n);
    if (!strstr(text, "PROC_FAILED")) fail("received from", victim, code);
}

static int survivor_beside(int step)
{
    int r = rank;
    do r = (r + size + step) % size;
    while (is_victim(r));
    return r;
}

static void ring(int tag)
{
    int x = -1, prev = survivor_beside(-1);
    int code = MPI_Sendrecv(&rank, 1, MPI_INT, survivor_beside(1), tag, &x, 1, MPI_INT, prev, tag, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE);
    if (code || x != prev) fail("no message from", prev, code);
}

/* The victim is stopped until all others have looked for a message of it, for longer than a death goes unnoticed. */
static void stop_and_go(void)
{
    int x = 1, pid = getpid(), found = 0;
    double until = MPI_Wtime() + 1.2;
    MPI_Bcast(&pid, 1, MPI_INT, first, MPI_COMM_WORLD);
    if (is_victim(rank)) {
        raise(SIGSTOP);
        for (int r = 0; r < size; r++)
            if (r != rank) MPI_Send(&x, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
        return;
    }
    for (int code = 0; !code && MPI_Wtime() < until;)
        if ((code = MPI_Iprobe(first, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE))) fail("lost", first, code);
    ring(2);
    if (survivor_beside(1) == 0 || size == 2) kill(pid, SIGCONT);
    int code = MPI_Recv(&x, 1, MPI_INT, first, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (code) fail("no message from", first, code);
}

int main(int argc, char **argv)
{
    if (argc != 4) return 9;
    first = atoi(argv[1]), last = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[3], "stop")) {
        stop_and_go();
    } else {
        printf("ready\n"), fflush(stdout);
        if (is_victim(rank)) lose(argv[3]);
        for (int v = first; v <= last; v++) notice(v);
        ring(1);
    }
    printf("survived\n"), fflush(stdout);
    MPI_Finalize();
    return 0;
}
