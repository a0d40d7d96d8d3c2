/* Calls out of their epochs, and whose error handler hears of it. Only libimpi promises these answers: MPI says that
 * such programs are wrong, and other libraries hang or crash. */
/* needs: MPI_Put MPI_Rput MPI_Win_create MPI_Win_lock MPI_Win_lock_all MPI_Win_fence MPI_Win_post MPI_Win_start */
#include "rma.h"
#include <setjmp.h>

static struct { int calls, class_; MPI_Win win; } heard;
static jmp_buf out;

static void note(MPI_Win *win, int *code, ...)
{
    heard.calls++;
    heard.win = *win;
    MPI_Error_class(*code, &heard.class_);
}

static void jump(MPI_Win *win, int *code, ...)
{
    note(win, code);
    longjmp(out, 1);
}

/* The call is out of its epoch, and the handler of the window hears of it, once. */
#define OUT_OF_EPOCH(call) \
    do { \
        memset(&heard, 0, sizeof heard); \
        CHECK_CLASS(call, MPI_ERR_RMA_SYNC); \
        CHECK_SAY(heard.calls == 1 && heard.win == w->win && heard.class_ == MPI_ERR_RMA_SYNC, \
                  "%s: the handler was called %d times, with class %d", #call, heard.calls, heard.class_); \
    } while (0)

static void without_epoch(rma_window *w)
{
    int x = 0, y = 0, flag, me = check_rank;
    MPI_Aint at = rma_at(w, me, 0);
    MPI_Request request;
    OUT_OF_EPOCH(MPI_Put(&x, 1, MPI_INT, me, at, 1, MPI_INT, w->win));
    OUT_OF_EPOCH(MPI_Get(&x, 1, MPI_INT, me, at, 1, MPI_INT, w->win));
    OUT_OF_EPOCH(MPI_Accumulate(&x, 1, MPI_INT, me, at, 1, MPI_INT, MPI_SUM, w->win));
    OUT_OF_EPOCH(MPI_Get_accumulate(&x, 1, MPI_INT, &y, 1, MPI_INT, me, at, 1, MPI_INT, MPI_SUM, w->win));
    OUT_OF_EPOCH(MPI_Fetch_and_op(&x, &y, MPI_INT, me, at, MPI_SUM, w->win));
    OUT_OF_EPOCH(MPI_Compare_and_swap(&x, &x, &y, MPI_INT, me, at, w->win));
    OUT_OF_EPOCH(MPI_Rput(&x, 1, MPI_INT, me, at, 1, MPI_INT, w->win, &request));
    OUT_OF_EPOCH(MPI_Rget(&x, 1, MPI_INT, me, at, 1, MPI_INT, w->win, &request));
    OUT_OF_EPOCH(MPI_Win_unlock(me, w->win));
    OUT_OF_EPOCH(MPI_Win_unlock_all(w->win));
    OUT_OF_EPOCH(MPI_Win_flush(me, w->win));
    OUT_OF_EPOCH(MPI_Win_flush_all(w->win));
    OUT_OF_EPOCH(MPI_Win_flush_local(me, w->win));
    OUT_OF_EPOCH(MPI_Win_flush_local_all(w->win));
    OUT_OF_EPOCH(MPI_Win_complete(w->win));
    OUT_OF_EPOCH(MPI_Win_wait(w->win));
    OUT_OF_EPOCH(MPI_Win_test(w->win, &flag));
    MPI_Win_sync(w->win); /* is allowed anywhere */
}

static void within_locks(rma_window *w)
{
    int x = 0, me = check_rank, other = (check_rank + 1) % check_size;
    MPI_Win win = w->win;
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w->win);
    OUT_OF_EPOCH(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w->win));
    OUT_OF_EPOCH(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, w->win));
    OUT_OF_EPOCH(MPI_Win_lock_all(0, w->win));
    OUT_OF_EPOCH(MPI_Win_unlock_all(w->win));
    OUT_OF_EPOCH(MPI_Win_fence(0, w->win));
    OUT_OF_EPOCH(MPI_Win_start(MPI_GROUP_EMPTY, 0, w->win));
    OUT_OF_EPOCH(MPI_Win_complete(w->win));
    OUT_OF_EPOCH(MPI_Win_free(&win));
    CHECK(win == w->win);
    if (other != me) {
        OUT_OF_EPOCH(MPI_Put(&x, 1, MPI_INT, other, rma_at(w, other, 0), 1, MPI_INT, w->win));
        OUT_OF_EPOCH(MPI_Win_flush(other, w->win));
        OUT_OF_EPOCH(MPI_Win_unlock(other, w->win));
    }
    CHECK_EQ(MPI_Win_unlock(me, w->win), MPI_SUCCESS);
    OUT_OF_EPOCH(MPI_Win_unlock(me, w->win));

    MPI_Win_lock_all(0, w->win);
    OUT_OF_EPOCH(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, w->win));
    OUT_OF_EPOCH(MPI_Win_unlock(other, w->win));
    OUT_OF_EPOCH(MPI_Win_lock_all(0, w->win));
    OUT_OF_EPOCH(MPI_Win_fence(0, w->win));
    OUT_OF_EPOCH(MPI_Win_free(&win));
    CHECK_EQ(MPI_Win_unlock_all(w->win), MPI_SUCCESS);
}

