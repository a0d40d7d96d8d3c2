/* inject.c - runs a random program whose ranks die (survive.h).
 *
 *   mpiexec -with-ft ulfm -n N inject SEED ROUNDS FOLDER SCRATCH [MORTAL [SIDE SUICIDAL]]
 *
 * MORTAL is a mask of the ranks that may die: if it is not given, some that the seed chooses, none at times. With "-"
 * as ROUNDS nobody here kills anybody; the rounds go on until all mortals are gone, whom somebody else kills. Each
 * rank writes to FOLDER/RANK what it does, and what all survivors have to see alike in lines that begin with "=". Each
 * step has a line before it, so that none of its calls takes longer than the longest time between two lines, which
 * stands at the end.
 *
 * SIDE is a mask of the ranks on one side of a network that somebody will cut: with "-" the rounds go on until the
 * ranks of one side alone are left. SUICIDAL is a mask of the mortals that may also be killed by each other.
 */
#define _GNU_SOURCE
#include "survive.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

Program p;
static int file;
static MPI_Group world;
static struct {
    double took;        /* seconds */
    char after[100];    /* the line before */
} longest;

/* Compares the time since the last line with the longest; this is the next one. */
static void measure(const char *text)
{
    static double last;
    static char before[sizeof longest.after];
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double now = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
    if (last > 0 && now - last > longest.took) {
        longest.took = now - last;
        memcpy(longest.after, before, sizeof before);
    }
    last = now;
    snprintf(before, sizeof before, "%.*s", (int)sizeof before - 1, text);
}

/* For how long this process was ready to run, and another one had the CPU: in seconds. */
static double starved(void)
{
    unsigned long long ran, waited = 0;
    FILE *f = fopen("/proc/self/schedstat", "r");
    if (!f) return 0;
    if (fscanf(f, "%llu %llu", &ran, &waited) != 2) waited = 0;
    fclose(f);
    return (double)waited / 1e9;
}

static void line(const char *kind, const char *format, va_list arguments)
{
    char text[1024];
    int n = snprintf(text, sizeof text, "%s", kind);
    n += vsnprintf(text + n, sizeof text - (size_t)n - 1, format, arguments);
    measure(text);
    text[n++] = '\n';
    if (write(file, text, (size_t)n) != n) _exit(98);
}

void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char kind[32];
    snprintf(kind, sizeof kind, "%d.%d ", p.round, p.step);
    line(kind, format, arguments);
    va_end(arguments);
}

/* What all survivors have to see alike: where the first word is the same, the rest is. */
static void alike(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    line("= ", format, arguments);
    va_end(arguments);
}

int wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    line("WRONG ", format, arguments);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 66);
    return -1;
}

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

int check_code(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n, class = class_of(code);
    if (class == MPI_SUCCESS) return class;
    MPI_Error_string(code, text, &n);
    note("error: %s", text);
    if (!p.mortal) wrong("nobody has died, and yet: %s", text);
    if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_PROC_FAILED_PENDING && class != MPIX_ERR_REVOKED)
        wrong("class %d after a loss: %s", class, text);
    return class;
}

static int raised(int n, const MPI_Status *status, int code)
{
    int first = MPI_SUCCESS;
    if (class_of(code) != MPI_ERR_IN_STATUS) return code;
    for (int i = 0; i < n && first == MPI_SUCCESS; i++)
        if (class_of(status[i].MPI_ERROR) != MPI_ERR_PENDING) first = status[i].MPI_ERROR;
    return first == MPI_SUCCESS ? code : first;
}

/* Requests belong to memory that is about to be used for something else. */
int finish(const Where *w, int n, MPI_Request *request)
{
    MPI_Status status[n + 1];
    memset(status, 0, sizeof status);
    int code = raised(n, status, MPI_Waitall(n, request, status));
    if (code == MPI_SUCCESS) return code;
    check_code(code);
    MPIX_Comm_revoke(w->comm);
    MPI_Waitall(n, request, status);
    for (int i = 0; i < n; i++)
        if (request[i] != MPI_REQUEST_NULL) MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    return code;
}

int completed(const Where *w, int code, MPI_Request *request)
{
    return code == MPI_SUCCESS ? finish(w, 1, request) : code;
}

void give_up(void)
{
    die_if_due(AT_REVOKE);
    give_up_file();
    for (int i = p.n - 1; i >= 0; i--) {
        int flag = 0;
        if (p.where[i].comm == MPI_COMM_NULL) continue;
        MPIX_Comm_revoke(p.where[i].comm);
        MPIX_Comm_is_revoked(p.where[i].comm, &flag);
        if (!flag) wrong("communicator %d is not revoked", i);
    }
}

