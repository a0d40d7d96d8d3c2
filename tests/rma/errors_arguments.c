/* Wrong arguments of one-sided calls: each is answered with the class that MPI 5.0, 12.6.2, has for it. */
/* needs: MPI_Put MPI_Get MPI_Accumulate MPI_Win_create MPI_Win_allocate_shared MPI_Win_attach MPI_Win_lock */
#include "rma.h"

/* MPI leaves open what happens to a program that is wrong; libimpi promises an answer. Others are asked what all of
 * them answer: theirs must be an error. */
static int strict;

#define WRONG(call, class_) \
    do { \
        if (strict) CHECK_CLASS(call, class_); \
        else CHECK_SAY((call) != MPI_SUCCESS, "%s succeeds", #call); \
    } while (0)

static void creation(void)
{
    static char memory[64];
    MPI_Win win = MPI_WIN_NULL;
    void *base = NULL;
    MPI_Comm world, inter;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    WRONG(MPI_Win_create(memory, 64, 0, MPI_INFO_NULL, world, &win), MPI_ERR_DISP);
    WRONG(MPI_Win_create(memory, 64, -4, MPI_INFO_NULL, world, &win), MPI_ERR_DISP);
    WRONG(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, world, &win), MPI_ERR_SIZE);
    WRONG(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, world, &base, &win), MPI_ERR_SIZE);
    WRONG(MPI_Win_allocate_shared(-1, 1, MPI_INFO_NULL, world, &base, &win), MPI_ERR_SIZE);
    WRONG(MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    WRONG(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    if (strict) {
        CHECK_CLASS(MPI_Win_allocate(64, 0, MPI_INFO_NULL, world, &base, &win), MPI_ERR_DISP);
        CHECK_CLASS(MPI_Win_allocate_shared(64, 0, MPI_INFO_NULL, world, &base, &win), MPI_ERR_DISP);
        CHECK_CLASS(MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, world, NULL), MPI_ERR_ARG);
    }
    if (check_size > 1) { /* a window is on one group */
        MPI_Comm part;
        int lower = check_rank < check_size / 2;
        MPI_Comm_split(world, lower, 0, &part);
        MPI_Intercomm_create(part, 0, world, lower ? check_size / 2 : 0, 0, &inter);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        if (strict) {
            CHECK_CLASS(MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, inter, &win), MPI_ERR_COMM);
            CHECK_CLASS(MPI_Win_allocate(64, 1, MPI_INFO_NULL, inter, &base, &win), MPI_ERR_COMM);
            CHECK_CLASS(MPI_Win_create_dynamic(MPI_INFO_NULL, inter, &win), MPI_ERR_COMM);
        }
        MPI_Comm_free(&inter);
        MPI_Comm_free(&part);
    }
    if (strict && !rma_can(RMA_SHARED, MPI_COMM_WORLD))
        CHECK_CLASS(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, world, &base, &win), MPI_ERR_RMA_SHARED);
    MPI_Barrier(world); /* all of that has left it as it was */
    MPI_Comm_free(&world);
}

static void null_and_freed(void)
{
    MPI_Win win = MPI_WIN_NULL, freed;
    MPI_Group group;
    int x = 0, flag;
    MPI_Aint size;
    void *base;
    WRONG(MPI_Win_free(&win), MPI_ERR_WIN);
    WRONG(MPI_Win_fence(0, win), MPI_ERR_WIN);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_WIN);
    WRONG(MPI_Win_unlock(0, win), MPI_ERR_WIN);
    WRONG(MPI_Win_lock_all(0, win), MPI_ERR_WIN);
    WRONG(MPI_Win_unlock_all(win), MPI_ERR_WIN);
    WRONG(MPI_Win_flush(0, win), MPI_ERR_WIN);
    WRONG(MPI_Win_flush_all(win), MPI_ERR_WIN);
    WRONG(MPI_Win_flush_local(0, win), MPI_ERR_WIN);
    WRONG(MPI_Win_flush_local_all(win), MPI_ERR_WIN);
    WRONG(MPI_Win_sync(win), MPI_ERR_WIN);
    WRONG(MPI_Win_post(MPI_GROUP_EMPTY, 0, win), MPI_ERR_WIN);
    WRONG(MPI_Win_start(MPI_GROUP_EMPTY, 0, win), MPI_ERR_WIN);
    WRONG(MPI_Win_complete(win), MPI_ERR_WIN);
    WRONG(MPI_Win_wait(win), MPI_ERR_WIN);
    WRONG(MPI_Win_test(win, &flag), MPI_ERR_WIN);
    WRONG(MPI_Win_get_group(win, &group), MPI_ERR_WIN);
    WRONG(MPI_Win_attach(win, &x, sizeof x), MPI_ERR_WIN);
    WRONG(MPI_Win_detach(win, &x), MPI_ERR_WIN);
    WRONG(MPI_Win_shared_query(win, 0, &size, &flag, &base), MPI_ERR_WIN);
    WRONG(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_WIN);
    WRONG(MPI_Get(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_WIN);
    WRONG(MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_WIN);
    WRONG(MPI_Fetch_and_op(&x, &x, MPI_INT, 0, 0, MPI_SUM, win), MPI_ERR_WIN);
    WRONG(MPI_Compare_and_swap(&x, &x, &x, MPI_INT, 0, 0, win), MPI_ERR_WIN);
    if (!strict) return; /* a handle that was freed crashes others */
    MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    freed = win;
    MPI_Win_free(&win);
    CHECK_CLASS(MPI_Win_fence(0, freed), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_free(&freed), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, freed), MPI_ERR_WIN);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, (MPI_Win)(uintptr_t)MPI_COMM_WORLD), MPI_ERR_WIN);
}

