/* Calls of one-sided communication that move nothing: of empty datatypes and counts of 0, and to MPI_PROC_NULL, which
 * is locked and flushed as any rank. */
/* ranks: 1 2 4 */
/* needs: MPI_Accumulate MPI_Get_accumulate MPI_Win_lock MPI_Win_flush MPI_Put */
#include "rma.h"

static MPI_Datatype empty, twice;

static void datatypes(rma_window *w)
{
    int next = (check_rank + 1) % check_size, x = 7, was = 8;
    const MPI_Aint there = rma_at(w, next, 0);
    const MPI_Datatype types[] = {empty, twice, MPI_INT, MPI_DOUBLE};
    const int counts[] = {1, 3, 0, 0};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) { /* elements of nothing match no elements */
            CHECK_EQ(MPI_Put(&x, counts[i], types[i], next, there, counts[k], types[k], w->win), MPI_SUCCESS);
            CHECK_EQ(MPI_Get(&x, counts[i], types[i], next, there, counts[k], types[k], w->win), MPI_SUCCESS);
            CHECK_EQ(MPI_Accumulate(&x, counts[i], types[i], next, there, counts[k], types[k], MPI_SUM, w->win),
                     MPI_SUCCESS);
            CHECK_EQ(MPI_Get_accumulate(&x, counts[i], types[i], &was, counts[k], types[k], next, there, counts[k],
                                        types[k], MPI_MAX, w->win), MPI_SUCCESS);
            CHECK_EQ(MPI_Get_accumulate(NULL, 0, MPI_INT, &was, counts[k], types[k], next, there, counts[k], types[k],
                                        MPI_NO_OP, w->win), MPI_SUCCESS);
        }
    CHECK(x == 7 && was == 8);
}

static void requests(rma_window *w)
{
    int next = (check_rank + 1) % check_size, x = 7;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w->win);
    CHECK_EQ(MPI_Raccumulate(&x, 0, MPI_INT, next, rma_at(w, next, 0), 1, empty, MPI_SUM, w->win, &request),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Win_unlock(next, w->win);
}

/* Data on one side only is as wrong as different sizes are. */
static void sizes(rma_window *w)
{
    int x = 7, next = (check_rank + 1) % check_size;
    if (!check_library("libimpi")) return;
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Accumulate(&x, 1, MPI_INT, next, rma_at(w, next, 0), 1, empty, MPI_SUM, w->win), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Accumulate(&x, 1, MPI_INT, next, rma_at(w, next, 0), 1, empty, MPI_OP_NULL, w->win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Accumulate(&x, 0, MPI_INT, next, rma_at(w, next, 0), 1, MPI_INT, MPI_SUM, w->win), MPI_ERR_COUNT);
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_ARE_FATAL);
}

static void nobody(rma_window *w)
{
    int x = 7, next = (check_rank + 1) % check_size;
    if (check_library("Open MPI")) return; /* it crashes there */
    for (int type = 0; type < 2; type++) {
        CHECK_EQ(MPI_Win_lock(type ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w->win), MPI_SUCCESS); /* it is no epoch that excludes others */
        CHECK_EQ(MPI_Put(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_flush(MPI_PROC_NULL, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_flush_local(MPI_PROC_NULL, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_unlock(MPI_PROC_NULL, w->win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_unlock(next, w->win), MPI_SUCCESS);
    }
    MPI_Win_lock_all(0, w->win);
    CHECK_EQ(MPI_Win_flush(MPI_PROC_NULL, w->win), MPI_SUCCESS);
    MPI_Win_unlock_all(w->win);
    if (!check_library("libimpi")) return;
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Win_lock(-7, MPI_PROC_NULL, 0, w->win), MPI_ERR_LOCKTYPE);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, check_size, 0, w->win), MPI_ERR_RANK);
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_vector(4, 0, 2, MPI_DOUBLE, &twice);
    MPI_Type_commit(&empty);
    MPI_Type_commit(&twice);
    RMA_EACH(kind) {
        rma_window w;
        rma_open(&w, kind, 64, 4, MPI_COMM_WORLD);
        MPI_Win_fence(0, w.win);
        datatypes(&w);
        sizes(&w);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
        for (int i = 0; i < 64; i++) CHECK_EQ(w.base[i], 0x5a);
        requests(&w);
        nobody(&w);
        rma_close(&w);
    }
    MPI_Type_free(&empty);
    MPI_Type_free(&twice);
    return check_end();
}
