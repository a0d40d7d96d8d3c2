/* Post, start, complete and wait: rings, groups in any order, many epochs, partners that change, empty groups. */
/* needs: MPI_Put MPI_Get MPI_Accumulate MPI_Win_post MPI_Win_start MPI_Win_complete MPI_Win_wait MPI_Win_test */
#include "rma.h"

static MPI_Group world;

static MPI_Group group_of(int n, const int *ranks)
{
    MPI_Group group;
    MPI_Group_incl(world, n, ranks, &group);
    return group;
}

/* Wait, or ask until it is so. */
static void wait(MPI_Win win, int ask)
{
    int flag = 0;
    if (!ask) CHECK_EQ(MPI_Win_wait(win), MPI_SUCCESS);
    else while (!flag) CHECK_EQ(MPI_Win_test(win, &flag), MPI_SUCCESS);
}

/* Everyone puts to the next, gets from it what is not written, and is target of the one before. */
static void ring(rma_window *w, int ask, int step)
{
    int next = (check_rank + step) % check_size, previous = (check_rank + check_size - step) % check_size;
    int *mine = (int *)(void *)w->base, out[4], in = -1;
    MPI_Group to = group_of(1, &next), from = group_of(1, &previous);
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 8; i++) mine[i] = check_rank * 1000 + turn * 10 + i;
        for (int i = 0; i < 4; i++) out[i] = -(check_rank * 1000 + turn * 10 + i);
        CHECK_EQ(MPI_Win_post(from, 0, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_start(to, 0, w->win), MPI_SUCCESS);
        MPI_Put(out, 4, MPI_INT, next, rma_at(w, next, 0), 4, MPI_INT, w->win);
        MPI_Get(&in, 1, MPI_INT, next, rma_at(w, next, 5), 1, MPI_INT, w->win);
        CHECK_EQ(MPI_Win_complete(w->win), MPI_SUCCESS);
        CHECK_EQ(in, next * 1000 + turn * 10 + 5);
        wait(w->win, ask);
        for (int i = 0; i < 8; i++)
            CHECK_EQ(mine[i], i < 4 ? -(previous * 1000 + turn * 10 + i) : check_rank * 1000 + turn * 10 + i);
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

/* All with all, themselves included; each names its partners in an order of its own. */
static void all_with_all(rma_window *w, int check)
{
    int order[64], *mine = (int *)(void *)w->base;
    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < check_size; i++)
            order[i] = turn % 2 ? (check_rank + i) % check_size : check_size - 1 - i;
        MPI_Group to = group_of(check_size, order), from = turn % 3 ? group_of(check_size, order) : world;
        for (int i = 0; i < check_size; i++) mine[i] = -1;
        MPI_Win_post(from, check ? 0 : rma_nocheck(), w->win);
        if (!check) MPI_Barrier(MPI_COMM_WORLD); /* all have posted */
        MPI_Win_start(to, check ? 0 : rma_nocheck(), w->win);
        int out = check_rank * 100 + turn;
        for (int i = 0; i < check_size; i++)
            MPI_Put(&out, 1, MPI_INT, order[i], rma_at(w, order[i], check_rank), 1, MPI_INT, w->win);
        MPI_Win_complete(w->win);
        wait(w->win, turn % 2);
        for (int r = 0; r < check_size; r++) CHECK_EQ(mine[r], r * 100 + turn);
        /* Then all only read: nobody puts into what is posted. */
        int in[64];
        MPI_Win_post(from, MPI_MODE_NOPUT | MPI_MODE_NOSTORE, w->win);
        MPI_Win_start(to, 0, w->win);
        for (int i = 0; i < check_size; i++)
            MPI_Get(&in[i], 1, MPI_INT, order[i], rma_at(w, order[i], check_rank), 1, MPI_INT, w->win);
        MPI_Win_complete(w->win);
        for (int i = 0; i < check_size; i++) CHECK_EQ(in[i], out);
        wait(w->win, 0);
        MPI_Group_free(&to); /* freed while nothing is under way; below while something is */
        if (from != world) MPI_Group_free(&from);
    }
}

/* One rank is target of all others, and only that; then one is origin for all others. */
static void one_and_the_others(rma_window *w)
{
    int others[64], *mine = (int *)(void *)w->base;
    for (int one = 0; one < check_size; one++) {
        int n = 0;
        for (int r = check_size - 1; r >= 0; r--) if (r != one) others[n++] = r;
        MPI_Group rest = group_of(n, others), single = group_of(1, &one);
        mine[0] = 1000;
        if (check_rank == one) {
            MPI_Win_post(rest, 0, w->win);
            MPI_Group_free(&rest);
            MPI_Win_wait(w->win);
            CHECK_EQ(mine[0], 1000 + check_size * (check_size - 1) / 2 - one);
        } else {
            MPI_Win_start(single, 0, w->win);
            MPI_Group_free(&single);
            MPI_Accumulate(&check_rank, 1, MPI_INT, one, rma_at(w, one, 0), 1, MPI_INT, MPI_SUM, w->win);
            MPI_Win_complete(w->win);
        }
        if (check_rank == one) {
            MPI_Group all_but = group_of(n, others);
            MPI_Win_start(all_but, 0, w->win);
            for (int k = 0; k < n; k++)
                MPI_Put(&others[k], 1, MPI_INT, others[k], rma_at(w, others[k], 1), 1, MPI_INT, w->win);
            MPI_Win_complete(w->win);
            MPI_Group_free(&all_but);
            MPI_Group_free(&single);
        } else {
            MPI_Group origin = group_of(1, &one);
            mine[1] = -1;
            MPI_Win_post(origin, 0, w->win);
            wait(w->win, one % 2);
            CHECK_EQ(mine[1], check_rank);
            MPI_Group_free(&origin);
            MPI_Group_free(&rest);
        }
    }
}