static void user_op(void *in, void *out, int *n, MPI_Datatype *type) { (void)in, (void)out, (void)n, (void)type; }

/* Within an epoch; after each of them the window works, and its memory is as it was. */
static void communication(rma_kind kind)
{
    rma_window w;
    MPI_Op own;
    MPI_Datatype raw, mixed;
    static const int ones[] = {1, 1};
    const MPI_Aint at[] = {0, 8};
    const MPI_Datatype of[] = {MPI_INT, MPI_DOUBLE};
    int x[64] = {0}, to = check_size - 1;
    double d[4] = {0};
    rma_open(&w, kind, 64, 4, MPI_COMM_WORLD);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    MPI_Op_create(user_op, 1, &own);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    MPI_Type_create_struct(2, ones, at, of, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Aint zero = rma_at(&w, to, 0);
    MPI_Win_lock_all(0, w.win);

    WRONG(MPI_Put(x, 1, MPI_INT, check_size, zero, 1, MPI_INT, w.win), MPI_ERR_RANK);
    WRONG(MPI_Put(x, 1, MPI_INT, -77, zero, 1, MPI_INT, w.win), MPI_ERR_RANK);
    WRONG(MPI_Put(x, -1, MPI_INT, to, zero, 1, MPI_INT, w.win), MPI_ERR_COUNT);
    WRONG(MPI_Get(x, 1, MPI_INT, to, zero, -1, MPI_INT, w.win), MPI_ERR_COUNT);
    WRONG(MPI_Put(x, 1, MPI_DATATYPE_NULL, to, zero, 1, MPI_INT, w.win), MPI_ERR_TYPE);
    WRONG(MPI_Get(x, 1, MPI_INT, to, zero, 1, MPI_DATATYPE_NULL, w.win), MPI_ERR_TYPE);
    WRONG(MPI_Put(x, 1, raw, to, zero, 2, MPI_INT, w.win), MPI_ERR_TYPE); /* not committed */
    WRONG(MPI_Accumulate(x, 1, MPI_INT, to, zero, 1, MPI_INT, MPI_OP_NULL, w.win), MPI_ERR_OP);
    WRONG(MPI_Accumulate(x, 1, MPI_INT, to, zero, 1, MPI_INT, own, w.win), MPI_ERR_OP);
    if (strict) {
        CHECK_CLASS(MPI_Get_accumulate(x, 1, MPI_INT, x, 1, MPI_INT, to, zero, 1, MPI_INT, own, w.win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Fetch_and_op(x, x, MPI_INT, to, zero, own, w.win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Accumulate(d, 1, MPI_DOUBLE, to, zero, 1, MPI_DOUBLE, MPI_BAND, w.win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, to, zero, 1, MPI_INT, MPI_MAXLOC, w.win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Accumulate(x, 1, MPI_BYTE, to, zero, 1, MPI_BYTE, MPI_SUM, w.win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Accumulate(x, 0, MPI_BYTE, to, zero, 0, MPI_BYTE, MPI_SUM, w.win), MPI_SUCCESS);
        CHECK_CLASS(MPI_Accumulate(x, 1, MPI_INT, to, zero, 1, MPI_INT, MPI_NO_OP, w.win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Accumulate(x, 1, mixed, to, zero, 1, mixed, MPI_SUM, w.win), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Fetch_and_op(x, x, raw, to, zero, MPI_SUM, w.win), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Compare_and_swap(d, d, d, MPI_DOUBLE, to, zero, w.win), MPI_ERR_TYPE);
    }
    if (strict && kind != RMA_DYNAMIC) { /* beyond the target's memory, of which 64 bytes are sure */
        CHECK_CLASS(MPI_Put(x, 1, MPI_INT, to, -1, 1, MPI_INT, w.win), MPI_ERR_DISP);
        CHECK_CLASS(MPI_Put(x, 1, MPI_INT, to, 16, 1, MPI_INT, w.win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Get(x, 17, MPI_INT, to, 0, 17, MPI_INT, w.win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Get(x, 2, MPI_INT, to, 15, 2, MPI_INT, w.win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Put(x, 1, MPI_INT, to, (MPI_Aint)1 << 61, 1, MPI_INT, w.win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Accumulate(d, 2, MPI_DOUBLE, to, 13, 2, MPI_DOUBLE, MPI_SUM, w.win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Fetch_and_op(d, d, MPI_DOUBLE, to, 15, MPI_SUM, w.win), MPI_ERR_RMA_RANGE);
        CHECK_CLASS(MPI_Compare_and_swap(x, x, x, MPI_INT, to, 16, w.win), MPI_ERR_RMA_RANGE);
    }
    MPI_Win_unlock_all(w.win);
    WRONG(MPI_Win_lock(77, to, 0, w.win), MPI_ERR_LOCKTYPE);
    WRONG(MPI_Win_lock(MPI_LOCK_SHARED, check_size, 0, w.win), MPI_ERR_RANK);
    if (strict) {
        CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, to, 3, w.win), MPI_ERR_ASSERT);
        CHECK_CLASS(MPI_Win_lock_all(MPI_MODE_NOPUT, w.win), MPI_ERR_ASSERT);
        CHECK_CLASS(MPI_Win_fence(1 << 30, w.win), MPI_ERR_ASSERT);
        CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, MPI_MODE_NOSTORE, w.win), MPI_ERR_ASSERT);
        CHECK_CLASS(MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOSUCCEED, w.win), MPI_ERR_ASSERT);
        CHECK_CLASS(MPI_Win_post(MPI_GROUP_NULL, 0, w.win), MPI_ERR_GROUP);
    }
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < 64; i++) CHECK_EQ(w.base[i], 0x5a);
    MPI_Barrier(MPI_COMM_WORLD); /* all have looked */
    x[0] = 42;
    if (check_rank == 0) MPI_Put(x, 1, MPI_INT, to, zero, 1, MPI_INT, w.win);
    MPI_Win_fence(0, w.win);
    if (check_rank == to) CHECK_EQ(*(int *)(void *)w.base, 42);
    MPI_Type_free(&raw);
    MPI_Type_free(&mixed);
    MPI_Op_free(&own);
    rma_close(&w);
}

/* Memory of dynamic windows: attached twice, detached without, not there; and calls for windows of other flavors. */
static void flavors(void)
{
    static char memory[256];
    MPI_Win dynamic, plain;
    MPI_Aint size;
    int unit;
    void *base;
    if (!strict) return;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &plain);
    MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(plain, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Win_attach(plain, memory, 64), MPI_ERR_RMA_FLAVOR);
    CHECK_CLASS(MPI_Win_detach(plain, memory), MPI_ERR_RMA_FLAVOR);
    CHECK_CLASS(MPI_Win_shared_query(dynamic, 0, &size, &unit, &base), MPI_ERR_RMA_FLAVOR);
    CHECK_CLASS(MPI_Win_detach(dynamic, memory), MPI_ERR_RMA_ATTACH);
    CHECK_EQ(MPI_Win_attach(dynamic, memory + 64, 64), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_attach(dynamic, memory + 64, 64), MPI_ERR_RMA_ATTACH);
    CHECK_CLASS(MPI_Win_attach(dynamic, memory + 100, 100), MPI_ERR_RMA_ATTACH); /* in part */
    CHECK_CLASS(MPI_Win_attach(dynamic, memory, -1), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_detach(dynamic, memory + 65), MPI_ERR_RMA_ATTACH);
    MPI_Aint at;
    int x = 5;
    MPI_Get_address(memory, &at);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, dynamic);
    int code = MPI_Put(&x, 1, MPI_INT, check_rank, at, 1, MPI_INT, dynamic); /* now, or when it is to be done: */
    if (code == MPI_SUCCESS) code = MPI_Win_flush(check_rank, dynamic);
    CHECK_CLASS(code, MPI_ERR_RMA_RANGE);
    CHECK_EQ(MPI_Put(&x, 1, MPI_INT, check_rank, at + 64, 1, MPI_INT, dynamic), MPI_SUCCESS);
    MPI_Win_unlock(check_rank, dynamic);
    CHECK(memory[0] == 0 && *(int *)(void *)(memory + 64) == 5);
    CHECK_EQ(MPI_Win_detach(dynamic, memory + 64), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_detach(dynamic, memory + 64), MPI_ERR_RMA_ATTACH);
    MPI_Win_free(&dynamic);
    MPI_Win_free(&plain);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    strict = check_library("libimpi");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    creation();
    null_and_freed();
    RMA_EACH(kind) communication(kind);
    flavors();
    return check_end();
}
