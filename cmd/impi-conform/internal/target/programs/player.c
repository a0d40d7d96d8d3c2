/* player: plays the MPI side of conformance cases. A plain MPI program, which the tester's command line starts:
 *
 *     player ADDRESS:PORT TOKEN
 *
 * After MPI_Init each process connects to the tester at ADDRESS:PORT, and says the token, its rank and the size of
 * MPI_COMM_WORLD. Then it takes what the tester sends, line by line:
 *
 *     text LENGTH TEXT   a test of the connection: it returns the line, with the length that it has found
 *     begin NAME         a case begins
 *     do STEP            a step, "barrier" or "@0 send 2 7 100"
 *     go                 the step compute is over
 *     end                the case is over: it answers "done LEVEL", its worst error
 *     exit               MPI_Finalize
 *
 * "@R" in front of a step leaves it to rank R of MPI_COMM_WORLD, "@R-S" to ranks R to S. Numbers are decimal.
 * What happens is said to the tester, a line "say ..." for each fact. Values that arrive are checked against the rules
 * below; a wrong one is reported to the tester, and ends the job with a message and code 3. stdout is for people.
 *
 * The values: byte i of a message with tag t is (t + 7i) mod 251. In collectives element i of rank r is
 * 1000r + i; what p has for q in alltoall is 10000p + 100q + i.
 *
 * It needs C99, sockets (POSIX.1-2001) and MPI, and nothing else: compile it with the compiler of the implementation,
 *
 *     mpicc -o player player.c
 *
 * and, where sockets are in a library of their own, with that.
 */
#define _XOPEN_SOURCE 600
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
#include <wchar.h>

enum { SLOTS = 16,
       REQUESTS = 4096,
       LINE = 1024 };
enum { RETURNED = 1,
       WRONG,
       UNKNOWN }; /* levels: MPI has returned an error; a wrong value; no such step */
static MPI_Comm slot[SLOTS], comm;
static int in_place; /* collectives get MPI_IN_PLACE where they can */
static int world_rank, rank, size; /* rank and size are those of comm */
static MPI_Request request[REQUESTS];
static struct {
    unsigned char *data;
    int n, tag, receive;
} pending[REQUESTS];
static int requests;
static int level; /* the worst error of this case */
static char case_name[LINE] = "the start";

/* The connection to the tester. */

static int tester = -1;

/* Ends the job for a reason that is not the implementation's. */
static void give_up(const char *what)
{
    fprintf(stderr, "player: rank %d: %s\n", world_rank, what);
    MPI_Abort(MPI_COMM_WORLD, 4);
    exit(4);
}

static int connected(const char *host, const char *port)
{
    struct addrinfo hints, *list, *a;
    int fd = -1, one = 1;
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &hints, &list) != 0)
        return -1;
    for (a = list; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    if (fd >= 0) /* what it says is awaited: it must not be collected */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, (void *)&one, sizeof one);
    return fd;
}

