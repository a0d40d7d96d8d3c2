/* signalled N...: says "ready", then "got N" at each of these signals, and ends with the last one. No signal is lost
 * between looking and waiting, as in a shell that traps them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    sigset_t all;
    int got = 0, last = argc > 1 ? atoi(argv[argc - 1]) : 0;
    sigemptyset(&all);
    for (int i = 1; i < argc; i++) sigaddset(&all, atoi(argv[i]));
    sigprocmask(SIG_BLOCK, &all, NULL);
    puts("ready");
    fflush(stdout);
    while (got != last) {
        if (sigwait(&all, &got)) return 1;
        printf("got %d\n", got);
        fflush(stdout);
    }
    return 0;
}
