/* heat2d_ft.c - heat2d that goes on after the loss of ranks, machines or IMPI clients, from the memory of the others.
 *
 *   mpiexec -with-ft ulfm -n 4 ./heat2d_ft [points [steps [rank step]...]]
 *
 * The ranks share the plate of heat2d.c in strips, whose border rows they exchange before every step. After every 20
 * steps each rank sends a copy of its strip to its keeper: the rank opposite, and one of another client if there are
 * several. When a rank is lost, the others shrink the communicator, share the plate anew, get the rows of the last copy
 * from those who have them, and go on from there. No file is touched, and the answer is that of heat2d to the last bit.
 * To see it, a rank kills itself before a step: "heat2d_ft 256 500 2 110" loses rank 2 before step 110. Only a rank and
 * its keeper must not both be lost between two copies.
 *
 * An error that some see has to reach all, as others wait for those who have seen it: they revoke the communicator,
 * which ends whatever anybody does there. MPIX_Comm_agree tells all the same: a copy counts if everybody has made it.
 */
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVERY = 20 }; /* steps from one copy to the next */

typedef struct {
    MPI_Comm comm;
    int rank, size;
    int *client;     /* by rank: the number of its IMPI client */
} Team;

/* The plate as it was before some step, in the strips of a team. */
typedef struct {
    Team team;
    int step;
    double **strip; /* by rank: its rows if they are here, else NULL */
} Copy;

/* Messages that are under way. */
typedef struct {
    const Team *team;
    int ok, n;
    MPI_Request *request;
} Moves;

static int points, stride; /* a row has a cold point on either side */

static int first(const Team *t, int rank) { return (int)((long)points * rank / t->size); }
static int height(const Team *t, int rank) { return first(t, rank + 1) - first(t, rank); }
static size_t rows(int n) { return (size_t)n * (size_t)stride; } /* points in them */

static void *room(size_t n, size_t each)
{
    void *p = calloc(n + 1, each);
    if (!p) MPI_Abort(MPI_COMM_WORLD, 1);
    return p;
}

static Moves begin(const Team *t, int most)
{
    return (Moves){.team = t, .ok = 1, .request = room((size_t)most, sizeof(MPI_Request))};
}

static void began(Moves *m, int code)
{
    if (code == MPI_SUCCESS) m->n++;
    else m->ok = 0;
}

static void send(Moves *m, const double *from, int n, int rank)
{
    began(m, MPI_Isend(from, n * stride, MPI_DOUBLE, rank, 0, m->team->comm, &m->request[m->n]));
}

static void receive(Moves *m, double *into, int n, int rank)
{
    began(m, MPI_Irecv(into, n * stride, MPI_DOUBLE, rank, 0, m->team->comm, &m->request[m->n]));
}

/* Returns whether all messages have come. If not, nobody may wait for us, nor we for what is still under way. */
static int end(Moves *m)
{
    if (!m->ok || MPI_Waitall(m->n, m->request, MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
        m->ok = 0;
        MPIX_Comm_revoke(m->team->comm);
        MPI_Waitall(m->n, m->request, MPI_STATUSES_IGNORE);
    }
    free(m->request);
    return m->ok;
}

/* Whether all are successful and nobody has been lost. Everybody gets the same. */
static int agreed(const Team *t, int ok) { return MPIX_Comm_agree(t->comm, &ok) == MPI_SUCCESS && ok; }

/* Who keeps copies for a rank: the first of another client, from the opposite rank on, or the opposite one. */
static int keeper(const Team *t, int rank)
{
    for (int i = 0; i < t->size; i++) {
        int r = (rank + t->size / 2 + i) % t->size;
        if (t->client[r] != t->client[rank]) return r;
    }
    return (rank + t->size / 2) % t->size;
}

/* The team on a communicator; ok says whether its members know each other. */
static Team meet(MPI_Comm comm, int *ok)
{
    Team t = {.comm = comm};
    int *color = NULL, there = 0, own = 0;
#ifdef IMPI_CLIENT_COLOR /* libimpi's */
    MPI_Comm_get_attr(MPI_COMM_WORLD, IMPI_CLIENT_COLOR, &color, &there);
#endif
    if (there) own = *color;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &t.rank);
    MPI_Comm_size(comm, &t.size);
    t.client = room((size_t)t.size, sizeof *t.client);
    *ok = MPI_Allgather(&own, 1, MPI_INT, t.client, 1, MPI_INT, comm) == MPI_SUCCESS;
    if (!*ok) MPIX_Comm_revoke(comm);
    return t;
}

