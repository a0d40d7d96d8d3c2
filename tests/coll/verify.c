/* IMPI_CHECK=1: calls that do not agree are errors on all ranks, and move no data; calls that agree do what they do. */
/* needs: MPI_Ibcast */
#include "../check.h"
#include <stdlib.h>
#include <string.h>

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* The error names the ranks. */
static void names(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    if (!strstr(text, what)) fprintf(stderr, "%s, and not %s\n", text, what);
    CHECK(strstr(text, what) != NULL);
}

static void agree(void)
{
    int sum = 0, mine = check_rank, all[64], parts[64], piece = -1, counts[64], displs[64], from[64];
    MPI_Request request[3];
    for (int r = 0; r < check_size; r++) parts[r] = 10 * check_rank + r, counts[r] = 1, displs[r] = r;
    CHECK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    CHECK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Alltoallv(parts, counts, displs, MPI_INT, from, counts, displs, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Iscatter(parts, 1, MPI_INT, &piece, 1, MPI_INT, 0, MPI_COMM_WORLD, &request[0]) == MPI_SUCCESS);
    CHECK(MPI_Ibarrier(MPI_COMM_WORLD, &request[1]) == MPI_SUCCESS);
    CHECK(MPI_Ireduce(&mine, &sum, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD, &request[2]) == MPI_SUCCESS);
    CHECK(MPI_Waitall(3, request, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int r = 0; r < check_size; r++) {
        CHECK_EQ(all[r], r);
        CHECK_EQ(from[r], 10 * r + check_rank);
    }
    CHECK_EQ(piece, check_rank);
    if (check_rank == 0) CHECK_EQ(sum, check_size - 1);
    MPI_Comm dup;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &dup) == MPI_SUCCESS);
    CHECK(MPI_Barrier(dup) == MPI_SUCCESS);
    MPI_Comm_free(&dup);
}

int main(int argc, char **argv)
{
    setenv("IMPI_CHECK", "1", 1);
    check_start(&argc, &argv);
    CHECK(check_size <= 64);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    agree();
    const int last = check_rank == check_size - 1, n = check_size;
    int data[2] = {7, 8}, out[2] = {-1, -1}, code;
    char who[80];
    if (n > 1) {
        code = MPI_Bcast(data, 1, MPI_INT, last ? n - 1 : 0, MPI_COMM_WORLD);
        CHECK_EQ(class_of(code), MPI_ERR_ROOT);
        snprintf(who, sizeof who, "the root is 0 on rank 0, and %d on rank %d", n - 1, n - 1);
        names(code, who);

        code = MPI_Allreduce(data, out, 1 + last, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(class_of(code), MPI_ERR_COUNT);
        CHECK_EQ(out[0], -1);
        code = MPI_Allreduce(data, out, 1, MPI_INT, last ? MPI_MAX : MPI_MIN, MPI_COMM_WORLD);
        CHECK_EQ(class_of(code), MPI_ERR_OP);
        code = MPI_Bcast(data, last ? 2 : 1, last ? MPI_INT : MPI_DOUBLE, 0, MPI_COMM_WORLD);
        CHECK_EQ(class_of(code), MPI_ERR_TYPE);
        names(code, "both 8 bytes");

        code = last ? MPI_Barrier(MPI_COMM_WORLD) : MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD);
        CHECK_EQ(class_of(code), MPI_ERR_OTHER);
        snprintf(who, sizeof who, "rank 0 calls MPI_Bcast and rank %d calls MPI_Barrier", n - 1);
        names(code, who);

        MPI_Request request = MPI_REQUEST_NULL;
        if (last) {
            code = MPI_Ibcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
            if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            code = MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
        CHECK_EQ(class_of(code), MPI_ERR_OTHER);
        names(code, "MPI_Ibcast");

        int big[64], counts[64], displs[64];
        for (int r = 0; r < n; r++) counts[r] = 1, displs[r] = r;
        code = MPI_Gatherv(data, 1 + last, MPI_INT, big, counts, displs, MPI_INT, 0, MPI_COMM_WORLD);
        CHECK_EQ(class_of(code), MPI_ERR_TYPE);
        snprintf(who, sizeof who, "what rank %d sends to rank 0 is not what that one expects", n - 1);
        names(code, who);
        code = MPI_Allgather(data, 1 + last, MPI_INT, big, 1, MPI_INT, MPI_COMM_WORLD);
        CHECK_EQ(class_of(code), MPI_ERR_TYPE);
    }
    agree();
    return check_end();
}
