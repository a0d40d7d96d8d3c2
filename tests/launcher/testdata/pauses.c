/* Says "ready", then "stop" at SIGTSTP and "on" at SIGCONT, with which it ends. No signal is lost between looking and
 * waiting, as in a shell that traps them. */
#include <signal.h>
#include <stdio.h>

int main(void)
{
    sigset_t both;
    int signal = 0;
    sigemptyset(&both);
    sigaddset(&both, SIGTSTP);
    sigaddset(&both, SIGCONT);
    sigprocmask(SIG_BLOCK, &both, NULL);
    puts("ready");
    fflush(stdout);
    while (signal != SIGCONT) {
        if (sigwait(&both, &signal)) return 1;
        puts(signal == SIGCONT ? "on" : "stop");
        fflush(stdout);
    }
    return 0;
}
