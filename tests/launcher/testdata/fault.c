/* fault HOW RANK: rank RANK meets memory that is not there, or gets a signal, inside MPI or outside.
 * fault early SIGNAL: a thread of the library gets it before MPI_Init. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void say(int number)
{
    (void)number;
    if (write(STDERR_FILENO, "the program's own\n", 18) != 18) _exit(97);
    _exit(3);
}

int main(int argc, char **argv)
{
    if (argc < 3) return 99;
    const char *how = argv[1];
    int who = atoi(argv[2]), rank, size, n;
    enum { MANY = 1 << 20 };
    static char buffer[MANY];
    if (!strcmp(how, "early")) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
        kill(getpid(), who);
        for (;;) pause();
    }
    if (!strcmp(how, "joining")) {
        printf("ready %d\n", getpid());
        fflush(stdout);
    }
    if (!strcmp(how, "handler-before")) signal(SIGSEGV, say);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(how, "handler-after")) signal(SIGSEGV, say);
    int other = (who + 1) % size;
    char *bad = mmap(NULL, 2 * MANY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == other && strstr(how, "recv")) {
        n = !strcmp(how, "recv-long") ? MANY : 8;
        MPI_Send(buffer, n, MPI_CHAR, who, 0, MPI_COMM_WORLD);
    }
    if (rank == who) {
        if (!strcmp(how, "send")) MPI_Send(bad, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD);
        if (!strcmp(how, "send-long")) MPI_Ssend(bad, MANY, MPI_CHAR, other, 0, MPI_COMM_WORLD);
        if (!strcmp(how, "recv")) MPI_Recv(bad, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(how, "recv-long")) MPI_Recv(bad, MANY, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!strcmp(how, "reduce")) MPI_Allreduce(bad, buffer, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (!strcmp(how, "counts")) {
            MPI_Gatherv(buffer, 8, MPI_CHAR, buffer, (int *)bad, (int *)bad, MPI_CHAR, who, MPI_COMM_WORLD);
        }
        if (strstr(how, "outside") || strstr(how, "handler")) *(volatile char *)bad = 1;
        if (!strcmp(how, "divide")) raise(SIGFPE); /* not every machine traps a division by 0 */
        if (!strcmp(how, "signalled")) {
            printf("ready %d\n", getpid());
            fflush(stdout);
            MPI_Recv(buffer, 8, MPI_CHAR, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (strstr(how, "send")) MPI_Recv(buffer, MANY, MPI_CHAR, who, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!strcmp(how, "reduce")) MPI_Allreduce(MPI_IN_PLACE, buffer, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!strcmp(how, "counts")) MPI_Gatherv(buffer, 8, MPI_CHAR, NULL, NULL, NULL, MPI_CHAR, who, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 98;
}
