/* systime.c - what a short message costs in processor time: that of the ranks, and that of the launchers above them,
 * some of which are agents (impirun -via agent).
 *
 * Plain MPI-2 C and two ranks on one Linux machine. Prints "name value unit" lines for each pattern, in us of one
 * message: the time that passes, and user and system time of both ranks and of their parents, each parent once. A
 * figure is that of the batch, of REPS, with the median system time. The socket patterns do without MPI what the others
 * do with it: what the kernel asks for in any case.
 *
 *   systime [-n MESSAGES] [pattern ...]
 *
 *   ping      ping-pong of 8 bytes, MPI_Send and MPI_Recv: a round trip is two messages
 *   stream    MPI_Send one way, and an answer after each 1000
 *   spaced    stream with 3 us of computation before each MPI_Send
 *   burst     64 of MPI_Isend, MPI_Waitall, and so on; an answer after each 640
 *   socket-ping, socket-wait, socket-stream
 *             a TCP connection between the two: ping-pong with a recv that never blocks, and with one that does, and
 *             one way. A message has 128 bytes of header, as an IMPI packet
 */
#include <arpa/inet.h>
#include <errno.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { REPS = 5, BURST = 64, ANSWER = 1000, HEADER = 128, BYTES = 8 };
static int rank, messages = 100000, wire = -1;
static char buf[1 << 17];

static void check(int ok, const char *what)
{
    if (!ok) { perror(what); MPI_Abort(MPI_COMM_WORLD, 1); }
}