/* Sends a line, whose last byte is a line feed. */
static void tell(const char *line)
{
    size_t left = strlen(line);
    while (left > 0) {
        ssize_t n = write(tester, line, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            give_up("the tester has hung up");
        line += n;
        left -= (size_t)n;
    }
}

/* Reads a line into 1 KiB, without its line feed. */
static void hear(char *line)
{
    static char buffer[4096];
    static size_t at, end;
    for (size_t n = 0; n < LINE; n++) {
        if (at == end) {
            ssize_t got;
            do
                got = read(tester, buffer, sizeof buffer);
            while (got < 0 && errno == EINTR);
            if (got <= 0)
                give_up("the tester has hung up");
            at = 0;
            end = (size_t)got;
        }
        line[n] = buffer[at++];
        if (line[n] == '\n') {
            line[n] = 0;
            return;
        }
    }
    give_up("the tester sends a line that is too long");
}

/* Connects to ADDRESS:PORT, where an IPv6 address may be in brackets, and says who this process is. */
static void introduce(const char *where, const char *token)
{
    char host[LINE], line[LINE];
    const char *colon = strrchr(where, ':');
    size_t n = colon ? (size_t)(colon - where) : 0;
    int world_size;
    if (n == 0 || n >= sizeof host || strlen(token) > 100)
        give_up("usage: player ADDRESS:PORT TOKEN");
    memcpy(host, where, n);
    host[n] = 0;
    if (host[0] == '[' && host[n - 1] == ']') {
        memmove(host, host + 1, n - 2);
        host[n - 2] = 0;
    }
    tester = connected(host, colon + 1);
    if (tester < 0)
        give_up("it cannot connect to the tester");
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    snprintf(line, sizeof line, "impi-conform 1 %s %d %d\n", token, world_rank, world_size);
    tell(line);
}

static void say(const char *format, ...)
{
    char line[LINE];
    va_list args;
    int n = snprintf(line, sizeof line, "say ");
    va_start(args, format);
    n += vsnprintf(line + n, sizeof line - n - 1, format, args);
    va_end(args);
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';
    line[n] = 0;
    tell(line);
}

/* Reports an error of this level, and ends the job. */
static void fail(int how, int code, const char *what)
{
    char line[LINE];
    snprintf(line, sizeof line, "wrong %d %.900s\n", how, what);
    tell(line);
    fprintf(stderr, "player: rank %d: %s: %s\n", world_rank, case_name, what);
    MPI_Abort(MPI_COMM_WORLD, code);
    exit(code);
}

static void wrong(const char *what, int i, long got, long want)
{
    char text[LINE];
    snprintf(text, sizeof text, "%s: element %d is %ld, must be %ld", what, i, got, want);
    fail(WRONG, 3, text);
}

static void *memory(size_t n)
{
    void *p = calloc(n ? n : 1, 1);
    if (!p)
        abort();
    return p;
}

static void use(MPI_Comm c)
{
    comm = c;
    rank = size = -1;
    if (c != MPI_COMM_NULL) {
        MPI_Comm_rank(c, &rank);
        MPI_Comm_size(c, &size);
        MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    }
}

static const char *error(int code)
{
    int class = 0;
    if (code == MPI_SUCCESS)
        return "success";
    if (level < RETURNED)
        level = RETURNED;
    MPI_Error_class(code, &class);
    return class == MPI_ERR_TRUNCATE ? "truncate" : class == MPI_ERR_CONVERSION ? "conversion"
                                                                                : "error";
}

static unsigned char pattern(int tag, int i) { return (unsigned char)((tag + 7L * i) % 251); }

static unsigned char *message(int tag, int n)
{
    unsigned char *p = memory(n);
    for (int i = 0; i < n; i++)
        p[i] = pattern(tag, i);
    return p;
}

static void received(const unsigned char *p, MPI_Status *s, int room, int code)
{
    int n = -1, tag = s->MPI_TAG;
    if (code != MPI_SUCCESS) {
        say("recv %d %d %s", s->MPI_SOURCE, tag, error(code));
        return;
    }
    MPI_Get_count(s, MPI_BYTE, &n);
    for (int i = 0; i < n && i < room; i++)
        if (p[i] != pattern(tag, i))
            wrong("a message", i, p[i], pattern(tag, i));
    say("recv %d %d %d", s->MPI_SOURCE, tag, n);
}

/* Point to point. A tag or source of -1 is a wildcard. */

/* Gives MPI_Bsend n bytes, instead of those that it has from another case. */
static void attach(int n)
{
    static void *attached;
    if (attached) {
        void *old;
        int size_of_old;
        MPI_Buffer_detach(&old, &size_of_old);
        free(attached);
    }
    attached = memory(n);
    MPI_Buffer_attach(attached, n);
}

static int source(int s) { return s < 0 ? MPI_ANY_SOURCE : s; }
static int any_tag(int t) { return t < 0 ? MPI_ANY_TAG : t; }

static void do_send(const char *mode, int dst, int tag, int n)
{
    unsigned char *p = message(tag, n);
    int code = !strcmp(mode, "ssend")   ? MPI_Ssend(p, n, MPI_BYTE, dst, tag, comm)
               : !strcmp(mode, "rsend") ? MPI_Rsend(p, n, MPI_BYTE, dst, tag, comm)
               : !strcmp(mode, "bsend") ? MPI_Bsend(p, n, MPI_BYTE, dst, tag, comm)
                                        : MPI_Send(p, n, MPI_BYTE, dst, tag, comm);
    say("%s %d %d %s", mode, dst, tag, error(code));
    free(p);
}

static void start(int receive, const char *mode, int peer, int tag, int n)
{
    if (requests == REQUESTS)
        abort();
    int k = requests++;
    pending[k].n = n;
    pending[k].tag = tag;
    pending[k].receive = receive;
    pending[k].data = receive ? memory(n) : message(tag, n);
    if (receive)
        MPI_Irecv(pending[k].data, n, MPI_BYTE, source(peer), any_tag(tag), comm, &request[k]);
    else if (!strcmp(mode, "issend"))
        MPI_Issend(pending[k].data, n, MPI_BYTE, peer, tag, comm, &request[k]);
    else
        MPI_Isend(pending[k].data, n, MPI_BYTE, peer, tag, comm, &request[k]);
}

static void wait_one(int k)
{
    MPI_Status s;
    int cancelled = 0, code = MPI_Wait(&request[k], &s);
    MPI_Test_cancelled(&s, &cancelled);
    if (cancelled)
        say("cancelled %d", pending[k].tag);
    else if (pending[k].receive)
        received(pending[k].data, &s, pending[k].n, code);
    else
        say("sent %d %s", pending[k].tag, error(code));
    free(pending[k].data);
}

static void do_recv(int src, int tag, int n)
{
    unsigned char *p = memory(n);
    MPI_Status s;
    int code = MPI_Recv(p, n, MPI_BYTE, source(src), any_tag(tag), comm, &s);
    received(p, &s, n, code);
    free(p);
}

static void probe(int wait, int src, int tag)
{
    MPI_Status s;
    int flag = 1, n = -1;
    if (wait)
        MPI_Probe(source(src), any_tag(tag), comm, &s);
    else
        MPI_Iprobe(source(src), any_tag(tag), comm, &flag, &s);
    if (!flag) {
        say("probe none");
        return;
    }
    MPI_Get_count(&s, MPI_BYTE, &n);
    say("probe %d %d %d", s.MPI_SOURCE, s.MPI_TAG, n);
}

/* One message of each basic type. */

typedef struct {
    int a, b;
} two_int;
typedef struct {
    float a;
    int b;
} float_int;
typedef struct {
    double a;
    int b;
} double_int;
typedef struct {
    short a;
    int b;
} short_int;
static const char char_v[] = {'A', 'z', -1};
static const signed char schar_v[] = {-128, 127, -1};
static const unsigned char uchar_v[] = {0, 255, 7};
static const short short_v[] = {-2, 300, SHRT_MIN};
static const unsigned short ushort_v[] = {1, 300, 65535};
static const int int_v[] = {-2, 70000, INT_MIN};
static const unsigned uint_v[] = {1, 70000, UINT_MAX};
static const long long_v[] = {-2, 70000, INT_MIN};
static const unsigned long ulong_v[] = {1, 70000, UINT_MAX};
static const long long llong_v[] = {-2, 1LL << 40, LLONG_MIN};
static const float float_v[] = {1.5f, -INFINITY, 1e-45f};
static const double double_v[] = {-0.1, INFINITY, 5e-324};
static const long double ldouble_v[] = {1.5L, -2.0L, 0.0L};
static const wchar_t wchar_v[] = {65, 0x20ac, 0xffff};
static const two_int two_int_v[] = {{1, -2}, {3, 4}, {-5, 6}};
static const float_int float_int_v[] = {{1.5f, -2}, {-3, 4}, {5, 6}};
static const double_int double_int_v[] = {{1.5, -2}, {-3, 4}, {5, 6}};
static const short_int short_int_v[] = {{1, -2}, {-3, 4}, {5, 6}};

static const void *typed(const char *name, MPI_Datatype *type, size_t *bytes)
{
    struct {
        const char *name;
        MPI_Datatype type;
        const void *v;
        size_t n;
    } list[] = {
        {"char", MPI_CHAR, char_v, sizeof char_v},
        {"schar", MPI_SIGNED_CHAR, schar_v, sizeof schar_v},
        {"uchar", MPI_UNSIGNED_CHAR, uchar_v, sizeof uchar_v},
        {"short", MPI_SHORT, short_v, sizeof short_v},
        {"ushort", MPI_UNSIGNED_SHORT, ushort_v, sizeof ushort_v},
        {"int", MPI_INT, int_v, sizeof int_v},
        {"uint", MPI_UNSIGNED, uint_v, sizeof uint_v},
        {"long", MPI_LONG, long_v, sizeof long_v},
        {"ulong", MPI_UNSIGNED_LONG, ulong_v, sizeof ulong_v},
        {"llong", MPI_LONG_LONG_INT, llong_v, sizeof llong_v},
        {"float", MPI_FLOAT, float_v, sizeof float_v},
        {"double", MPI_DOUBLE, double_v, sizeof double_v},
        {"ldouble", MPI_LONG_DOUBLE, ldouble_v, sizeof ldouble_v},
        {"wchar", MPI_WCHAR, wchar_v, sizeof wchar_v},
        {"2int", MPI_2INT, two_int_v, sizeof two_int_v},
        {"float_int", MPI_FLOAT_INT, float_int_v, sizeof float_int_v},
        {"double_int", MPI_DOUBLE_INT, double_int_v, sizeof double_int_v},
        {"short_int", MPI_SHORT_INT, short_int_v, sizeof short_int_v},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(list[i].name, name)) {
            *type = list[i].type;
            *bytes = list[i].n;
            return list[i].v;
        }
    abort();
}

static int same(const char *name, const void *a, const void *b, size_t bytes)
{
    if (!strcmp(name, "ldouble")) { /* padding has no value */
        const long double *x = a, *y = b;
        return x[0] == y[0] && x[1] == y[1] && x[2] == y[2];
    }
    if (!strcmp(name, "double_int")) {
        const double_int *x = a, *y = b;
        for (int i = 0; i < 3; i++)
            if (x[i].a != y[i].a || x[i].b != y[i].b)
                return 0;
        return 1;
    }
    if (!strcmp(name, "short_int")) {
        const short_int *x = a, *y = b;
        for (int i = 0; i < 3; i++)
            if (x[i].a != y[i].a || x[i].b != y[i].b)
                return 0;
        return 1;
    }
    return !memcmp(a, b, bytes);
}

static void send_type(const char *name, int dst, int tag)
{
    MPI_Datatype type;
    size_t bytes;
    const void *v = typed(name, &type, &bytes);
    MPI_Send(v, 3, type, dst, tag, comm);
}

static void recv_type(const char *name, int src, int tag)
{
    MPI_Datatype type;
    size_t bytes;
    MPI_Status s;
    int n = -1;
    const void *v = typed(name, &type, &bytes);
    void *p = memory(bytes);
    MPI_Recv(p, 3, type, src, tag, comm, &s);
    MPI_Get_count(&s, type, &n);
    if (n != 3 || !same(name, p, v, bytes)) {
        char text[LINE];
        snprintf(text, sizeof text, "%d values of type %.100s have not arrived as they were sent", n, name);
        fail(WRONG, 3, text);
    }
    free(p);
}

/* Two integers and a double, packed. */
static void send_packed(int dst, int tag)
{
    char b[64];
    int n = 0, size_int, size_double, v[2] = {-2, 300};
    double x = 2.5;
    MPI_Pack_size(2, MPI_INT, comm, &size_int);
    MPI_Pack_size(1, MPI_DOUBLE, comm, &size_double);
    MPI_Pack(v, 2, MPI_INT, b, sizeof b, &n, comm);
    MPI_Pack(&x, 1, MPI_DOUBLE, b, sizeof b, &n, comm);
    say("packed %d", size_int + size_double);
    MPI_Send(b, n, MPI_PACKED, dst, tag, comm);
}

static void recv_packed(int src, int tag)
{
    char b[64];
    int n = 0, v[2];
    double x;
    MPI_Recv(b, sizeof b, MPI_PACKED, src, tag, comm, MPI_STATUS_IGNORE);
    MPI_Unpack(b, sizeof b, &n, v, 2, MPI_INT, comm);
    MPI_Unpack(b, sizeof b, &n, &x, 1, MPI_DOUBLE, comm);
    say("unpacked %d %d %g", v[0], v[1], x);
}

/* Collectives, on int. */

static int *mine(int n)
{
    int *p = memory(n * sizeof(int));
    for (int i = 0; i < n; i++)
        p[i] = 1000 * rank + i;
    return p;
}

static int counted(int r, int n) { return n < 0 ? 0 : n + r; } /* counts of the v variants; n = -1: all are 0 */

static void counts(int n, int *count, int *displ, int *total)
{
    *total = 0;
    for (int r = 0; r < size; r++) {
        count[r] = counted(r, n);
        displ[r] = *total;
        *total += count[r] + 1; /* gaps */
    }
}

static void check_rows(const char *what, const int *p, const int *count, const int *displ, int n)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; i < (count ? count[r] : n); i++) {
            int got = p[(displ ? displ[r] : r * n) + i];
            if (got != 1000 * r + i)
                wrong(what, r * n + i, got, 1000 * r + i);
        }
}