void enter(Where *w, MPI_Comm comm)
{
    MPI_Group group;
    int ranks[MOST_RANKS];
    *w = (Where){.comm = comm};
    if (comm == MPI_COMM_NULL) return;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &w->rank);
    MPI_Comm_size(comm, &w->size);
    for (int i = 0; i < w->size; i++) ranks[i] = i;
    MPI_Comm_group(comm, &group);
    MPI_Group_translate_ranks(group, w->size, ranks, world, w->id);
    MPI_Group_free(&group);
    if (w->id[w->rank] != p.id) wrong("rank %d of a new communicator is %d, not me", w->rank, w->id[w->rank]);
}

static int members(const Where *w)
{
    int mask = 0;
    for (int i = 0; i < w->size; i++) mask |= 1 << w->id[i];
    return mask;
}

/* Who of a communicator is known to have failed. */
static int failed(const Where *w)
{
    MPI_Group group;
    int n, mask = 0;
    MPIX_Comm_get_failed(w->comm, &group);
    MPI_Group_size(group, &n);
    for (int i = 0; i < n; i++) {
        int id;
        MPI_Group_translate_ranks(group, 1, &i, world, &id);
        mask |= 1 << id;
    }
    MPI_Group_free(&group);
    if (mask & ~(int)p.mortal) wrong("%x are said to have failed, of whom only %x may", mask, p.mortal);
    return mask;
}

/* A few bits of everybody's, so that the flag of an agreement shows whose are in it. */
static int contribution(const Where *w, int id)
{
    Random r = seeded(p.seed, (uint64_t)(p.round * 100 + w->agreements), 1000 + (uint64_t)id);
    return (int)((draw(&r) | draw(&r)) & 0x7ffffffe);
}

/* What all members say together, without some. */
static int contributions(const Where *w, int without)
{
    int flag = 0x7ffffffe;
    for (int i = 0; i < w->size; i++)
        if (!(without >> w->id[i] & 1)) flag &= contribution(w, w->id[i]);
    return flag;
}

