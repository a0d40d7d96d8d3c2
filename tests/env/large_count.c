/* The functions with large counts (MPI-4.0) do what their namesakes do. */
#include "../check.h"

#if MPI_VERSION >= 4

static void point_to_point(void)
{
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    int out[100], in[100];
    MPI_Count n = -1;
    MPI_Request request[2];
    MPI_Status status;
    for (int i = 0; i < 100; i++) out[i] = check_rank * 1000 + i;
    MPI_Irecv_c(in, 100, MPI_INT, previous, 3, MPI_COMM_WORLD, &request[0]);
    MPI_Isend_c(out, 77, MPI_INT, next, 3, MPI_COMM_WORLD, &request[1]);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Wait(&request[0], &status);
    CHECK_EQ(MPI_Get_count_c(&status, MPI_INT, &n), MPI_SUCCESS);
    CHECK_EQ(n, 77);
    for (int i = 0; i < 77; i++) CHECK_EQ(in[i], previous * 1000 + i);
    MPI_Sendrecv_c(out, 5, MPI_INT, next, 4, in, 100, MPI_INT, previous, 4, MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, MPI_INT, &n);
    CHECK_EQ(n, 5);
    if (check_rank % 2 == 0 && next != check_rank && (check_size % 2 == 0 || check_rank < check_size - 1)) {
        MPI_Send_c(out, 9, MPI_INT, next, 5, MPI_COMM_WORLD);
    }
    if (check_rank % 2 == 1) {
        MPI_Recv_c(in, 100, MPI_INT, previous, 5, MPI_COMM_WORLD, &status);
        MPI_Get_count_c(&status, MPI_INT, &n);
        CHECK_EQ(n, 9);
    }
}

/* A type that describes more than 2^31 elements, of which no memory exists. */
static void huge_types(void)
{
    MPI_Datatype type, wide;
    MPI_Count size = -1, lower = -1, extent = -1, many = (MPI_Count)5 << 30;
    int narrow = 0;
    CHECK_EQ(MPI_Type_contiguous_c(many, MPI_DOUBLE, &type), MPI_SUCCESS);
    MPI_Type_size_c(type, &size);
    CHECK_EQ(size, many * 8);
    MPI_Type_get_extent_c(type, &lower, &extent);
    CHECK_EQ(lower, 0);
    CHECK_EQ(extent, many * 8);
    MPI_Type_size(type, &narrow);
    CHECK_EQ(narrow, MPI_UNDEFINED);
    CHECK_EQ(MPI_Type_vector_c(3, 2, many, MPI_INT, &wide), MPI_SUCCESS);
    MPI_Type_size_c(wide, &size);
    CHECK_EQ(size, 24);
    MPI_Type_get_extent_c(wide, &lower, &extent);
    CHECK_EQ(extent, (2 * many + 2) * 4);
    MPI_Type_free(&type);
    MPI_Type_free(&wide);
}

static void collectives(void)
{
    int mine = check_rank + 1, sum = -1, all[64], *big = calloc((size_t)check_size, sizeof *big);
    MPI_Allreduce_c(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, check_size * (check_size + 1) / 2);
    for (int i = 0; i < 64; i++) all[i] = check_rank == 0 ? i * i : -1;
    MPI_Bcast_c(all, 64, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 64; i++) CHECK_EQ(all[i], i * i);
    MPI_Count *counts = calloc((size_t)check_size, sizeof *counts);
    MPI_Aint *at = calloc((size_t)check_size, sizeof *at);
    for (int r = 0; r < check_size; r++) {
        counts[r] = 1;
        at[r] = check_size - 1 - r;
    }
    MPI_Allgatherv_c(&mine, 1, MPI_INT, big, counts, at, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < check_size; r++) CHECK_EQ(big[check_size - 1 - r], r + 1);
    free(big);
    free(counts);
    free(at);
}

static void packing(void)
{
    int in[4] = {1, 2, 3, 4}, out[4] = {0};
    MPI_Count room = 0, position = 0;
    char buffer[256];
    MPI_Pack_size_c(4, MPI_INT, MPI_COMM_WORLD, &room);
    CHECK(room >= 16 && room <= (MPI_Count)sizeof buffer);
    MPI_Pack_c(in, 4, MPI_INT, buffer, room, &position, MPI_COMM_WORLD);
    CHECK(position > 0 && position <= room);
    position = 0;
    MPI_Unpack_c(buffer, room, &position, out, 4, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) CHECK_EQ(out[i], in[i]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    point_to_point();
    huge_types();
    collectives();
    packing();
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_end();
}

#endif