static void bcast(int root, int n)
{
    int *p = rank == root ? mine(n) : memory(n * sizeof(int));
    MPI_Bcast(p, n, MPI_INT, root, comm);
    for (int i = 0; i < n; i++)
        if (p[i] != 1000 * root + i)
            wrong("bcast", i, p[i], 1000 * root + i);
    free(p);
}

static void gather(int all, int root, int n)
{
    int *in = mine(n), *out = memory((size_t)size * n * sizeof(int));
    void *send = in;
    if (in_place && (all || rank == root)) {
        memcpy(out + (size_t)rank * n, in, n * sizeof(int));
        send = MPI_IN_PLACE;
    }
    if (all)
        MPI_Allgather(send, n, MPI_INT, out, n, MPI_INT, comm);
    else
        MPI_Gather(send, n, MPI_INT, out, n, MPI_INT, root, comm);
    if (all || rank == root)
        check_rows("gather", out, NULL, NULL, n);
    free(in);
    free(out);
}

static void gatherv(int all, int root, int n)
{
    int *count = memory(size * sizeof(int)), *displ = memory(size * sizeof(int)), total;
    counts(n, count, displ, &total);
    int *in = mine(count[rank]), *out = memory(total * sizeof(int));
    void *send = in;
    if (in_place && (all || rank == root)) {
        memcpy(out + displ[rank], in, count[rank] * sizeof(int));
        send = MPI_IN_PLACE;
    }
    if (all)
        MPI_Allgatherv(send, count[rank], MPI_INT, out, count, displ, MPI_INT, comm);
    else
        MPI_Gatherv(send, count[rank], MPI_INT, out, count, displ, MPI_INT, root, comm);
    if (all || rank == root)
        check_rows("gatherv", out, count, displ, 0);
    free(in);
    free(out);
    free(count);
    free(displ);
}

