/* IMPI_2INTEGER8, which is MPI_2INTEGER to Fortran programs with INTEGERs of 8 bytes: two of them, for MPI_MINLOC and
 * MPI_MAXLOC.
 * ranks: 1 2 4
 */
#include "../check.h"

#ifdef IMPI_2INTEGER8
static void describes_itself(void)
{
    int size, n;
    MPI_Aint lb, extent;
    MPI_Datatype same, pair, three;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Type_size(IMPI_2INTEGER8, &size);
    MPI_Type_get_extent(IMPI_2INTEGER8, &lb, &extent);
    CHECK(size == 16 && lb == 0 && extent == 16);
    MPI_Type_get_name(IMPI_2INTEGER8, name, &n);
    CHECK(!strcmp(name, "IMPI_2INTEGER8"));
    MPI_Type_get_value_index(MPI_INTEGER8, MPI_INTEGER8, &pair);
    CHECK(pair == IMPI_2INTEGER8);
    CHECK(MPI_Type_toint(pair) == (int)(intptr_t)pair && MPI_Type_fromint(MPI_Type_toint(pair)) == pair);
    MPI_Type_contiguous(3, IMPI_2INTEGER8, &three);
    MPI_Type_get_contents(three, 1, 0, 1, &n, NULL, &same);
    CHECK(n == 3 && same == IMPI_2INTEGER8);
    MPI_Type_free(&three);
}

static void finds_the_least_and_the_greatest(void)
{
    int64_t mine[2][2] = {{INT64_C(1) << 40, check_rank}, {check_rank + (INT64_C(1) << 40), check_rank}};
    int64_t least[2][2], most[2][2];
    MPI_Allreduce(mine, least, 2, IMPI_2INTEGER8, MPI_MINLOC, MPI_COMM_WORLD);
    MPI_Allreduce(mine, most, 2, IMPI_2INTEGER8, MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(least[0][0] == INT64_C(1) << 40 && least[0][1] == 0 && least[1][1] == 0);
    CHECK(most[0][1] == 0 && most[1][0] == check_size - 1 + (INT64_C(1) << 40) && most[1][1] == check_size - 1);
}

static void travels(void)
{
    int64_t out[2][2] = {{check_rank, -1}, {-2, check_rank}}, in[2][2];
    int n, left = (check_rank + check_size - 1) % check_size;
    MPI_Status status;
    MPI_Sendrecv(out, 2, IMPI_2INTEGER8, (check_rank + 1) % check_size, 1, in, 2, IMPI_2INTEGER8, left, 1,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, IMPI_2INTEGER8, &n);
    CHECK(n == 2 && in[0][0] == left && in[0][1] == -1 && in[1][0] == -2 && in[1][1] == left);
}

static void serves_windows(void)
{
    int64_t *at, give[2] = {check_rank, check_rank};
    MPI_Win win;
    MPI_Win_allocate(16, 16, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &win);
    at[0] = at[1] = -1;
    MPI_Win_fence(0, win);
    MPI_Accumulate(give, 1, IMPI_2INTEGER8, 0, 0, 1, IMPI_2INTEGER8, MPI_MAXLOC, win);
    MPI_Win_fence(0, win);
    CHECK(at[1] == (check_rank ? -1 : check_size - 1));
    MPI_Win_free(&win);
}
#endif

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
#ifdef IMPI_2INTEGER8
    if (check_library("libimpi")) {
        describes_itself();
        finds_the_least_and_the_greatest();
        travels();
        serves_windows();
    }
#endif
    return check_end();
}
