/* In steady state the library wakes nobody: its threads sleep while the program computes, and while it sends and
 * receives short messages, waits for them in all forms, and takes part in short collectives. Counted are the times
 * that each thread has been given a core, by the kernel, over a second of each phase; the quietest of some seconds
 * counts, since other processes may disturb one. */
/* ranks: 2 */
/* clients: none */
/* serial: yes */
#include "../check.h"
#include <dirent.h>
#include <sched.h>
#include <unistd.h>

enum {
    PERIOD = 1,       /* seconds */
    PERIODS = 12,     /* at most, of each phase */
    LIBRARY = 50,     /* switches a second of all threads but the program's own */
    GO_EACH_TIME = 120, /* the same where each iteration does what no C can */
    THREADS = 256,
    BYTES = 1024
};

struct thread { long id, switches; };

static long number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    CHECK_SAY(at, "no %s in /proc/self/task/*/status", name);
    return strtol(at + strlen(name), NULL, 10);
}

/* Reads how often each thread of this process has been switched to; answers how many there are. */
static int read_threads(struct thread threads[THREADS])
{
    DIR *dir = opendir("/proc/self/task");
    CHECK(dir);
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        char name[64], text[4096];
        if (e->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "/proc/self/task/%.20s/status", e->d_name);
        FILE *f = fopen(name, "r");
        if (!f) continue; /* it has ended */
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        fclose(f);
        CHECK(n < THREADS);
        threads[n].id = strtol(e->d_name, NULL, 10);
        threads[n++].switches = number_after(text, "\nvoluntary_ctxt_switches:") +
                                number_after(text, "\nnonvoluntary_ctxt_switches:");
    }
    closedir(dir);
    return n;
}

/* Switches in a period of all threads but this one; says each thread's in text. */
static long others(const struct thread before[], int nbefore, const struct thread after[], int nafter, char *text,
                   size_t room)
{
    long sum = 0;
    text[0] = 0;
    for (int i = 0; i < nafter; i++) {
        long n = after[i].switches;
        for (int k = 0; k < nbefore; k++)
            if (before[k].id == after[i].id) n -= before[k].switches;
        size_t used = strlen(text);
        snprintf(text + used, room - used, " %s%ld", after[i].id == getpid() ? "main " : "", n);
        if (after[i].id != getpid()) sum += n;
    }
    return sum;
}

static char out[BYTES], in[4][BYTES];
static int left, right;
static MPI_Request started[2];
static volatile double sink;

static void compute(void)
{
    double v = 1;
    for (int i = 0; i < 5000; i++) v = v * 1.0000001 + 1e-12;
    sink = v;
}

static void halo(int to, int from)
{
    MPI_Request r[2];
    MPI_Irecv(in[0], BYTES, MPI_CHAR, from, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in[1], BYTES, MPI_CHAR, from, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Send(out, BYTES, MPI_CHAR, to, 1, MPI_COMM_WORLD);
    MPI_Send(out, BYTES, MPI_CHAR, to, 2, MPI_COMM_WORLD);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
}

static void exchange(void) { compute(); halo(right, left); }
static void myself(void) { compute(); halo(check_rank, check_rank); }

static void waits(void)
{
    MPI_Request r[2];
    MPI_Status statuses[2];
    int flag = 0, index, count, indices[2];
    for (int form = 0; form < 5; form++) {
        for (int i = 0; i < 2; i++) MPI_Irecv(in[i], BYTES, MPI_CHAR, left, i, MPI_COMM_WORLD, &r[i]);
        for (int i = 0; i < 2; i++) MPI_Send(out, BYTES, MPI_CHAR, right, i, MPI_COMM_WORLD);
        if (form == 0) MPI_Waitall(2, r, statuses);
        for (int i = 0; form == 1 && i < 2; i++) MPI_Waitany(2, r, &index, statuses);
        for (int left_over = 2; form == 2 && left_over > 0; left_over -= count) {
            MPI_Waitsome(2, r, &count, indices, statuses);
        }
        for (flag = 0; form == 3 && !flag;) MPI_Testall(2, r, &flag, statuses);
        for (int i = 0; form == 4 && i < 2; i++)
            for (flag = 0; !flag;) MPI_Test(&r[i], &flag, statuses);
    }
    MPI_Sendrecv(out, BYTES, MPI_CHAR, right, 9, in[2], BYTES, MPI_CHAR, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, BYTES, MPI_CHAR, right, 10, MPI_COMM_WORLD);
    for (flag = 0; !flag;) MPI_Iprobe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &flag, statuses);
    MPI_Probe(left, 10, MPI_COMM_WORLD, statuses);
    MPI_Recv(in[3], BYTES, MPI_CHAR, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Startall(2, started);
    compute();
    MPI_Waitall(2, started, MPI_STATUSES_IGNORE);
}

static void collectives(void)
{
    double v = 1, s[2];
    compute();
    MPI_Allreduce(&v, s, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(s[0] == check_size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Reduce(&v, s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
}

/* An operation that Go does, in each iteration. */
static void in_go(void)
{
    MPI_Info info;
    for (int i = 0; i < 10; i++) compute();
    MPI_Info_create(&info);
    MPI_Info_free(&info);
}

static void phase(const char *what, void (*iteration)(void), long limit)
{
    static struct thread before[THREADS], after[THREADS];
    char text[1024];
    long most = 0;
    for (int i = 0; i < 300; i++) iteration(); /* rings open, caches fill */
    for (int period = 0; period < PERIODS; period++) {
        int done = 0, stop = 0, nbefore, nafter;
        nbefore = read_threads(before);
        double until = MPI_Wtime() + PERIOD;
        /* All ranks make the same number of iterations; nobody talks to another about anything else in the meantime. */
        while (!stop) {
            for (int i = 0; i < 1000; i++) iteration();
            done = MPI_Wtime() >= until;
            MPI_Allreduce(&done, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        }
        nafter = read_threads(after);
        long mine = others(before, nbefore, after, nafter, text, sizeof text);
        MPI_Allreduce(&mine, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        if (most <= limit) return;
    }
    check_fail(__FILE__, __LINE__, "%s: never less than %ld switches a second in a rank; here, by thread:%s", what,
               most, text);
}

int main(int argc, char **argv)
{
    cpu_set_t cores;
    check_start(&argc, &argv);
    left = (check_rank + check_size - 1) % check_size;
    right = (check_rank + 1) % check_size;
    CHECK(sched_getaffinity(0, sizeof cores, &cores) == 0);
    if (CPU_COUNT(&cores) >= check_size) {
        MPI_Recv_init(in[0], BYTES, MPI_CHAR, left, 3, MPI_COMM_WORLD, &started[0]);
        MPI_Send_init(out, BYTES, MPI_CHAR, right, 3, MPI_COMM_WORLD, &started[1]);
        phase("computing", compute, LIBRARY);
        phase("messages to others", exchange, LIBRARY);
        phase("messages to oneself", myself, LIBRARY);
        phase("waits in all forms", waits, LIBRARY);
        phase("persistent requests", persistent, LIBRARY);
        phase("short collectives", collectives, LIBRARY);
        phase("calls that enter Go", in_go, GO_EACH_TIME);
        MPI_Request_free(&started[0]);
        MPI_Request_free(&started[1]);
    }
    return check_end();
}
