/* couple ROLE DO [RANK]: two jobs that were started separately, whose ports travel through files of the working
 * directory.
 *
 * Roles: left accepts and right connects; job I N is one of a ring or a tree of N.
 * What they do: talk, names, join; or rank RANK of right dies: before it connects, between two talks, while it is in
 * MPI_Comm_disconnect. The other side lives, gets errors of class MPI_ERR_PROC_ABORTED, and meets another right.
 * Or rank 1 of right dies so many microseconds after its first connect: wherever it is then. */
#include "../../check.h"
#include "../../processes/family.h"
#include <fcntl.h>
#include <signal.h>
#include <sched.h>
#include <sys/time.h>
#include <sys/socket.h>
#include <sys/un.h>

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* A port's name goes to a file as a whole, and is taken from there when it is there. */
static void leave(const char *file, const char *port)
{
    char early[300];
    snprintf(early, sizeof early, "%s.early", file);
    FILE *f = fopen(early, "w");
    CHECK(f && fputs(port, f) >= 0 && fclose(f) == 0);
    CHECK_EQ(rename(early, file), 0);
}

static void find(const char *file, char *port)
{
    FILE *f;
    while (!(f = fopen(file, "r"))) sched_yield();
    CHECK(fgets(port, MPI_MAX_PORT_NAME, f));
    fclose(f);
}

static MPI_Comm accept_at(const char *file)
{
    static char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    if (check_rank == 0) {
        CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
        leave(file, port);
    }
    CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_SUCCESS);
    if (check_rank == 0) CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
    return inter;
}

static MPI_Comm connect_at(const char *file)
{
    static char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    if (check_rank == 0) find(file, port);
    CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_SUCCESS);
    return inter;
}

static MPI_Comm meet(int left, const char *file) { return left ? accept_at(file) : connect_at(file); }

/* Messages, a merged communicator, and again. */
static void talk(int left)
{
    for (int turn = 0; turn < 3; turn++) {
        char file[20];
        int sum = 0, one = 1, size, remote;
        MPI_Comm all;
        snprintf(file, sizeof file, "port%d", turn);
        MPI_Comm inter = meet(left, file);
        family_talk(inter, turn, 300000);
        CHECK_EQ(MPI_Intercomm_merge(inter, !left, &all), MPI_SUCCESS);
        MPI_Comm_size(all, &size);
        MPI_Comm_remote_size(inter, &remote);
        CHECK_EQ(size, check_size + remote);
        CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all), MPI_SUCCESS);
        CHECK_EQ(sum, size);
        if (turn < 2) {
            CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
            CHECK_EQ(MPI_Comm_disconnect(&all), MPI_SUCCESS);
        } /* the last ends with MPI_Finalize */
    }
}

static void names(int left)
{
    char port[MPI_MAX_PORT_NAME], service[] = "couple";
    MPI_Comm inter;
    if (left && check_rank == 0) {
        CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
        CHECK_EQ(MPI_Publish_name(service, MPI_INFO_NULL, port), MPI_SUCCESS);
        leave("published", port);
    } else if (check_rank == 0) {
        char said[MPI_MAX_PORT_NAME];
        find("published", said);
        CHECK_EQ(MPI_Lookup_name(service, MPI_INFO_NULL, port), MPI_SUCCESS);
        CHECK(is(port, said));
    }
    if (left) {
        CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_SUCCESS);
        if (check_rank == 0) CHECK_EQ(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_SUCCESS);
    } else {
        CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_SUCCESS);
    }
    family_talk(inter, 1, 1000);
    CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
}

/* Rank i of one job and rank i of the other join over a socket in a file. */
static void join(int left)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char ready[40], word[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    int s = socket(AF_UNIX, SOCK_STREAM, 0), fd = s;
    snprintf(at.sun_path, sizeof at.sun_path, "socket%d", check_rank);
    snprintf(ready, sizeof ready, "listening%d", check_rank);
    if (left) {
        CHECK_EQ(bind(s, (struct sockaddr *)&at, sizeof at), 0);
        CHECK_EQ(listen(s, 1), 0);
        leave(ready, "so it is");
        CHECK((fd = accept(s, NULL, NULL)) >= 0);
    } else {
        find(ready, word);
        CHECK_EQ(connect(s, (struct sockaddr *)&at, sizeof at), 0);
    }
    CHECK_EQ(MPI_Comm_join(fd, &inter), MPI_SUCCESS);
    family_talk(inter, 2, 100000);
    CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
}

