/* Random epochs against a model: every rank draws the same operations, and computes what they must give. */
/* needs: MPI_Put MPI_Get MPI_Accumulate MPI_Get_accumulate MPI_Win_fence MPI_Win_post MPI_Win_lock MPI_Win_lock_all */
#include "rma.h"

enum { CELLS = 400, OPERATIONS = 24, EPOCHS = 24 };

typedef enum { PUT, GET, SUM, MAX, FETCH, DOINGS } doing;
static const char *const doing_name[DOINGS] = {"put", "get", "sum", "max", "get_accumulate"};

typedef enum { FENCE, EXPOSED, LOCK_SHARED, LOCK_ALL, LOCK_EXCLUSIVE, SYNCHRONISATIONS } synchronisation;
static const char *const synchronisation_name[SYNCHRONISATIONS] = {"fence", "post and start", "shared locks",
                                                                   "lock_all",
                                                                   "exclusive locks"};

typedef struct {
    doing what;
    int origin, target, first; /* the first cell of the layout at the target */
    const rma_layout *here, *there;
    int64_t seed;
} operation;

static int64_t (*model)[CELLS]; /* the memory of every rank */
static rma_layout layout[RMA_LAYOUTS];
static check_stream draw;

/* What has happened to a cell in this epoch: accesses that conflict are not drawn. */
static unsigned char (*touched)[CELLS];

static int conflicts(const operation *o)
{
    for (int i = 0; i < RMA_LONG; i++) {
        int was = touched[o->target][o->first + o->there->place[i]];
        /* gets, sums, maxima do not */
        if (was && (was != (int)o->what + 1 || o->what == PUT || o->what == FETCH)) return 1;
    }
    for (int i = 0; i < RMA_LONG; i++) touched[o->target][o->first + o->there->place[i]] = (unsigned char)(o->what + 1);
    return 0;
}

/* Draws an operation that can be done beside those before; 0 if this one cannot. */
static int drawn(operation *o)
{
    o->what = (doing)check_below(&draw, DOINGS);
    o->origin = check_below(&draw, check_size);
    o->target = check_below(&draw, check_size);
    o->first = check_below(&draw, CELLS - RMA_SPAN);
    o->here = &layout[check_below(&draw, RMA_LAYOUTS)];
    o->there = &layout[check_below(&draw, RMA_LAYOUTS)];
    o->seed = (int64_t)(check_next(&draw) >> 30);
    return !conflicts(o);
}

static int64_t operand(const operation *o, int i) { return o->seed + i * 1000003; }

/* The operation in the model; old becomes what it reads. */
static void imagine(const operation *o, int64_t old[RMA_LONG])
{
    for (int i = 0; i < RMA_LONG; i++) {
        int64_t *cell = &model[o->target][o->first + o->there->place[i]], v = operand(o, i);
        old[i] = *cell;
        if (o->what == PUT) *cell = v;
        if (o->what == SUM || o->what == FETCH) *cell += v;
        if (o->what == MAX && v > *cell) *cell = v;
    }
}

static void carry_out(const operation *o, rma_window *w, int64_t *out, int64_t *in)
{
    MPI_Aint at = rma_at(w, o->target, o->first);
    for (int i = 0; i < RMA_SPAN; i++) out[i] = in[i] = -99;
    for (int i = 0; i < RMA_LONG; i++) out[o->here->place[i]] = operand(o, i);
#define THERE o->target, at, o->there->count, o->there->type
    switch (o->what) {
    case PUT: MPI_Put(out, o->here->count, o->here->type, THERE, w->win); break;
    case GET: MPI_Get(in, o->here->count, o->here->type, THERE, w->win); break;
    case SUM: MPI_Accumulate(out, o->here->count, o->here->type, THERE, MPI_SUM, w->win); break;
    case MAX: MPI_Accumulate(out, o->here->count, o->here->type, THERE, MPI_MAX, w->win); break;
    default:
        MPI_Get_accumulate(out, o->here->count, o->here->type, in, o->here->count, o->here->type, THERE, MPI_SUM,
                           w->win);
    }
}

/* Which ranks this one works on, or is worked on by, as a group. */
static MPI_Group partners(const operation *o, int n, int as_target)
{
    MPI_Group world, group;
    int ranks[64], k = 0;
    for (int r = check_size - 1; r >= 0; r--)
        for (int i = 0; i < n; i++)
            if (o[i].target == (as_target ? check_rank : r) && o[i].origin == (as_target ? r : check_rank)) {
                ranks[k++] = r;
                break;
            }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, k, ranks, &group);
    MPI_Group_free(&world);
    return group;
}

