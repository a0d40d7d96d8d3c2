/* A program that is not linked with MPI loads it at run time, privately, as Python and Julia do. By then it has
 * handlers of signals: for faults that its garbage collector causes to stop threads, as Julia's does, and for a
 * profiler. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096,
       STACK = 64 << 10,
       ROUNDS = 200,
       THREADS = 3 };

static char *safepoint;
static int faults, ticks, stop;

/* The collector has closed the page: who looks at it waits here until the collector is done. */
static void fault(int s, siginfo_t *info, void *context)
{
    (void)s, (void)context;
    if ((char *)info->si_addr < safepoint || (char *)info->si_addr >= safepoint + PAGE) _exit(77);
    mprotect(safepoint, PAGE, PROT_READ); /* first: who opens the page for a second time tells the next round */
    __atomic_add_fetch(&faults, 1, __ATOMIC_SEQ_CST);
}

static void tick(int s) { (void)s, __atomic_add_fetch(&ticks, 1, __ATOMIC_SEQ_CST); }

static void alternate_stack(void)
{
    stack_t s = {.ss_sp = malloc(STACK), .ss_size = STACK};
    if (!s.ss_sp || sigaltstack(&s, NULL)) exit(3);
}

static void *worker(void *unused)
{
    alternate_stack();
    while (!__atomic_load_n(&stop, __ATOMIC_SEQ_CST)) {
        (void)*(volatile char *)safepoint;
        pthread_kill(pthread_self(), SIGUSR2);
    }
    return unused;
}

static void handlers(void)
{
    struct sigaction a = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    alternate_stack();
    sigaction(SIGSEGV, &a, NULL);
    a.sa_flags = SA_ONSTACK | SA_RESTART;
    a.sa_handler = tick;
    sigaction(SIGUSR2, &a, NULL);
    safepoint = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (safepoint == MAP_FAILED) exit(3);
}

/* Stops all threads now and then. */
static int collect(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        int before = __atomic_load_n(&faults, __ATOMIC_SEQ_CST);
        mprotect(safepoint, PAGE, PROT_NONE);
        while (__atomic_load_n(&faults, __ATOMIC_SEQ_CST) == before) (void)*(volatile char *)safepoint;
    }
    return faults >= ROUNDS;
}

int main(int argc, char **argv)
{
    pthread_t workers[THREADS];
    handlers();
    for (int i = 0; i < THREADS; i++) pthread_create(&workers[i], NULL, worker, NULL);
    if (!collect()) {
        fprintf(stderr, "faults are not caught before MPI is there\n");
        return 1;
    }
    void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!lib) {
        fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: dlopen LIBRARY");
        return 1;
    }
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(lib, "MPI_Init");
    int (*version)(int *, int *) = (int (*)(int *, int *))dlsym(lib, "MPI_Abi_get_version");
    int (*finalize)(void) = (int (*)(void))dlsym(lib, "MPI_Finalize");
    if (!init || !version || !finalize) {
        fprintf(stderr, "symbols are missing\n");
        return 1;
    }
    int major = 0, minor = 0;
    if (!collect() || init(NULL, NULL) || !collect() || version(&major, &minor) || finalize() || !collect()) return 1;
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i], NULL);
    if (dlclose(lib) || ticks == 0) return 1; /* -z nodelete: stays, and must not hurt */
    printf("abi %d.%d\n", major, minor);
    return 0;
}