static void part(Team *t)
{
    MPI_Comm_free(&t->comm);
    free(t->client);
}

/* Make a copy of the plate, of which own is our strip, if ok. Returns whether all have done so. */
static int keep(Copy *c, const Team *t, int step, const double *own, int ok)
{
    Moves m = begin(t, t->size + 1);
    *c = (Copy){*t, step, room((size_t)t->size, sizeof *c->strip)};
    m.ok = ok;
    for (int r = 0; r < t->size && ok; r++)
        if (r == t->rank || keeper(t, r) == t->rank) {
            c->strip[r] = room(rows(height(t, r)), sizeof **c->strip);
            if (r != t->rank) receive(&m, c->strip[r], height(t, r), r);
        }
    if (ok) {
        memcpy(c->strip[t->rank], own, rows(height(t, t->rank)) * sizeof *own);
        if (keeper(t, t->rank) != t->rank) send(&m, own, height(t, t->rank), keeper(t, t->rank));
    }
    return agreed(t, end(&m));
}

static void forget(Copy *c)
{
    for (int r = 0; r < c->team.size; r++) free(c->strip[r]);
    free(c->strip);
}

/* The rank in team t of whoever has the strip of a rank in the copy's team. */
static int holder(const Copy *c, int rank, const Team *t)
{
    int who[2] = {rank, keeper(&c->team, rank)}, now[2];
    MPI_Group old, new;
    MPI_Comm_group(c->team.comm, &old);
    MPI_Comm_group(t->comm, &new);
    MPI_Group_translate_ranks(old, 2, who, new, now);
    MPI_Group_free(&old);
    MPI_Group_free(&new);
    if (now[0] != MPI_UNDEFINED) return now[0];
    if (now[1] != MPI_UNDEFINED) return now[1];
    fprintf(stderr, "heat2d_ft: a rank and the keeper of its strip are lost\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
    return -1;
}

/* Get the rows of our strip in team t from those who have them in the copy of another team. */
static int restore(const Copy *c, const Team *t, double *own, int ok)
{
    Moves m = begin(t, 2 * (c->team.size + t->size));
    m.ok = ok;
    for (int from = 0; from < c->team.size && ok; from++) {
        int has = holder(c, from, t), top = first(&c->team, from), bottom = first(&c->team, from + 1);
        for (int to = 0; to < t->size; to++) {
            int start = first(t, to), low = start > top ? start : top;
            int stop = first(t, to + 1), high = stop < bottom ? stop : bottom;
            if (low >= high) continue;
            if (has == t->rank) send(&m, c->strip[from] + rows(low - top), high - low, to);
            if (to == t->rank) receive(&m, own + rows(low - start), high - low, has);
        }
    }
    return end(&m);
}

/* After a loss: the survivors are the team of the copy, and have the plate as it was then. Returns our strip, with room
 * for its borders. */
static double *recover(Copy *c)
{
    for (;;) {
        MPI_Comm comm;
        Copy again;
        int ok;
        if (MPIX_Comm_shrink(c->team.comm, &comm) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
        Team t = meet(comm, &ok);
        double *plate = room(rows(height(&t, t.rank) + 2), sizeof *plate);
        ok = restore(c, &t, plate + stride, ok);
        ok = keep(&again, &t, c->step, plate + stride, ok);
        if (ok && t.rank == 0) printf("%d ranks go on from step %d\n", t.size, c->step);
        Copy *old = ok ? c : &again;
        forget(old);
        part(&old->team);
        if (ok) {
            *c = again;
            return plate;
        }
        free(plate);
    }
}

/* Fill the rows above and below the strip from the neighbors. */
static int exchange(const Team *t, double *plate)
{
    int n = height(t, t->rank);
    Moves m = begin(t, 4);
    if (t->rank > 0) {
        receive(&m, plate, 1, t->rank - 1);
        send(&m, plate + stride, 1, t->rank - 1);
    }
    if (t->rank < t->size - 1) {
        receive(&m, plate + rows(n + 1), 1, t->rank + 1);
        send(&m, plate + rows(n), 1, t->rank + 1);
    }
    return end(&m);
}

/* One step; returns the largest change. */
static double step(const double *from, double *to, int n)
{
    double largest = 0;
    for (int y = 1; y <= n; y++)
        for (int x = 1; x <= points; x++) {
            const double *p = &from[rows(y) + (size_t)x];
            double change = 0.25 * (p[-1] + p[1] + p[-stride] + p[stride]) - p[0];
            to[rows(y) + (size_t)x] = p[0] + change;
            if (change < 0) change = -change;
            if (change > largest) largest = change;
        }
    return largest;
}

/* Steps from one number to another. */
static int advance(const Team *t, double **plate, int from, int to, int dies, double *change)
{
    int n = height(t, t->rank);
    double *next = room(rows(n + 2), sizeof *next);
    for (int s = from; s < to; s++) {
        if (s == dies) raise(SIGKILL);
        if (!exchange(t, *plate)) break;
        *change = step(*plate, next, n);
        double *swap = *plate;
        *plate = next;
        next = swap;
        if (s + 1 == to) {
            free(next);
            return 1;
        }
    }
    free(next);
    return from == to;
}

/* Rank 0 adds up the whole plate, in an order that does not depend on the ranks, and prints the answer. */
static int answer(const Team *t, const double *own, double change, int ok)
{
    Moves m = begin(t, t->size + 1);
    double *whole = t->rank == 0 ? room(rows(points), sizeof *whole) : NULL, largest = 0, heat = 0;
    m.ok = ok;
    for (int r = 0; r < t->size && ok && whole; r++) receive(&m, whole + rows(first(t, r)), height(t, r), r);
    if (ok) send(&m, own, height(t, t->rank), 0);
    ok = end(&m);
    if (ok && MPI_Reduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, t->comm) != MPI_SUCCESS) {
        MPIX_Comm_revoke(t->comm);
        ok = 0;
    }
    ok = agreed(t, ok);
    if (ok && whole) {
        for (size_t i = 0; i < rows(points); i++) heat += whole[i];
        printf("answer: heat=%.12e change=%.12e\n", heat, largest);
    }
    free(whole);
    return ok;
}

/* The strip before the first step: a hot disc on a cold plate. */
static double *cold_and_hot(const Team *t)
{
    int top = first(t, t->rank), n = height(t, t->rank);
    double *plate = room(rows(n + 2), sizeof *plate);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < points; x++) {
            double dy = (top + y) - 0.4 * points, dx = x - 0.6 * points;
            if (dx * dx + dy * dy < 0.04 * points * points) plate[rows(y + 1) + (size_t)x + 1] = 1;
        }
    return plate;
}

