/* Nonblocking collectives: several under way at once, completed in any order, the program's buffers its own after. */
/* needs: MPI_Iallreduce MPI_Ibcast MPI_Ibarrier */
#include "../check.h"

enum { N = 500 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_size <= 64);
    static int in[N], sum[N], scan[N], low[N], cast[N], all[64 * N], mixed[64], from[64], parts[64 * N], mine[N];
    MPI_Request request[8];
    int index, flag = 0;
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++) {
            in[i] = check_rank * 1000 + i + turn, cast[i] = check_rank == turn % check_size ? i * 3 : -1;
        }
        for (int r = 0; r < check_size; r++) mixed[r] = check_rank * 100 + r;
        for (int i = 0; i < check_size * N; i++) parts[i] = check_rank == 0 ? i : -1;
        MPI_Iallreduce(in, sum, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[0]);
        MPI_Ibcast(cast, N, MPI_INT, turn % check_size, MPI_COMM_WORLD, &request[1]);
        MPI_Iallgather(in, N, MPI_INT, all, N, MPI_INT, MPI_COMM_WORLD, &request[2]);
        MPI_Ibarrier(MPI_COMM_WORLD, &request[3]);
        MPI_Ialltoall(mixed, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD, &request[4]);
        MPI_Iscan(in, scan, N, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request[5]);
        MPI_Ireduce(in, low, N, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD, &request[6]);
        MPI_Iscatter(parts, N, MPI_INT, mine, N, MPI_INT, 0, MPI_COMM_WORLD, &request[7]);
        if (turn == 0) MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
        else if (turn == 1) for (int k = 0; k < 8; k++) MPI_Waitany(8, request, &index, MPI_STATUS_IGNORE);
        else for (flag = 0; !flag;) MPI_Testall(8, request, &flag, MPI_STATUSES_IGNORE);
        for (int k = 0; k < 8; k++) CHECK(request[k] == MPI_REQUEST_NULL);
        for (int i = 0; i < N; i++) {
            CHECK_EQ(sum[i], check_size * (check_size - 1) / 2 * 1000 + check_size * (i + turn));
            CHECK_EQ(cast[i], i * 3);
            CHECK_EQ(scan[i], in[i]);
            if (check_rank == 0) CHECK_EQ(low[i], i + turn);
            CHECK_EQ(mine[i], check_rank * N + i);
        }
        for (int i = 0; i < check_size * N; i++) CHECK_EQ(all[i], i / N * 1000 + i % N + turn);
        for (int r = 0; r < check_size; r++) CHECK_EQ(from[r], r * 100 + check_rank);
    }
    return check_end();
}