static void ping(int n)
{
    for (int i = 0; i < n / 2; i++) {
        if (rank == 0) MPI_Send(buf, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(buf, BYTES, MPI_CHAR, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(buf, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
}

static void answer(void)
{
    if (rank == 1) MPI_Send(buf, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    else MPI_Recv(buf, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void streams(int n, double between)
{
    for (int i = 1; i <= n; i++) {
        if (rank == 0) {
            for (double t = between > 0 ? MPI_Wtime() : 0; between > 0 && MPI_Wtime() < t + between;) {}
            MPI_Send(buf, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(buf, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (i % ANSWER == 0) answer();
    }
}

static void stream(int n) { streams(n, 0); }
static void spaced(int n) { streams(n, 3e-6); }

static void burst(int n)
{
    MPI_Request requests[BURST];
    for (int i = 1; i <= n / BURST; i++) {
        for (int k = 0; k < BURST; k++) {
            if (rank == 0) MPI_Isend(buf, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[k]);
            else MPI_Irecv(buf + k * BYTES, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &requests[k]);
        }
        MPI_Waitall(BURST, requests, MPI_STATUSES_IGNORE);
        if (i % 10 == 0) answer();
    }
}

/* A TCP connection between the two ranks, as the library makes them inside a machine. */
static void join(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (wire >= 0) return;
    if (rank == 0) {
        check(fd >= 0 && !bind(fd, (void *)&at, sizeof at) && !listen(fd, 1), "listen");
        check(!getsockname(fd, (void *)&at, &length), "getsockname");
        MPI_Send(&at, sizeof at, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
        wire = accept(fd, NULL, NULL);
        check(wire >= 0, "accept");
        close(fd);
    } else {
        MPI_Recv(&at, sizeof at, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(fd >= 0 && !connect(fd, (void *)&at, sizeof at), "connect");
        wire = fd;
    }
    setsockopt(wire, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(wire, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

static void put(int bytes)
{
    check(send(wire, buf, (size_t)bytes, MSG_NOSIGNAL) == bytes, "send");
}

/* Takes n bytes, as many at a time as there are. */
static void get(int n, int flags)
{
    while (n > 0) {
        ssize_t k = recv(wire, buf, (size_t)n < sizeof buf ? (size_t)n : sizeof buf, flags);
        check(k > 0 || (k < 0 && (errno == EAGAIN || errno == EINTR)), "recv");
        if (k > 0) n -= (int)k;
    }
}

static void socket_pings(int n, int flags)
{
    for (int i = 0; i < n / 2; i++) {
        if (rank == 0) put(HEADER + BYTES);
        get(HEADER + BYTES, flags);
        if (rank == 1) put(HEADER + BYTES);
    }
}

static void socket_ping(int n) { socket_pings(n, MSG_DONTWAIT); }
static void socket_wait(int n) { socket_pings(n, 0); }

static void socket_stream(int n)
{
    for (int i = 1; i <= n; i++) {
        if (rank == 0) put(HEADER + BYTES);
        if (i % ANSWER == 0) {
            if (rank == 1) { get(ANSWER * (HEADER + BYTES), MSG_DONTWAIT); put(1); }
            else get(1, MSG_DONTWAIT);
        }
    }
}

/* Time in seconds: what passes, and what the ranks and their parents use. */
struct usage { double wall, user, system, parent_user, parent_system; };

static struct usage now(void)
{
    struct usage u = {.wall = MPI_Wtime()};
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    u.user = r.ru_utime.tv_sec + 1e-6 * r.ru_utime.tv_usec;
    u.system = r.ru_stime.tv_sec + 1e-6 * r.ru_stime.tv_usec;
    char name[64], line[1024] = "";
    snprintf(name, sizeof name, "/proc/%ld/stat", (long)getppid());
    FILE *f = fopen(name, "r");
    if (f) {
        unsigned long user = 0, system = 0;
        char *end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        if (end) sscanf(end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
        u.parent_user = (double)user / (double)sysconf(_SC_CLK_TCK);
        u.parent_system = (double)system / (double)sysconf(_SC_CLK_TCK);
        fclose(f);
    }
    return u;
}

static int by_system(const void *a, const void *b)
{
    const struct usage *x = a, *y = b;
    double d = x->system + x->parent_system - y->system - y->parent_system;
    return d < 0 ? -1 : d > 0;
}

static void measure(const char *name, void (*pattern)(int))
{
    struct usage all[REPS];
    int parents[2] = {0, 0}, mine = (int)getppid();
    MPI_Allgather(&mine, 1, MPI_INT, parents, 1, MPI_INT, MPI_COMM_WORLD);
    pattern(messages / 10); /* what has to find its stride has found it */
    for (int r = 0; r < REPS; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        struct usage a = now();
        pattern(messages);
        struct usage b = now(), both;
        double d[5] = {b.wall - a.wall, b.user - a.user, b.system - a.system, b.parent_user - a.parent_user,
                       b.parent_system - a.parent_system};
        if (rank == 1) {
            d[0] = 0;
            if (parents[0] == parents[1]) d[3] = d[4] = 0;
        }
        MPI_Reduce(d, &both, 5, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        all[r] = both;
    }
    if (rank != 0) return;
    qsort(all, REPS, sizeof *all, by_system);
    struct usage m = all[REPS / 2];
    double us = 1e6 / messages;
    printf("%s/elapsed %.3f us\n%s/user %.3f us\n%s/system %.3f us\n", name, m.wall * us, name, m.user * us, name,
           m.system * us);
    printf("%s/parents-user %.3f us\n", name, m.parent_user * us);
    printf("%s/parents-system %.3f us\n", name, m.parent_system * us);
    printf("%s/job-system %.3f us\n", name, (m.system + m.parent_system) * us);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*pattern)(int); int socket; } all[] = {
        {"ping", ping, 0}, {"stream", stream, 0}, {"spaced", spaced, 0}, {"burst", burst, 0},
        {"socket-ping", socket_ping, 1}, {"socket-wait", socket_wait, 1}, {"socket-stream", socket_stream, 1},
    };
    int size, first = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 2 && !strcmp(argv[1], "-n")) {
        messages = atoi(argv[2]);
        first = 3;
    }
    messages -= messages % 64000; /* whole bursts and whole answers */
    if (size != 2 || messages <= 0) {
        if (rank == 0) fprintf(stderr, "systime: two ranks, and 64000 messages or a multiple\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int wanted = first >= argc;
        for (int k = first; k < argc; k++) wanted |= !strcmp(argv[k], all[i].name);
        if (!wanted) continue;
        if (all[i].socket) join();
        measure(all[i].name, all[i].pattern);
    }
    MPI_Finalize();
    return 0;
}