static void scatter(int v, int root, int n)
{
    int *count = memory(size * sizeof(int)), *displ = memory(size * sizeof(int)), total;
    counts(n, count, displ, &total);
    if (!v) {
        total = size * n;
        for (int r = 0; r < size; r++) {
            count[r] = n;
            displ[r] = r * n;
        }
    }
    int *in = memory(total * sizeof(int)), *out = memory(count[rank] * sizeof(int));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count[r]; i++)
            in[displ[r] + i] = 1000 * r + i;
    int stays = in_place && rank == root;
    void *receive = stays ? MPI_IN_PLACE : out;
    if (v)
        MPI_Scatterv(in, count, displ, MPI_INT, receive, count[rank], MPI_INT, root, comm);
    else
        MPI_Scatter(in, n, MPI_INT, receive, n, MPI_INT, root, comm);
    for (int i = 0; !stays && i < count[rank]; i++)
        if (out[i] != 1000 * rank + i)
            wrong("scatter", i, out[i], 1000 * rank + i);
    free(in);
    free(out);
    free(count);
    free(displ);
}

static void alltoall(int v, int n)
{
    int *count = memory(size * sizeof(int)), *displ = memory(size * sizeof(int)), total;
    int *rcount = memory(size * sizeof(int)), *rdispl = memory(size * sizeof(int)), rtotal = 0;
    counts(n, count, displ, &total); /* q gets counted(q, n) from everybody */
    for (int r = 0; r < size; r++) {
        if (!v) {
            count[r] = n;
            displ[r] = r * n;
        }
        rcount[r] = v ? counted(rank, n) : n;
        rdispl[r] = rtotal;
        rtotal += rcount[r] + v;
    }
    if (!v)
        total = size * n;
    int *in = memory(total * sizeof(int)), *out = memory(rtotal * sizeof(int));
    for (int q = 0; q < size; q++)
        for (int i = 0; i < count[q]; i++)
            in[displ[q] + i] = 10000 * rank + 100 * q + i;
    if (v)
        MPI_Alltoallv(in, count, displ, MPI_INT, out, rcount, rdispl, MPI_INT, comm);
    else
        MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm);
    for (int p = 0; p < size; p++)
        for (int i = 0; i < rcount[p]; i++)
            if (out[rdispl[p] + i] != 10000 * p + 100 * rank + i)
                wrong("alltoall", i, out[rdispl[p] + i], 10000 * p + 100 * rank + i);
    free(in);
    free(out);
    free(count);
    free(displ);
    free(rcount);
    free(rdispl);
}

