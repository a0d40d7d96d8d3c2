/* hops.c - what a message costs over sockets and nothing else: the yardstick of what an agent costs.
 *
 * Two processes, and between them as many as make the hops, each joined to the next by a TCP connection inside this
 * machine. Everybody blocks in read and write, which is all that a plain relay does. A message of n bytes goes as an
 * IMPI packet does, behind 128 bytes of header. Prints "name value unit" lines: hops1/n and hops3/n, half a round trip,
 * the best of REPS batches, as mpibench does.
 *
 *   hops [bytes ...]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REPS = 7, HEADER = 128, BUFFER = 1 << 18 };

static void check(int ok, const char *what)
{
    if (!ok) { perror(what); exit(1); }
}

/* A TCP connection inside this machine. */
static void connection(int fd[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    check(listener >= 0 && !bind(listener, (void *)&at, sizeof at) && !listen(listener, 1), "listen");
    check(!getsockname(listener, (void *)&at, &length), "getsockname");
    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    check(fd[0] >= 0 && !connect(fd[0], (void *)&at, sizeof at), "connect");
    fd[1] = accept(listener, NULL, NULL);
    check(fd[1] >= 0, "accept");
    close(listener);
    for (int i = 0; i < 2; i++) {
        setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        setsockopt(fd[i], IPPROTO_TCP, TCP_CONGESTION, "reno", 4); /* as the library does inside a machine */
    }
}

static void put(int fd, const char *buf, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, buf, n);
        check(k > 0 || errno == EINTR, "write");
        if (k > 0) { buf += k; n -= (size_t)k; }
    }
}

static int get(int fd, char *buf, size_t n)
{
    while (n > 0) {
        ssize_t k = read(fd, buf, n);
        if (k == 0) return 0;
        check(k > 0 || errno == EINTR, "read");
        if (k > 0) { buf += k; n -= (size_t)k; }
    }
    return 1;
}

/* A relay: the message goes to the right, and the answer, which comes after it, to the left. */
static void relay(int left, int right, size_t n)
{
    static char buf[BUFFER];
    for (int from = left, to = right;; from ^= left ^ right, to ^= left ^ right)
        for (size_t done = 0; done < n;) {
            size_t want = n - done < BUFFER ? n - done : BUFFER;
            ssize_t k = read(from, buf, want);
            if (k <= 0) exit(0);
            put(to, buf, (size_t)k);
            done += (size_t)k;
        }
}

static void echo(int fd, char *buf, size_t n)
{
    while (get(fd, buf, n)) put(fd, buf, n);
    exit(0);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double half_round_trip(int hops, size_t bytes)
{
    int fd[3][2], iterations = bytes <= 1024 ? 5000 : bytes <= 65536 ? 1500 : 100;
    size_t n = HEADER + bytes;
    char *buf = calloc(1, n);
    check(buf != NULL, "calloc");
    for (int h = 0; h < hops; h++) connection(fd[h]);
    for (int h = 1; h <= hops; h++)
        if (fork() == 0) { /* the process behind hop h: it keeps its own ends only, so that the end spreads */
            for (int k = 0; k < hops; k++)
                for (int side = 0; side < 2; side++)
                    if (!((k == h - 1 && side == 1) || (k == h && side == 0))) close(fd[k][side]);
            if (h == hops) echo(fd[h - 1][1], buf, n);
            relay(fd[h - 1][1], fd[h][0], n);
        }
    for (int h = 0; h < hops; h++) {
        close(fd[h][1]);
        if (h > 0) close(fd[h][0]);
    }
    double best = 1e30;
    for (int r = 0; r < REPS; r++) {
        double t = now();
        for (int i = 0; i < iterations; i++) {
            put(fd[0][0], buf, n);
            check(get(fd[0][0], buf, n), "the other end");
        }
        t = (now() - t) / iterations / 2 * 1e6;
        if (t < best) best = t;
    }
    close(fd[0][0]);
    while (wait(NULL) > 0) {}
    free(buf);
    return best;
}

int main(int argc, char **argv)
{
    static char *usual[] = {"8", "65536", "1048576"};
    char **list = argc > 1 ? argv + 1 : usual;
    int count = argc > 1 ? argc - 1 : 3;
    for (int i = 0; i < count; i++)
        for (int hops = 1; hops <= 3; hops += 2) {
            size_t bytes = strtoul(list[i], NULL, 10);
            printf("hops%d/%zu %14.4f us\n", hops, bytes, half_round_trip(hops, bytes));
            fflush(stdout);
        }
    return 0;
}