/* The first copy. Whoever is lost before there is one is not needed. */
static double *set_out(Copy *c)
{
    for (;;) {
        MPI_Comm comm;
        int ok;
        if (MPIX_Comm_shrink(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
        Team t = meet(comm, &ok);
        double *plate = cold_and_hot(&t);
        if (keep(c, &t, 0, plate + stride, ok)) return plate;
        forget(c);
        part(&t);
        free(plate);
    }
}

static void run(int steps, int dies)
{
    Copy copy, newer;
    double change = 0, *plate = set_out(&copy);
    int ok, over = 0;
    while (!over) {
        int to = steps - copy.step > EVERY ? copy.step + EVERY : steps;
        ok = advance(&copy.team, &plate, copy.step, to, dies, &change);
        if (to == steps) {
            over = ok = answer(&copy.team, plate + stride, change, ok);
        } else {
            ok = keep(&newer, &copy.team, to, plate + stride, ok);
            forget(ok ? &copy : &newer);
            if (ok) copy = newer;
        }
        if (!ok) {
            free(plate);
            plate = recover(&copy);
        }
    }
    free(plate);
    forget(&copy);
    part(&copy.team);
}

int main(int argc, char **argv)
{
    int rank, size, dies = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = argc > 2 ? atoi(argv[2]) : 500;
    points = argc > 1 ? atoi(argv[1]) : 256;
    stride = points + 2;
    if (points < size || points > 30000 || steps < 0) {
        if (rank == 0) fprintf(stderr, "usage: heat2d_ft [points [steps [rank step]...]], with a point a rank\n");
        MPI_Finalize();
        return 2;
    }
    for (int i = 3; i + 1 < argc; i += 2)
        if (atoi(argv[i]) == rank) dies = atoi(argv[i + 1]);
    run(steps, dies);
    MPI_Finalize();
    return 0;
}