/* Gathers what others send as another type of the same signature: n of MPI_LONG on both sides, or pairs of int. */
static void gather_typed(int pairs, int root, int n)
{
    MPI_Datatype pair;
    int *in = mine(n), *out = memory((size_t)size * n * sizeof(int));
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    if (pairs) {
        MPI_Gather(in, n / 2, pair, out, n, MPI_INT, root, comm);
    } else {
        long *from = memory(n * sizeof(long)), *to = memory((size_t)size * n * sizeof(long));
        for (int i = 0; i < n; i++)
            from[i] = in[i];
        MPI_Gather(from, n, MPI_LONG, to, n, MPI_LONG, root, comm);
        for (int i = 0; rank == root && i < size * n; i++)
            out[i] = (int)to[i];
        free(from);
        free(to);
    }
    if (rank == root)
        check_rows("gather", out, NULL, NULL, n);
    MPI_Type_free(&pair);
    free(in);
    free(out);
}

/* What 0 .. upto sum up to in element i. */
static int sum(int upto, int i) { return 1000 * upto * (upto + 1) / 2 + i * (upto + 1); }

static void reduce(const char *kind, int root, int n)
{
    int *in = mine(n), *out = memory(n * sizeof(int)), upto = size - 1, have = 1;
    void *send = in;
    if (in_place && (root < 0 || rank == root)) {
        memcpy(out, in, n * sizeof(int));
        send = MPI_IN_PLACE;
    }
    if (!strcmp(kind, "allreduce"))
        MPI_Allreduce(send, out, n, MPI_INT, MPI_SUM, comm);
    else if (!strcmp(kind, "scan")) {
        MPI_Scan(send, out, n, MPI_INT, MPI_SUM, comm);
        upto = rank;
    } else {
        MPI_Reduce(send, out, n, MPI_INT, MPI_SUM, root, comm);
        have = rank == root;
    }
    for (int i = 0; have && i < n; i++)
        if (out[i] != sum(upto, i))
            wrong(kind, i, out[i], sum(upto, i));
    free(in);
    free(out);
}

