/* MPI_LB and MPI_UB of old codes: entries of a structure that hold no data and set its bounds, which its uses
 * inherit. */
/* ranks: 1 2 */
#include "../check.h"

#ifdef MPI_LB

static void bounds(MPI_Datatype t, MPI_Aint want_lb, MPI_Aint want_extent)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(t, &lb, &extent);
    CHECK_EQ(lb, want_lb);
    CHECK_EQ(extent, want_extent);
}

int main(int argc, char **argv)
{
    int lengths[3] = {1, 2, 1}, in[40], out[40], next, previous, size, i[8];
    MPI_Aint at[3] = {-8, 0, 24}, a[4];
    MPI_Datatype of[3] = {MPI_LB, MPI_INT, MPI_UB}, t, u, got[3];
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    MPI_Type_create_struct(3, lengths, at, of, &t);
    bounds(t, -8, 32);
    MPI_Type_size(t, &size);
    CHECK_EQ(size, 8);
    MPI_Type_get_contents(t, 4, 3, 3, i, a, got);
    CHECK(got[0] == MPI_LB && got[1] == MPI_INT && got[2] == MPI_UB);

    MPI_Type_contiguous(3, t, &u); /* ints 0, 1; 8, 9; 16, 17 */
    bounds(u, -8, 96);
    MPI_Type_commit(&u);
    for (int k = 0; k < 40; k++) out[k] = 100 * check_rank + k, in[k] = -1;
    MPI_Sendrecv(out + 2, 1, u, next, 0, in + 2, 1, u, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < 38; k++) CHECK_EQ(in[k + 2], k < 18 && k % 8 < 2 ? 100 * previous + k + 2 : -1);
    MPI_Type_free(&u);

    MPI_Datatype more[2] = {t, MPI_INT}; /* a marker is stronger than data beyond it, on every level */
    MPI_Aint apart[2] = {0, 100};
    MPI_Type_create_struct(2, (int[]){1, 1}, apart, more, &u);
    bounds(u, -8, 32);
    MPI_Type_free(&u);
    MPI_Type_create_resized(t, 4, 12, &u); /* and MPI_Type_create_resized than a marker */
    bounds(u, 4, 12);
    MPI_Type_free(&u);
    MPI_Type_free(&t);
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_end();
}

#endif