static int run_agreement(const Where *w, int *flag)
{
    Random r = seeded(p.seed, (uint64_t)(p.round * 100 + w->agreements), 3);
    MPI_Request request;
    if (below(&r, 3) != 0) return MPIX_Comm_agree(w->comm, flag);
    int code = MPIX_Comm_iagree(w->comm, flag, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

int agree(Where *w, int ok)
{
    int every = contributions(w, 0), safe = contributions(w, (int)p.mortal);
    int flag = contribution(w, p.id) | (ok != 0);
    note("agree %d on %x", ok, members(w));
    die_if_due(AT_AGREE);
    int class = check_code(run_agreement(w, &flag));
    if (class == MPIX_ERR_REVOKED) wrong("an agreement is revoked");
    alike("agree-%d-%d-%x-%d %x %d", p.round, (int)(w - p.where), members(w), w->agreements, flag, class);
    if (flag & 0x7ffffffe & ~safe) wrong("the flag %x has not what survivors say: %x", flag, safe);
    if (every & ~flag) wrong("the flag %x lacks what all say: %x", flag, every);
    int without = failed(w);
    if (class == MPI_SUCCESS && flag & 0x7ffffffe & ~contributions(w, without))
        wrong("the flag %x has not what all but %x say, and no loss is new", flag, without);
    if (class != MPI_SUCCESS && !without) wrong("an agreement without a loss has class %d", class);
    w->agreements++;
    return class == MPI_SUCCESS && flag & 1;
}

static MPI_Comm shrunk(const Where *w)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int known = failed(w), code;
    Random r = seeded(p.seed, (uint64_t)p.round, 4);
    note("shrink of %x without %x", members(w), known);
    die_if_due(AT_SHRINK);
#ifdef IMPI_CLIENT_COLOR
    MPI_Request request;
    if (below(&r, 3) == 0) {
        code = MPIX_Comm_ishrink(w->comm, &comm, &request);
        if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else
#endif
        code = MPIX_Comm_shrink(w->comm, &comm);
    (void)r;
    if (code != MPI_SUCCESS) {
        check_code(code);
        wrong("shrink has failed");
    }
    Where after;
    enter(&after, comm);
    alike("shrink-%d-%d-%x %x", p.round, (int)(w - p.where), members(w), members(&after));
    if (members(&after) & ~members(w)) wrong("%x have come out of %x", members(&after), members(w));
    if (members(&after) & known) wrong("%x are in it, of whom %x had failed", members(&after), known);
    if (members(w) & ~(int)p.mortal & ~members(&after)) wrong("%x is without some that live", members(&after));
    return comm;
}

/* All communicators but the first go; after an error the others tell in agreements of their own who is left. */
static void leave_others(int good)
{
    leave_window(good);
    leave_file(good);
    for (int i = p.n - 1; i > 0; i--) {
        Where *w = &p.where[i];
        p.tag++;
        if (w->comm == MPI_COMM_NULL) continue;
        if (!good && i == 1) {
            MPI_Comm comm = shrunk(w);
            MPI_Comm_free(&comm);
        } else if (!good) {
            agree(w, 0);
        }
        MPI_Comm_free(&w->comm);
    }
    p.n = 1;
}

static int one_of(const Named *list, Random *r)
{
    int count = 0;
    while (list[count].name) count++;
    const Named *s = &list[below(r, count)];
    const Where *w = &p.where[list == files ? 0 : below(r, p.n)];
    if (w->comm == MPI_COMM_NULL) return MPI_SUCCESS;
    note("%s on %x", s->name, members(w));
    int code = s->run(w, r);
    release();
    return code;
}

/* Some accesses, since to open it takes longer. */
static int use_file(Random *r)
{
    int code = MPI_SUCCESS;
    for (int i = below(r, 4); i >= 0 && code == MPI_SUCCESS; i--, p.tag++) code = one_of(files, r);
    return code;
}

/* Returns whether all steps are done; the round is over, and was not good, if agreed is 1. */
static int run_steps(int *agreed)
{
    for (p.step = 0; p.step < STEPS; p.step++) {
        Random r = seeded(p.seed, (uint64_t)p.round, 100 + (uint64_t)p.step);
        int kind = below(&r, 12), code;
        p.tag++;
        die_if_due(p.step);
        int creates = kind == 0 && below(&r, 8) == 0 ? spawn_one(&r) : kind == 0 ? make_communicator(&r) : 1;
        if (!creates || (kind == 1 && !have_window()) || (kind == 2 && !have_file())) {
            *agreed = 1;
            return 0;
        }
        if (kind == 0) continue;
        if (kind < 3) code = kind == 1 ? use_window(&r) : use_file(&r);
        else code = one_of(kind < 6 ? messages : collectives, &r);
        if (code == MPI_SUCCESS) continue;
        check_code(code);
        return 0;
    }
    return 1;
}

static void run_round(void)
{
    int agreed = 0;
    plan_deaths();
    int ok = run_steps(&agreed);
    if (!ok) give_up();
    p.step = STEPS;
    p.tag = (p.round + 1) * 100; /* some have skipped steps */
    int good = !agreed && agree(&p.where[0], ok);
    leave_others(good);
    if (!good) {
        MPI_Comm comm = shrunk(&p.where[0]), old = p.where[0].comm;
        enter(&p.where[0], comm);
        if (old != MPI_COMM_WORLD) MPI_Comm_free(&old);
    }
    die_if_due(AT_END);
}

static void start(char **argv, int given)
{
    char path[4096];
    MPI_Comm_rank(MPI_COMM_WORLD, &p.id);
    MPI_Comm_size(MPI_COMM_WORLD, &p.ids);
    snprintf(path, sizeof path, "%s/%d", argv[3], p.id);
    p.scratch = argv[4];
    file = open(path, O_CREAT | O_WRONLY | O_APPEND, 0666);
    note("started by %d", (int)getppid());
    p.seed = strtoull(argv[1], NULL, 10);
    Random r = seeded(p.seed, 0, 2);
    p.mortal = 0;
    for (int i = 0; i < p.ids; i++) p.mortal |= (unsigned)(below(&r, 4) != 0) << i;
    p.mortal &= ~(1u << below(&r, p.ids));
    if (below(&r, 10) == 0) p.mortal = 0;
    if (given > 0) p.mortal = (unsigned)strtoul(argv[5], NULL, 0);
    p.strangers = !strcmp(argv[2], "-");
    p.side = ~p.mortal;
    p.suicidal = p.strangers ? 0 : p.mortal;
    if (given > 2) p.side = (unsigned)strtoul(argv[6], NULL, 0), p.suicidal = (unsigned)strtoul(argv[7], NULL, 0);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    enter(&p.where[0], MPI_COMM_WORLD);
    p.n = 1;
}

static int of_one_side(void)
{
    unsigned left = (unsigned)members(&p.where[0]);
    return (left & ~p.side) == 0 || (left & p.side) == 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    spawns(argv[0]);
    if (argc > 1 && !strcmp(argv[1], "child")) return run_child();
    if (argc < 5) MPI_Abort(MPI_COMM_WORLD, 2);
    start(argv, argc - 5);
    meet_mortals();
    int rounds = atoi(argv[2]);
    while (p.strangers ? !of_one_side() : p.round < rounds && p.where[0].size > 1) {
        run_round();
        p.round++;
    }
    note("finalize");
    MPI_Group_free(&world);
    MPI_Finalize();
    note("longest %f starved %f after %s", longest.took, starved(), longest.after);
    note("done");
    return 0;
}
