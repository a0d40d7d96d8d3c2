/* Signals are the program's: MPI_Init, calls and MPI_Finalize leave handlers, masks and alternate stacks as they are,
 * whether they were set before MPI_Init or after; handlers run, on the program's alternate stack if they want it, while
 * the thread is inside MPI, on all threads; a profiler's timer may tick, and faults may be caught and repaired, as
 * runtimes of languages do it. The Go runtime looks at faults first, as long as the program does not, and passes on
 * what is not its own: of these it counts that the program's handlers do their work. */
/* ranks: 1 2 */
/* clients: none */
#include "../check.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK = 64 << 10,
       PAGE = 4096,
       LONG = 300000 };

static const int ours[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGUSR1, SIGUSR2, SIGPROF, SIGALRM,
                           SIGVTALRM, SIGCHLD, SIGPIPE, SIGURG, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH, SIGIO};
enum { OURS = sizeof ours / sizeof *ours };

static volatile sig_atomic_t ticks, faults, pokes, off_stack;
static char *guarded;
static __thread char *stack_of_thread;

/* Only a signal to the whole process may come to a thread of the library's, which has a stack for it. */
static void on_stack(void)
{
    char here;
    if (!stack_of_thread) return;
    if (&here < stack_of_thread || &here >= stack_of_thread + STACK) off_stack = 1;
}

static void tick(int s, siginfo_t *info, void *context)
{
    (void)s, (void)info, (void)context;
    on_stack();
    __atomic_add_fetch(&ticks, 1, __ATOMIC_RELAXED);
}

static void poke(int s, siginfo_t *info, void *context)
{
    (void)s, (void)info, (void)context;
    on_stack();
    __atomic_add_fetch(&pokes, 1, __ATOMIC_RELAXED);
}

/* A barrier of a garbage collector, as some runtimes have it: the page becomes accessible, and the access is tried
 * again. */
static void fault(int s, siginfo_t *info, void *context)
{
    (void)s, (void)context;
    on_stack();
    if ((char *)info->si_addr < guarded || (char *)info->si_addr >= guarded + PAGE) _exit(77);
    mprotect(guarded, PAGE, PROT_READ | PROT_WRITE);
    __atomic_add_fetch(&faults, 1, __ATOMIC_RELAXED);
}

static void set(int s, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&a.sa_mask);
    CHECK_EQ(sigaction(s, &a, NULL), 0);
}

static void alternate_stack(void)
{
    stack_of_thread = malloc(STACK);
    stack_t s = {.ss_sp = stack_of_thread, .ss_size = STACK};
    CHECK_EQ(sigaltstack(&s, NULL), 0);
}

struct state {
    struct sigaction actions[OURS];
    sigset_t mask;
    stack_t stack;
};

static void look(struct state *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < OURS; i++) CHECK_EQ(sigaction(ours[i], NULL, &s->actions[i]), 0);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &s->mask), 0);
    CHECK_EQ(sigaltstack(NULL, &s->stack), 0);
}

/* SIGSEGV, SIGBUS, SIGFPE and SIGPIPE may have got a handler of the Go runtime's, which starts when it wants, but for
 * what the program has set since. */
static int may_be_of_go(int s) { return s == SIGSEGV || s == SIGBUS || s == SIGFPE || s == SIGPIPE; }

static void same(const struct state *was, const char *when, int but_go)
{
    struct state is;
    look(&is);
    for (int i = 0; i < OURS; i++) {
        if (but_go && may_be_of_go(ours[i])) continue;
        const struct sigaction *a = &was->actions[i], *b = &is.actions[i];
        CHECK_SAY(a->sa_sigaction == b->sa_sigaction, "%s: signal %d has another handler", when, ours[i]);
        CHECK_SAY(a->sa_flags == b->sa_flags, "%s: signal %d has the flags %#x, and had %#x", when, ours[i],
                  (unsigned)b->sa_flags, (unsigned)a->sa_flags);
    }
    CHECK_SAY(memcmp(&was->mask, &is.mask, 8) == 0, "%s: another mask", when);
    CHECK_SAY(was->stack.ss_sp == is.stack.ss_sp && was->stack.ss_size == is.stack.ss_size, "%s: another stack", when);
}

/* Messages in C and in Go, short and long, with a fault now and then in between, until somebody has seen enough. */
static void *communicate(void *comm)
{
    MPI_Comm c = *(MPI_Comm *)comm;
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, enough = 0;
    char *out = calloc(1, LONG), *in = malloc(LONG);
    if (!stack_of_thread) alternate_stack();
    for (int i = 0; !enough; i++) {
        int n = i % 4 ? 8 : LONG, mine;
        out[0] = (char)i;
        MPI_Sendrecv(out, n, MPI_CHAR, to, 0, in, n, MPI_CHAR, from, 0, c, MPI_STATUS_IGNORE);
        CHECK_EQ(in[0], (char)i);
        pthread_kill(pthread_self(), SIGUSR1);
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_free(&info);
        mine = ticks > 20 && i > 200;
        MPI_Allreduce(&mine, &enough, 1, MPI_INT, MPI_MIN, c);
    }
    free(in);
    free(out);
    return NULL;
}

/* SIGPIPE was ignored from the start, and is. */
static void writing(void)
{
    int line[2];
    CHECK_EQ(pipe(line), 0);
    close(line[0]);
    CHECK_EQ(write(line[1], "x", 1), -1);
    CHECK_EQ(errno, EPIPE);
    close(line[1]);
}

static void faulting(void)
{
    for (int i = 0; i < 20; i++) {
        int in = -1;
        CHECK_EQ(mprotect(guarded, PAGE, PROT_NONE), 0);
        guarded[100] = (char)i; /* its own */
        CHECK_EQ(guarded[100], (char)i);
        MPI_Sendrecv(&i, 1, MPI_INT, check_rank, 1, &in, 1, MPI_INT, check_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(in, i);
    }
    CHECK_EQ(faults, 20);
}

int main(int argc, char **argv)
{
    struct state was;
    int provided;
    alternate_stack();
    set(SIGSEGV, fault);
    set(SIGUSR1, poke);
    signal(SIGPIPE, SIG_IGN);
    sigset_t block;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR2);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &block, NULL), 0);
    look(&was);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    same(&was, "after MPI_Init", 1);

    guarded = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(guarded != MAP_FAILED);
    set(SIGPROF, tick); /* after MPI_Init */
    look(&was);
    faulting();
    writing();

    struct itimerval each = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}};
    MPI_Comm comm[2];
    pthread_t thread;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    CHECK_EQ(setitimer(ITIMER_PROF, &each, NULL), 0);
    CHECK_EQ(pthread_create(&thread, NULL, communicate, &comm[1]), 0);
    communicate(&comm[0]);
    pthread_join(thread, NULL);
    CHECK_EQ(setitimer(ITIMER_PROF, &none, NULL), 0);
    CHECK(pokes > 200);
    CHECK_SAY(!off_stack, "a handler has run on another stack than the alternate one of its thread");
    same(&was, "after messages", 0);
    MPI_Comm_free(&comm[0]);
    MPI_Comm_free(&comm[1]);
    MPI_Finalize();
    same(&was, "after MPI_Finalize", 0);
    return 0;
}