static void epoch(rma_window *w, synchronisation how, int number)
{
    static operation o[OPERATIONS];
    static int64_t out[OPERATIONS][RMA_SPAN], in[OPERATIONS][RMA_SPAN], old[OPERATIONS][RMA_LONG];
    MPI_Group to = MPI_GROUP_NULL, from = MPI_GROUP_NULL;
    int n = 0, locked = 0;
    memset(touched, 0, CELLS * (size_t)check_size);
    for (int tries = 0; tries < OPERATIONS; tries++) n += drawn(&o[n]);
    for (int i = 0; i < n; i++) imagine(&o[i], old[i]);

    switch (how) {
    case FENCE: MPI_Win_fence(number % 2 ? MPI_MODE_NOPRECEDE : 0, w->win); break;
    case EXPOSED:
        to = partners(o, n, 0), from = partners(o, n, 1);
        MPI_Win_post(from, 0, w->win);
        MPI_Win_start(to, 0, w->win);
        break;
    case LOCK_SHARED: for (int r = 0; r < check_size; r++) MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w->win); break;
    case LOCK_ALL: MPI_Win_lock_all(0, w->win); break;
    default:;
    }
    for (int i = 0; i < n; i++) {
        if (o[i].origin != check_rank) continue;
        if (how == LOCK_EXCLUSIVE) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, o[i].target, 0, w->win);
        carry_out(&o[i], w, out[i], in[i]);
        locked++;
        if ((how == LOCK_SHARED || how == LOCK_ALL) && locked % 3 == 0) MPI_Win_flush(o[i].target, w->win);
        if (how == LOCK_ALL && locked % 5 == 0) MPI_Win_flush_local_all(w->win);
        if (how == LOCK_EXCLUSIVE) MPI_Win_unlock(o[i].target, w->win);
    }
    switch (how) {
    case FENCE: MPI_Win_fence(number % 2 ? MPI_MODE_NOSUCCEED : 0, w->win); break;
    case EXPOSED:
        MPI_Win_complete(w->win);
        MPI_Win_wait(w->win);
        MPI_Group_free(&to);
        MPI_Group_free(&from);
        break;
    case LOCK_SHARED: for (int r = check_size - 1; r >= 0; r--) MPI_Win_unlock(r, w->win); break;
    case LOCK_ALL: MPI_Win_unlock_all(w->win); break;
    default:;
    }
    MPI_Barrier(MPI_COMM_WORLD);

    for (int i = 0; i < n; i++) {
        if (o[i].origin != check_rank || (o[i].what != GET && o[i].what != FETCH)) continue;
        for (int k = 0; k < RMA_LONG; k++)
            CHECK_SAY(in[i][o[i].here->place[k]] == old[i][k],
                      "window by %s, epoch %d (%s): %s from %d of %s into %s: element %d is %lld, not %lld",
                      rma_name[w->kind], number, synchronisation_name[how], doing_name[o[i].what], o[i].target,
                      o[i].there->name, o[i].here->name, k, (long long)in[i][o[i].here->place[k]],
                      (long long)old[i][k]);
    }
    const int64_t *mine = (int64_t *)(void *)w->base;
    if (how >= LOCK_SHARED) MPI_Win_lock(MPI_LOCK_SHARED, check_rank, 0, w->win);
    for (int i = 0; i < CELLS; i++)
        CHECK_SAY(mine[i] == model[check_rank][i], "window by %s, epoch %d (%s): cell %d is %lld, not %lld",
                  rma_name[w->kind], number, synchronisation_name[how], i, (long long)mine[i],
                  (long long)model[check_rank][i]);
    if (how >= LOCK_SHARED) MPI_Win_unlock(check_rank, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    model = calloc((size_t)check_size, sizeof *model);
    touched = calloc((size_t)check_size, sizeof *touched);
    rma_layouts(layout, MPI_INT64_T, sizeof(int64_t));
    RMA_EACH(kind) {
        rma_window w;
        draw = check_seed((uint64_t)(1000 * check_size + kind));
        rma_open(&w, kind, sizeof *model, sizeof(int64_t), MPI_COMM_WORLD);
        for (int r = 0; r < check_size; r++) for (int i = 0; i < CELLS; i++) model[r][i] = r * 1000 + i;
        memcpy(w.base, model[check_rank], sizeof *model);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_fence(0, w.win); /* what was stored is in the window */
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
        for (int number = 0; number < EPOCHS; number++) {
            synchronisation how = (synchronisation)check_below(&draw, SYNCHRONISATIONS);
            /* MPICH 4.0 takes the post of one rank for that of another: tests/rma/pscw.c. */
            if (how == EXPOSED && check_library("MPICH Version:\t4.0")) how = FENCE;
            epoch(&w, how, number);
        }
        rma_close(&w);
    }
    rma_layouts_free(layout);
    free(model);
    free(touched);
    return check_end();
}