/* The smallest of doubles, and whose it is. */
static void minloc(int root, int n)
{
    typedef struct {
        double value;
        int place;
    } located;
    located *in = memory(n * sizeof *in), *out = memory(n * sizeof *out);
    for (int i = 0; i < n; i++) {
        in[i].value = 1000 * ((rank + 1) % size) + i;
        in[i].place = rank;
    }
    MPI_Reduce(in, out, n, MPI_DOUBLE_INT, MPI_MINLOC, root, comm);
    for (int i = 0; rank == root && i < n; i++)
        if (out[i].value != i || out[i].place != size - 1)
            wrong("minloc", i, out[i].place, size - 1);
    free(in);
    free(out);
}

static void reduce_scatter(int n)
{
    int *count = memory(size * sizeof(int)), total = 0, before = 0;
    for (int r = 0; r < size; r++) {
        count[r] = counted(r, n);
        before += r < rank ? count[r] : 0;
        total += count[r];
    }
    int *in = mine(total), *out = memory(count[rank] * sizeof(int));
    MPI_Reduce_scatter(in, out, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count[rank]; i++)
        if (out[i] != sum(size - 1, before + i))
            wrong("reduce_scatter", i, out[i], sum(size - 1, before + i));
    free(in);
    free(out);
    free(count);
}

/* Composition of affine maps x -> ax + b modulo 2^32: associative, and not commutative. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    uint32_t *f = in, *g = inout;
    (void)type;
    for (int i = 0; i < *len; i++) {
        g[2 * i + 1] += g[2 * i] * f[2 * i + 1];
        g[2 * i] *= f[2 * i];
    }
}

static void noncommutative(const char *kind, int root, int n)
{
    MPI_Datatype pair;
    MPI_Op op;
    uint32_t *in = memory(8 * n), *out = memory(8 * n);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    for (int i = 0; i < n; i++) {
        in[2 * i] = 2 * rank + 3;
        in[2 * i + 1] = 1000 * rank + i;
    }
    if (!strcmp(kind, "scannc"))
        MPI_Scan(in, out, n, pair, op, comm);
    else
        MPI_Reduce(in, out, n, pair, op, root, comm);
    int upto = !strcmp(kind, "scannc") ? rank : size - 1;
    for (int i = 0; i < n && (rank == root || root < 0); i++) {
        uint32_t a = 1, b = 0;
        for (int r = 0; r <= upto; r++) {
            b = 1000 * r + i + (2 * r + 3) * b;
            a *= 2 * r + 3;
        }
        if (out[2 * i] != a || out[2 * i + 1] != b)
            wrong(kind, i, out[2 * i + 1], b);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    free(in);
    free(out);
}

/* Communicators go into slots; slot 0 is MPI_COMM_WORLD. */

static void create(int lo, int hi, int to)
{
    MPI_Group all, part;
    int range[1][3] = {{lo, hi, 1}};
    MPI_Comm_group(comm, &all);
    if (hi < lo)
        part = MPI_GROUP_EMPTY;
    else
        MPI_Group_range_incl(all, 1, range, &part);
    MPI_Comm_create(comm, part, &slot[to]);
    if (hi >= lo)
        MPI_Group_free(&part);
    MPI_Group_free(&all);
}