static void within_the_rest(rma_window *w)
{
    int x = 7, me = check_rank, other = (check_rank + 1) % check_size;
    MPI_Request request;
    MPI_Win win = w->win;
    MPI_Group world, self;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &me, &self);
    MPI_Win_post(self, 0, w->win);
    OUT_OF_EPOCH(MPI_Win_post(self, 0, w->win));
    OUT_OF_EPOCH(MPI_Win_fence(0, w->win));
    OUT_OF_EPOCH(MPI_Win_free(&win));
    MPI_Win_start(self, 0, w->win);
    OUT_OF_EPOCH(MPI_Win_start(self, 0, w->win));
    OUT_OF_EPOCH(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w->win));
    OUT_OF_EPOCH(MPI_Win_lock_all(0, w->win));
    OUT_OF_EPOCH(MPI_Win_flush(me, w->win));
    OUT_OF_EPOCH(MPI_Rput(&x, 1, MPI_INT, me, rma_at(w, me, 0), 1, MPI_INT, w->win, &request));
    if (other != me) OUT_OF_EPOCH(MPI_Put(&x, 1, MPI_INT, other, rma_at(w, other, 0), 1, MPI_INT, w->win));
    CHECK_EQ(MPI_Put(&x, 1, MPI_INT, me, rma_at(w, me, 0), 1, MPI_INT, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_complete(w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_wait(w->win), MPI_SUCCESS);
    CHECK_EQ(*(int *)(void *)w->base, 7);
    MPI_Group_free(&world);
    MPI_Group_free(&self);

    MPI_Win_fence(0, w->win);
    OUT_OF_EPOCH(MPI_Rput(&x, 1, MPI_INT, me, rma_at(w, me, 0), 1, MPI_INT, w->win, &request));
    x = 8;
    MPI_Put(&x, 1, MPI_INT, other, rma_at(w, other, 0), 1, MPI_INT, w->win);
    OUT_OF_EPOCH(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, w->win));
    OUT_OF_EPOCH(MPI_Win_lock_all(0, w->win));
    OUT_OF_EPOCH(MPI_Win_free(&win));
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    CHECK_EQ(*(int *)(void *)w->base, 8);
    OUT_OF_EPOCH(MPI_Put(&x, 1, MPI_INT, me, rma_at(w, me, 0), 1, MPI_INT, w->win)); /* no epoch was to follow */
}

/* A window whose info promises that it is never locked. */
static void no_locks(void)
{
    static int x;
    rma_window opened = {0}, *w = &opened;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_create(&x, sizeof x, 1, info, MPI_COMM_WORLD, &w->win);
    MPI_Info_free(&info);
    MPI_Win_create_errhandler(note, &handler);
    MPI_Win_set_errhandler(w->win, handler);
    MPI_Errhandler_free(&handler);
    OUT_OF_EPOCH(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    OUT_OF_EPOCH(MPI_Win_lock_all(0, w->win));
    MPI_Win_free(&w->win);
}

/* A handler of the window's own hears of arguments, too, may jump out, and may be called by the program. */
static void handlers(rma_window *w)
{
    MPI_Errhandler noting, jumping;
    int x = 0;
    volatile int landed = 0;
    MPI_Win_create_errhandler(note, &noting);
    MPI_Win_create_errhandler(jump, &jumping);
    MPI_Win_set_errhandler(w->win, jumping);
    for (volatile int i = 0; i < 100; i++) {
        if (setjmp(out) == 0) {
            if (i % 3 == 0) MPI_Put(&x, 1, MPI_INT, check_size, 0, 1, MPI_INT, w->win);
            else if (i % 3 == 1) MPI_Win_unlock(check_rank, w->win);
            else MPI_Win_lock(5, 0, 0, w->win);
            CHECK_SAY(0, "the handler was not called, or came back");
        }
        landed++;
    }
    CHECK_EQ(landed, 100);
    MPI_Win_set_errhandler(w->win, noting);
    memset(&heard, 0, sizeof heard);
    CHECK_CLASS(MPI_Win_lock(5, 0, 0, w->win), MPI_ERR_LOCKTYPE);
    CHECK(heard.calls == 1 && heard.win == w->win && heard.class_ == MPI_ERR_LOCKTYPE);
    MPI_Win_call_errhandler(w->win, MPI_ERR_OTHER);
    CHECK(heard.calls == 2 && heard.class_ == MPI_ERR_OTHER);
    MPI_Errhandler_free(&noting);
    MPI_Errhandler_free(&jumping);
    /* Nothing is held: the window works. */
    x = check_rank;
    MPI_Win_fence(0, w->win);
    MPI_Put(&x, 1, MPI_INT, (check_rank + 1) % check_size, rma_at(w, (check_rank + 1) % check_size, 0), 1, MPI_INT,
            w->win);
    MPI_Win_fence(0, w->win);
    CHECK_EQ(*(int *)(void *)w->base, (check_rank + check_size - 1) % check_size);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check_library("libimpi")) {
        RMA_EACH(kind) {
            rma_window w;
            MPI_Errhandler noting;
            rma_open(&w, kind, 64, 4, MPI_COMM_WORLD);
            MPI_Win_create_errhandler(note, &noting);
            MPI_Win_set_errhandler(w.win, noting);
            MPI_Errhandler_free(&noting);
            without_epoch(&w);
            within_locks(&w);
            within_the_rest(&w);
            handlers(&w);
            rma_close(&w);
        }
        no_locks();
    }
    return check_end();
}
