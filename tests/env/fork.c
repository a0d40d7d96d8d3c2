/* fork(), vfork(), posix_spawn(), system() and popen() in a rank, while another thread of it communicates: children end
 * as they like, inherit nothing of MPI's, and are told so if they call it. */
/* ranks: 1 2 4 */
#include "../check.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { LARGE = 300000, LIMIT = 20 /* seconds until a child that hangs is killed */ };
static MPI_Comm busy;
static int stop;

/* Goes on and on: a ring of short and long messages, until all ranks want to stop. */
static void *communicate(void *unused)
{
    (void)unused;
    unsigned char *out = malloc(LARGE), *in = malloc(LARGE);
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    for (int i = 0;; i++) {
        int n = i % 8 == 7 ? LARGE : i % 500, mine = __atomic_load_n(&stop, __ATOMIC_ACQUIRE), all = 0;
        check_fill(out, (size_t)n, (uint64_t)(check_rank * 1000 + i % 1000));
        MPI_Sendrecv(out, n, MPI_BYTE, next, 0, in, n, MPI_BYTE, previous, 0, busy, MPI_STATUS_IGNORE);
        CHECK_EQ(check_differs(in, (size_t)n, (uint64_t)(previous * 1000 + i % 1000)), -1);
        if (i % 16 == 15) MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, busy);
        if (all) break;
    }
    free(out);
    free(in);
    return NULL;
}

static int ended(pid_t pid)
{
    int status = -1;
    CHECK(pid > 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    return status;
}

static void at_exit_of_child(void)
{
    int flag = 0;
    if (MPI_Finalized(&flag) != MPI_SUCCESS || !flag) _exit(99); /* it would finalize */
}

static void exits(void)
{
    pid_t pid = fork();
    if (pid == 0) _exit(3);
    int status = ended(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    fflush(NULL);
    if ((pid = fork()) == 0) {
        alarm(LIMIT);
        atexit(at_exit_of_child);
        exit(4); /* with the destructors of all libraries */
    }
    status = ended(pid);
    CHECK_SAY(WIFEXITED(status) && WEXITSTATUS(status) == 4, "exit in a child: status %#x", (unsigned)status);
    if ((pid = fork()) == 0) {
        alarm(LIMIT);
        raise(SIGTERM);
        _exit(1);
    }
    status = ended(pid);
    CHECK_SAY(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "SIGTERM in a child: status %#x", (unsigned)status);
}

/* A child that calls MPI gets an error each time, and one line on stderr. */
static void calls(void)
{
    char text[1000];
    int line[2], word = 0, flag;
    ssize_t n = 0, got;
    MPI_Request r = MPI_REQUEST_NULL;
    CHECK_EQ(pipe(line), 0);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(LIMIT);
        dup2(line[1], STDERR_FILENO);
        close(line[0]);
        close(line[1]);
        if (MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD) != MPI_ERR_OTHER) _exit(1);
        if (MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_ERR_OTHER) _exit(2);
        if (MPI_Isend(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r) != MPI_ERR_OTHER) _exit(3);
        if (MPI_Irecv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r) != MPI_ERR_OTHER) _exit(4);
        if (MPI_Barrier(MPI_COMM_WORLD) != MPI_ERR_OTHER) _exit(5);
        if (MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE) != MPI_ERR_OTHER) _exit(6);
        if (MPI_Init(NULL, NULL) != MPI_ERR_OTHER) _exit(7);
        if (MPI_Finalize() != MPI_ERR_OTHER) _exit(8);
        if (MPI_Initialized(&flag) != MPI_SUCCESS || !flag) _exit(9);
        if (MPI_Finalized(&flag) != MPI_SUCCESS || !flag) _exit(10);
        if (MPI_Wtime() <= 0) _exit(11);
        MPI_Abort(MPI_COMM_WORLD, 5); /* ends the child, and nobody else */
        _exit(12);
    }
    close(line[1]);
    while ((got = read(line[0], text + n, sizeof text - 1 - (size_t)n)) > 0) n += got;
    text[n] = 0;
    close(line[0]);
    int status = ended(pid);
    CHECK_SAY(WIFEXITED(status) && WEXITSTATUS(status) == 1, "calls in a child: status %#x", (unsigned)status);
    CHECK_SAY(strstr(text, "MPI_Send") && strstr(text, "fork()"), "the child was told: %s", text);
    CHECK_SAY(strchr(text, '\n') == text + n - 1, "the child was told more than a line: %s", text);
}

/* The ways in which programs start others. */
static void commands(void)
{
    int status = system("exit 5");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);

    char text[100] = "";
    FILE *f = popen("echo good; exit 6", "r");
    CHECK(f && fgets(text, sizeof text, f));
    CHECK_EQ(strcmp(text, "good\n"), 0);
    status = pclose(f);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 6);

    pid_t pid;
    char *argv[] = {"sh", "-c", "exit 7", NULL};
    CHECK_EQ(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ), 0);
    status = ended(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);

    pid = vfork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "exit 8", (char *)NULL);
        _exit(1);
    }
    status = ended(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 8);

    /* As Python's subprocess does it: a session of its own, all descriptors closed, output through pipes. */
    int out[2];
    CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
    if ((pid = fork()) == 0) {
        dup2(out[1], STDOUT_FILENO);
        for (int fd = 3; fd < 1024; fd++) close(fd);
        setsid();
        execl("/bin/sh", "sh", "-c", "echo better; exit 9", (char *)NULL);
        _exit(1);
    }
    close(out[1]);
    f = fdopen(out[0], "r");
    CHECK(f && fgets(text, sizeof text, f));
    CHECK_EQ(strcmp(text, "better\n"), 0);
    fclose(f);
    status = ended(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

/* No socket and no memory of the job goes to a program that is executed. */
static void descriptors(void)
{
    char path[300], to[300];
    DIR *d = opendir("/proc/self/fd");
    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        int fd = atoi(e->d_name), flags = fcntl(fd, F_GETFD);
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        ssize_t n = readlink(path, to, sizeof to - 1);
        if (fd <= 2 || n < 0 || flags < 0 || flags & FD_CLOEXEC) continue;
        to[n] = 0;
        CHECK_SAY(strncmp(to, "socket:", 7) && !strstr(to, "memfd:") && strncmp(to, "anon_inode:", 11),
                  "descriptor %d would be inherited: %s", fd, to);
    }
    closedir(d);
}

int main(int argc, char **argv)
{
    int provided, held[2];
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &busy);
    descriptors();
    CHECK_EQ(pthread_create(&thread, NULL, communicate, NULL), 0);

    /* One child stays through all of it, until its parent lets go. */
    CHECK_EQ(pipe2(held, O_CLOEXEC), 0);
    pid_t stays = fork();
    if (stays == 0) {
        char c;
        close(held[1]);
        _exit(read(held[0], &c, 1) == 0 ? 0 : 1);
    }
    for (int i = 0; i < 3; i++) {
        exits();
        calls();
        commands();
    }
    descriptors();
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    close(held[0]);
    close(held[1]);
    CHECK_EQ(ended(stays), 0);
    MPI_Comm_free(&busy);
    return check_end();
}