static void attribute(int key, const char *name)
{
    int *value = NULL, flag = 0;
    MPI_Comm_get_attr(comm, key, &value, &flag);
    if (flag)
        say("%s %d", name, *value);
    else
        say("%s none", name);
}

static void attributes(void)
{
    attribute(MPI_TAG_UB, "tag_ub");
#ifdef IMPI_CLIENT_SIZE
    attribute(IMPI_CLIENT_SIZE, "client_size");
    attribute(IMPI_CLIENT_COLOR, "client_color");
    attribute(IMPI_HOST_SIZE, "host_size");
    attribute(IMPI_HOST_COLOR, "host_color");
#endif
}

/* Computes outside MPI until the tester says so. */
static void compute(void)
{
    char line[LINE];
    hear(line);
    if (strcmp(line, "go") != 0)
        give_up("the tester must say go");
}

static int is(const char *a, const char *b) { return !strcmp(a, b); }

/* One step: its words, those that follow the first as numbers, and all of it. */
struct step {
    char word[6][256];
    int number[4];
    const char *text;
};

/* Each of these does a step of its kind, or answers 0 if it knows no such step. */

/* Point-to-point communication. */
static int messages(const struct step *s)
{
    const char *w = s->word[0];
    int a = s->number[0], b = s->number[1], c = s->number[2], d = s->number[3];
    if (is(w, "send") || is(w, "ssend") || is(w, "rsend") || is(w, "bsend"))
        do_send(w, a, b, c);
    else if (is(w, "isend") || is(w, "issend"))
        start(0, w, a, b, c);
    else if (is(w, "irecv"))
        start(1, w, a, b, c);
    else if (is(w, "isends")) /* dst tag n times */
        for (int i = 0; i < d; i++)
            start(0, "isend", a, b, c);
    else if (is(w, "recv"))
        do_recv(a, b, c);
    else if (is(w, "recvs")) /* src tag n times */
        for (int i = 0; i < d; i++)
            do_recv(a, b, c);
    else if (is(w, "cancel"))
        MPI_Cancel(&request[requests - 1]);
    else if (is(w, "wait")) {
        for (int i = 0; i < requests; i++)
            wait_one(i);
        requests = 0;
    } else if (is(w, "probe"))
        probe(1, a, b);
    else if (is(w, "iprobe"))
        probe(0, a, b);
    else if (is(w, "buffer"))
        attach(a);
    else if (is(w, "sendtype"))
        send_type(s->word[1], b, c);
    else if (is(w, "recvtype"))
        recv_type(s->word[1], b, c);
    else if (is(w, "sendpacked"))
        send_packed(a, b);
    else if (is(w, "recvpacked"))
        recv_packed(a, b);
    else
        return 0;
    return 1;
}

/* Collective communication. */
static int collectives(const struct step *s)
{
    const char *w = s->word[0];
    int a = s->number[0], b = s->number[1];
    if (is(w, "in_place"))
        in_place = 1;
    else if (is(w, "gatherlong") || is(w, "gatherpairs"))
        gather_typed(is(w, "gatherpairs"), a, b);
    else if (is(w, "barrier"))
        MPI_Barrier(comm);
    else if (is(w, "bcast"))
        bcast(a, b);
    else if (is(w, "gather"))
        gather(0, a, b);
    else if (is(w, "allgather"))
        gather(1, 0, a);
    else if (is(w, "gatherv"))
        gatherv(0, a, b);
    else if (is(w, "allgatherv"))
        gatherv(1, 0, a);
    else if (is(w, "scatter"))
        scatter(0, a, b);
    else if (is(w, "scatterv"))
        scatter(1, a, b);
    else if (is(w, "alltoall"))
        alltoall(0, a);
    else if (is(w, "alltoallv"))
        alltoall(1, a);
    else if (is(w, "reduce"))
        reduce(w, a, b);
    else if (is(w, "allreduce") || is(w, "scan"))
        reduce(w, -1, a);
    else if (is(w, "minloc"))
        minloc(a, b);
    else if (is(w, "reduce_scatter"))
        reduce_scatter(a);
    else if (is(w, "reducenc"))
        noncommutative(w, a, b);
    else if (is(w, "scannc"))
        noncommutative(w, -1, a);
    else
        return 0;
    return 1;
}