/* Epochs with nobody, and epochs in which nothing is done. */
static void nothing(rma_window *w)
{
    for (int turn = 0; turn < 3; turn++) {
        int flag = 0;
        CHECK_EQ(MPI_Win_post(MPI_GROUP_EMPTY, 0, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_start(MPI_GROUP_EMPTY, 0, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_complete(w->win), MPI_SUCCESS);
        if (turn) CHECK_EQ(MPI_Win_wait(w->win), MPI_SUCCESS);
        else while (!flag) MPI_Win_test(w->win, &flag);
        MPI_Win_post(world, 0, w->win);
        MPI_Win_start(world, 0, w->win);
        MPI_Win_complete(w->win);
        MPI_Win_wait(w->win);
    }
}

/* Partners change with every epoch, and an epoch may begin here while it has not ended elsewhere: a wavefront. */
static void changing(rma_window *w)
{
    int *mine = (int *)(void *)w->base;
    check_stream s = check_seed(5);
    /* MPICH 4.0 counts who has posted, and takes the post of one for that of another. */
    int turns = check_library("MPICH Version:\t4.0") ? 0 : 60;
    for (int turn = 0; turn < turns; turn++) {
        /* Everyone draws the same: who puts to whom. */
        int to[64], from[64];
        for (int i = 0; i < check_size; i++) to[i] = i;
        for (int i = check_size - 1; i > 0; i--) {
            int k = check_below(&s, i + 1), t = to[i];
            to[i] = to[k], to[k] = t;
        }
        for (int i = 0; i < check_size; i++) from[to[i]] = i;
        MPI_Group target = group_of(1, &to[check_rank]), origin = group_of(1, &from[check_rank]);
        int out = check_rank * 1000 + turn;
        mine[0] = -1;
        MPI_Win_post(origin, 0, w->win);
        MPI_Win_start(target, 0, w->win);
        MPI_Put(&out, 1, MPI_INT, to[check_rank], rma_at(w, to[check_rank], 0), 1, MPI_INT, w->win);
        MPI_Win_complete(w->win);
        wait(w->win, turn % 2);
        CHECK_EQ(mine[0], from[check_rank] * 1000 + turn);
        MPI_Group_free(&target);
        MPI_Group_free(&origin);
    }
    /* Down the line: rank r is target of r-1 and, when it has waited, origin for r+1. */
    int sum = check_rank;
    if (check_rank > 0) {
        int before = check_rank - 1;
        MPI_Group origin = group_of(1, &before);
        mine[0] = -1;
        MPI_Win_post(origin, 0, w->win);
        MPI_Win_wait(w->win);
        CHECK_EQ(mine[0], check_rank * (check_rank - 1) / 2);
        sum += mine[0];
        MPI_Group_free(&origin);
    }
    if (check_rank < check_size - 1) {
        int after = check_rank + 1;
        MPI_Group target = group_of(1, &after);
        MPI_Win_start(target, 0, w->win);
        MPI_Put(&sum, 1, MPI_INT, after, rma_at(w, after, 0), 1, MPI_INT, w->win);
        MPI_Win_complete(w->win);
        MPI_Group_free(&target);
    }
}

/* Two windows, whose epochs interleave. */
static void two(rma_window *a, rma_window *b)
{
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    int *in_a = (int *)(void *)a->base, *in_b = (int *)(void *)b->base, out = 100 + check_rank, back = 200 + check_rank;
    MPI_Group up = group_of(1, &next), down = group_of(1, &previous);
    in_a[0] = in_b[0] = -1;
    MPI_Win_post(down, 0, a->win);
    MPI_Win_post(up, 0, b->win);
    MPI_Win_start(up, 0, a->win);
    MPI_Win_start(down, 0, b->win);
    MPI_Put(&back, 1, MPI_INT, previous, rma_at(b, previous, 0), 1, MPI_INT, b->win);
    MPI_Put(&out, 1, MPI_INT, next, rma_at(a, next, 0), 1, MPI_INT, a->win);
    MPI_Win_complete(a->win);
    MPI_Win_complete(b->win);
    MPI_Win_wait(b->win);
    CHECK_EQ(in_b[0], 200 + next);
    MPI_Win_wait(a->win);
    CHECK_EQ(in_a[0], 100 + previous);
    MPI_Group_free(&up);
    MPI_Group_free(&down);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    RMA_EACH(kind) {
        rma_window w, other;
        rma_open(&w, kind, 64 * sizeof(int), sizeof(int), MPI_COMM_WORLD);
        rma_open(&other, RMA_CREATE, 64, sizeof(int), MPI_COMM_WORLD);
        for (int step = 1; step <= 2; step++) ring(&w, step == 2, step % check_size);
        all_with_all(&w, 1);
        all_with_all(&w, 0);
        one_and_the_others(&w);
        nothing(&w);
        changing(&w);
        two(&w, &other);
        rma_close(&other);
        rma_close(&w);
    }
    MPI_Group_free(&world);
    return check_end();
}