/* A process of the other job is lost: whatever needs it says so. */
static void miss(MPI_Comm inter, int who)
{
    int x = 0, class_ = MPI_SUCCESS;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Recv(&x, 1, MPI_INT, who, 99, inter, MPI_STATUS_IGNORE), &class_);
    CHECK_SAY(class_ == MPI_ERR_PROC_ABORTED, "a receive from the lost process gives %s", check_class_name(class_));
    CHECK_CLASS(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 99, inter, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    CHECK_CLASS(MPI_Barrier(inter), MPI_ERR_PROC_ABORTED);
    CHECK_CLASS(MPI_Comm_disconnect(&inter), MPI_ERR_PROC_ABORTED);
    /* This job lives. */
    CHECK_EQ(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
}

static void deaths(int left, const char *how, int who)
{
    if (!left && is(how, "before") && check_rank == who) raise(SIGKILL);
    MPI_Comm inter = meet(left, "port");
    if (is(how, "later")) {
        family_talk(inter, 4, 200000);
        if (left) {
            miss(inter, who);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
            if (check_rank == who) raise(SIGKILL);
            MPI_Recv(&who, 1, MPI_INT, 0, 99, inter, MPI_STATUS_IGNORE);
        }
    } else if (is(how, "in-disconnect")) {
        if (left) {
            MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
            CHECK_CLASS(MPI_Comm_disconnect(&inter), MPI_ERR_PROC_ABORTED);
        } else {
            if (check_rank == who) raise(SIGKILL);
            MPI_Comm_disconnect(&inter);
        }
    }
    if (left) {
        inter = meet(left, "second"); /* another right */
        family_talk(inter, 6, 200000);
        CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
    }
}

enum { doomed, lasting, lost };

/* The job that lives: it accepts whoever comes, whatever becomes of them, until one comes that lasts. */
static void outlive(void)
{
    static char port[MPI_MAX_PORT_NAME];
    int kind = doomed;
    if (check_rank == 0) {
        CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
        leave("port", port);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (kind != lasting) {
        MPI_Comm inter, all;
        int x = 0;
        if (MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) != MPI_SUCCESS) continue;
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        if (check_rank == 0 && MPI_Recv(&kind, 1, MPI_INT, 0, 7, inter, MPI_STATUS_IGNORE) != MPI_SUCCESS) kind = lost;
        CHECK_EQ(MPI_Bcast(&kind, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        if (kind == lasting) {
            family_talk(inter, 6, 200000);
            CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
            break;
        }
        if (MPI_Intercomm_merge(inter, 0, &all) == MPI_SUCCESS) {
            MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
            MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, all);
            MPI_Comm_disconnect(&all);
        }
        MPI_Comm_disconnect(&inter);
        CHECK_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
    }
    if (check_rank == 0) CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
}

/* The other: it comes again and again until its rank 1 is dead, or comes once and stays to the end. */
static void come(int kind, int us)
{
    struct itimerval death = {.it_value = {us / 1000000, us % 1000000}};
    if (kind == doomed && check_rank == 1) CHECK_EQ(setitimer(ITIMER_REAL, &death, NULL), 0);
    do {
        MPI_Comm inter = connect_at("port"), all;
        int x = 0;
        if (check_rank == 0) MPI_Send(&kind, 1, MPI_INT, 0, 7, inter);
        if (kind == lasting) {
            family_talk(inter, 6, 200000);
        } else {
            MPI_Intercomm_merge(inter, 1, &all);
            MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, all);
            MPI_Comm_disconnect(&all);
        }
        MPI_Comm_disconnect(&inter);
    } while (kind == doomed);
}

/* Each job of a ring connects with the next and accepts the one before; in a tree, with its parent and its children. */
static void many(int tree, int i, int n)
{
    MPI_Comm inter[4];
    int m = 0;
    char file[40];
    for (int j = 0; j < n; j++) /* the links in an order that all have */
        for (int k = j + 1; k < n; k++) {
            if (tree ? (k - 1) / 2 != j : k != j + 1 && !(j == 0 && k == n - 1)) continue;
            if (i != j && i != k) continue;
            snprintf(file, sizeof file, "link%d-%d", j, k);
            inter[m++] = meet(i == j, file);
        }
    for (int l = 0; l < m; l++) family_talk(inter[l], 3, 50000);
    for (int l = 0; l < m; l++) CHECK_EQ(MPI_Comm_disconnect(&inter[l]), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (argc < 3) return 99;
    int left = is(argv[1], "left"), who = argc > 3 ? atoi(argv[3]) : 0;
    if (is(argv[1], "ring") || is(argv[1], "tree")) many(is(argv[1], "tree"), atoi(argv[2]), who);
    else if (is(argv[2], "talk")) talk(left);
    else if (is(argv[2], "names")) names(left);
    else if (is(argv[2], "join")) join(left);
    else if (is(argv[2], "outlive")) outlive();
    else if (is(argv[2], "doomed")) come(doomed, who);
    else if (is(argv[2], "lasting")) come(lasting, 0);
    else if (is(argv[2], "second")) {
        MPI_Comm inter = meet(0, "second");
        family_talk(inter, 6, 200000);
        MPI_Comm_disconnect(&inter);
    } else deaths(left, argv[2], who);
    return check_end();
}