/* Making, choosing and freeing communicators. */
static int communicators(const struct step *s)
{
    const char *w = s->word[0];
    int a = s->number[0], b = s->number[1], c = s->number[2], d = s->number[3];
    if (is(w, "comm"))
        use(slot[a]);
    else if (is(w, "dup"))
        MPI_Comm_dup(comm, &slot[a]);
    else if (is(w, "split")) /* color key slot */
        MPI_Comm_split(comm, a < 0 ? MPI_UNDEFINED : a, b, &slot[c]);
    else if (is(w, "create")) /* lo hi slot */
        create(a, b, c);
    else if (is(w, "inter")) /* local leader, remote leader in world, tag, slot */
        MPI_Intercomm_create(comm, a, MPI_COMM_WORLD, b, c, &slot[d]);
    else if (is(w, "merge")) /* high slot */
        MPI_Intercomm_merge(comm, a, &slot[b]);
    else if (is(w, "free")) {
        MPI_Comm_free(&slot[a]);
        slot[a] = MPI_COMM_NULL;
    } else if (is(w, "rank"))
        say("rank %d of %d", rank, size);
    else
        return 0;
    return 1;
}

/* What is left. */
static int others(const struct step *s)
{
    const char *w = s->word[0];
    int a = s->number[0];
    if (is(w, "attributes"))
        attributes();
    else if (is(w, "say"))
        say("%s", s->text + 4);
    else if (is(w, "fence")) /* behind all that it has sent to that process's host */
        MPI_Send(NULL, 0, MPI_BYTE, a, 32767, MPI_COMM_WORLD);
    else if (is(w, "compute"))
        compute();
    else if (is(w, "abort"))
        MPI_Abort(MPI_COMM_WORLD, a);
    else if (is(w, "exit"))
        _exit(a);
    else
        return 0;
    return 1;
}

/* The step that a text says to this rank; NULL if it is for others. */
static const char *addressed(const char *text)
{
    int lo, hi;
    if (text[0] != '@')
        return text;
    const char *rest = strchr(text, ' ');
    int n = sscanf(text, "@%d-%d", &lo, &hi);
    if (n == 1)
        hi = lo;
    if (n < 1 || !rest)
        abort();
    return world_rank < lo || world_rank > hi ? NULL : rest + 1;
}

static void take(const char *text)
{
    struct step s = {.text = addressed(text)};
    if (!s.text)
        return;
    sscanf(s.text, "%255s %255s %255s %255s %255s %255s", s.word[0], s.word[1], s.word[2], s.word[3], s.word[4],
           s.word[5]);
    for (int i = 0; i < 4; i++)
        s.number[i] = atoi(s.word[1 + i]);
    if (!messages(&s) && !collectives(&s) && !communicators(&s) && !others(&s)) {
        char what[LINE];
        snprintf(what, sizeof what, "there is no step %.200s", s.text);
        fail(UNKNOWN, 4, what);
    }
}

/* Returns the text by which the tester sees whether lines arrive as they were sent. */
static void repeat(const char *line)
{
    char answer[LINE];
    const char *text = strchr(line + 5, ' ');
    if (!text)
        give_up("the tester must send a length and a text");
    snprintf(answer, sizeof answer, "text %d %.900s\n", (int)strlen(text + 1), text + 1);
    tell(answer);
}

static void ended(void)
{
    char line[LINE];
    snprintf(line, sizeof line, "done %d\n", level);
    tell(line);
    printf("[%d] %s: done, level %d\n", world_rank, case_name, level);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char line[LINE];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    signal(SIGPIPE, SIG_IGN);
    if (argc != 3)
        give_up("usage: player ADDRESS:PORT TOKEN");
    introduce(argv[1], argv[2]);
    for (int i = 0; i < SLOTS; i++)
        slot[i] = MPI_COMM_NULL;
    slot[0] = MPI_COMM_WORLD;
    use(MPI_COMM_WORLD);
    for (hear(line); strcmp(line, "exit") != 0; hear(line)) {
        if (!strncmp(line, "do ", 3))
            take(line + 3);
        else if (!strncmp(line, "begin ", 6)) {
            snprintf(case_name, sizeof case_name, "%s", line + 6);
            level = in_place = 0;
            use(MPI_COMM_WORLD);
        } else if (!strcmp(line, "end"))
            ended();
        else if (!strncmp(line, "text ", 5))
            repeat(line);
        else if (strcmp(line, "go") != 0) /* of a step compute that was for others */
            give_up("the tester says something that is not known");
    }
    MPI_Finalize();
    return 0;
}
