/* steering.c - a solver that another process steers while it runs.
 *
 *   mpiexec -n 4 ./steering solve [cells]                          nobody steers: it ends when it has converged
 *   mpiexec -n 1 ./steering steer : -n 4 ./steering solve [cells]  rank 0, which gets the terminal's input, steers
 *
 * The process that steers reads commands, and sends each to the first rank of the solver, which replies with a report:
 *
 *   set VALUE   the hot end has this temperature from now on
 *   status      the state of the computation
 *   wait        the same, as soon as it has converged
 *   stop        the solver ends, and so does this process; the end of the input is the same
 *
 * The solver computes temperatures in a rod with one hot end and one at 0. Each cell becomes the mean of its neighbors,
 * until no cell changes much. Between two batches of steps the solver looks for a command (MPI_Iprobe), which is cheap;
 * when it has converged, it sleeps until one comes (MPI_Probe). The temperatures do not depend on the number of ranks.
 *
 * The two roles are two groups, and an intercommunicator connects them, so neither knows the other's ranks.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 50 }; /* steps between two looks for a command */
enum { NONE, SET, STATUS, WAIT, STOP, REPORT }; /* commands and the reply: tags of messages */

typedef struct { double hot, steps, change, mean; } report; /* change: the largest of any cell in the last step */

