/* deaths.c - who dies in a round, when and how: by itself before a step or some time after that has begun, or by the
 * hand of another; and who is stopped for a while, which nobody may notice.
 */
#define _GNU_SOURCE
#include "survive.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

typedef struct {
    int victim, by;  /* ids */
    int when;        /* a step, or AT_...  */
    int after;       /* microseconds after it has begun; 0: before it */
    enum { KILLED, EXITS, STOPPED } how;
} Death;

static Death deaths[2 * MOST_RANKS];
static int n;
static int pids[MOST_RANKS];

void meet_mortals(void)
{
    int own = (int)getpid();
    if (MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS)
        for (int i = 0; i < MOST_RANKS; i++) pids[i] = 0;
}

static Death random_death(Random *r, int victim)
{
    const Where *all = &p.where[0];
    int moments[] = {AT_REVOKE, AT_AGREE, AT_AGREE, AT_SHRINK, AT_SHRINK, AT_END};
    Death d = {.victim = victim, .by = victim, .when = below(r, STEPS)};
    if (below(r, 3) == 0) d.when = moments[below(r, 6)];
    if (below(r, 3) != 0) d.after = 1 + below(r, 1 << (3 + below(r, 12))); /* up to 8 us ... 16 ms */
    if (below(r, 4) == 0) d.by = all->id[below(r, all->size)];
    if (d.by == victim && below(r, 5) == 0) d.how = EXITS;
    return d;
}

void plan_deaths(void)
{
    const Where *all = &p.where[0];
    Random r = seeded(p.seed, (uint64_t)p.round, 1);
    int some = below(&r, 10), victims = some < 2 || !p.suicidal ? 0 : some < 8 ? 1 : 1 + below(&r, all->size);
    n = 0;
    for (int i = 0; i < victims; i++) {
        int id = all->id[below(&r, all->size)];
        if (!(p.suicidal >> id & 1)) continue;
        deaths[n++] = random_death(&r, id);
    }
    if (below(&r, 3) == 0) { /* whoever stops another must be there to wake it */
        Death d = {.when = below(&r, STEPS), .after = 1 + below(&r, 3000), .how = STOPPED};
        d.victim = all->id[below(&r, all->size)];
        d.by = all->id[below(&r, all->size)];
        if (d.victim != d.by && !(p.mortal >> d.by & 1)) deaths[n++] = d;
    }
}

static void die(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void meet(const Death *d)
{
    int other = d->by != d->victim, pid = pids[d->victim];
    if (other && pid == 0) return;
    note("death of %d by %d at %d after %d us, %d", d->victim, d->by, d->when, d->after, d->how);
    if (d->how == STOPPED) {
        kill(pid, SIGSTOP);
        usleep((useconds_t)d->after);
        kill(pid, SIGCONT);
    } else if (other) {
        kill(pid, SIGKILL);
    } else if (d->after == 0) {
        if (d->how == EXITS) _exit(3);
        die(0);
    } else {
        struct itimerval timer = {.it_value = {0, d->after}};
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
}

void die_if_due(int when)
{
    for (int i = 0; i < n; i++)
        if (deaths[i].by == p.id && deaths[i].when == when) meet(&deaths[i]);
}