static void fail(const char *why)
{
    fprintf(stderr, "steering: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* The solver's part of the rod, with a cell of each neighbor at its ends. */
static struct { double *now, *next; int n, before, after; } rod;

/* One step; returns the largest change of a cell of ours. */
static double step(MPI_Comm solver)
{
    double *t = rod.now, change = 0;
    MPI_Sendrecv(&t[rod.n], 1, MPI_DOUBLE, rod.after, 0, &t[0], 1, MPI_DOUBLE, rod.before, 0, solver,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&t[1], 1, MPI_DOUBLE, rod.before, 0, &t[rod.n + 1], 1, MPI_DOUBLE, rod.after, 0, solver,
                 MPI_STATUS_IGNORE);
    rod.next[0] = t[0];
    rod.next[rod.n + 1] = t[rod.n + 1];
    for (int i = 1; i <= rod.n; i++) {
        rod.next[i] = (t[i - 1] + t[i + 1]) / 2;
        change = fmax(change, fabs(rod.next[i] - t[i]));
    }
    rod.now = rod.next;
    rod.next = t;
    return change;
}

/* What the first rank does between two batches: it replies to the command that has come, if any, and returns it. */
static int listen_to(MPI_Comm steerer, report *r, int converged, double *value)
{
    static int waited_for; /* the steering process waits until we have converged */
    MPI_Status status;
    int there = 1;
    if (converged && waited_for) {
        MPI_Send(r, 4, MPI_DOUBLE, 0, REPORT, steerer);
        waited_for = 0;
    }
    if (converged) {
        MPI_Probe(0, MPI_ANY_TAG, steerer, &status);
    } else {
        MPI_Iprobe(0, MPI_ANY_TAG, steerer, &there, &status);
    }
    if (!there) return NONE;
    MPI_Recv(value, 1, MPI_DOUBLE, 0, status.MPI_TAG, steerer, MPI_STATUS_IGNORE);
    if (status.MPI_TAG == SET) r->hot = *value;
    if (status.MPI_TAG == WAIT && !converged) {
        waited_for = 1;
    } else {
        MPI_Send(r, 4, MPI_DOUBLE, 0, REPORT, steerer);
    }
    return status.MPI_TAG;
}

/* steerer is MPI_COMM_NULL if nobody steers. */
static void solve(MPI_Comm solver, MPI_Comm steerer, int cells)
{
    int rank, size;
    MPI_Comm_rank(solver, &rank);
    MPI_Comm_size(solver, &size);
    if (cells < size) fail("there are more ranks than cells");
    rod.n = (int)((long long)cells * (rank + 1) / size - (long long)cells * rank / size);
    rod.now = calloc((size_t)rod.n + 2, sizeof(double));
    rod.next = calloc((size_t)rod.n + 2, sizeof(double));
    if (!rod.now || !rod.next) fail("no memory");
    rod.before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    rod.after = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    report r = {.hot = 1};
    double command[2] = {NONE}; /* and its value */
    do {
        double change = 0, sum = 0;
        if (rank == 0) rod.now[0] = r.hot;
        for (int k = 0; k < BATCH; k++) change = step(solver);
        for (int i = 1; i <= rod.n; i++) sum += rod.now[i];
        MPI_Allreduce(&change, &r.change, 1, MPI_DOUBLE, MPI_MAX, solver);
        MPI_Reduce(&sum, &r.mean, 1, MPI_DOUBLE, MPI_SUM, 0, solver);
        r.mean /= cells;
        r.steps += BATCH;
        int converged = r.change <= 1e-9 * fmax(1, fabs(r.hot));
        if (steerer == MPI_COMM_NULL) {
            command[0] = converged ? STOP : NONE;
        } else {
            if (rank == 0) command[0] = listen_to(steerer, &r, converged, &command[1]);
            MPI_Bcast(command, 2, MPI_DOUBLE, 0, solver);
            if (command[0] == SET) r.hot = command[1];
        }
    } while (command[0] != STOP);
    if (rank == 0) printf("answer: the hot end is at %g, the mean at %.4f\n", r.hot, r.mean);
    free(rod.now);
    free(rod.next);
}

/* Reads a command; returns 0 if there is no more, and NONE is a line that is none. */
static int read_command(int *command, double *value)
{
    static const char *names[] = {"", "set", "status", "wait", "stop"};
    char line[200], word[16] = "";
    if (isatty(STDIN_FILENO)) printf("> ");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) return 0;
    int words = sscanf(line, "%15s %lf", word, value);
    *command = NONE;
    for (int c = SET; c <= STOP; c++) {
        if (words == (c == SET ? 2 : 1) && strcmp(word, names[c]) == 0) *command = c;
    }
    if (words > 0 && *command == NONE) printf("commands: set VALUE, status, wait, stop\n");
    return 1;
}

static void steer(MPI_Comm solver)
{
    int command;
    do {
        double value = 0;
        report r;
        if (!read_command(&command, &value)) command = STOP;
        if (command == NONE) continue;
        MPI_Send(&value, 1, MPI_DOUBLE, 0, command, solver);
        MPI_Recv(&r, 4, MPI_DOUBLE, 0, REPORT, solver, MPI_STATUS_IGNORE);
        printf("step %.0f: the hot end is at %g, the mean at %.4f; the last step changed a cell by %.1e\n", r.steps,
               r.hot, r.mean, r.change);
    } while (command != STOP);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, first[2] = {-1, -1}; /* world rank of the first process of either role */
    int steers = argc > 1 && strcmp(argv[1], "steer") == 0, cells = argc > 2 ? atoi(argv[2]) : 40;
    if (!steers && (argc < 2 || strcmp(argv[1], "solve") != 0)) fail("usage: steering solve [cells] | steering steer");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int *roles = malloc((size_t)size * sizeof(int)), steering = 0;
    if (!roles) fail("no memory");
    MPI_Allgather(&steers, 1, MPI_INT, roles, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = size - 1; r >= 0; r--) {
        first[roles[r]] = r;
        steering += roles[r];
    }
    free(roles);
    if (steering > 1) fail("two processes want to steer");
    if (steering == size) fail("there is no solver to steer");

    MPI_Comm mine, others = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, steers, rank, &mine);
    if (steering) MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, first[!steers], 0, &others);
    if (steers) {
        steer(others);
    } else {
        solve(mine, others, cells);
    }
    if (steering) MPI_Comm_free(&others);
    MPI_Comm_free(&mine);
    MPI_Finalize();
    return 0;
}
