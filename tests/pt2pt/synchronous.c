/* A synchronous send is not complete before its receive has begun. */
/* ranks: 2 3 4 8 */
#include "../check.h"

static void once(int n)
{
    int partner = check_rank ^ 1, flag = -1, token = 1, echo = 0;
    if (partner >= check_size) return;
    char *buf = malloc((size_t)n + 1);
    if (check_rank % 2 == 0) {
        MPI_Request request;
        check_fill(buf, (size_t)n, 5);
        MPI_Issend(buf, n, MPI_CHAR, partner, 1, MPI_COMM_WORLD, &request);
        /* The partner answers a message sent later, without having received this one. */
        MPI_Sendrecv(&token, 1, MPI_INT, partner, 2, &echo, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 50; i++) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            CHECK_SAY(!flag, "a synchronous send of %d bytes ended before its receive began", n);
        }
        MPI_Send(&token, 1, MPI_INT, partner, 3, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Sendrecv(&token, 1, MPI_INT, partner, 2, &echo, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&token, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(buf, n, MPI_CHAR, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(check_differs(buf, (size_t)n, 5), -1);
    }
    free(buf);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int n = 0; n < 500000; n = n * 7 + 1) once(n);
    return check_end();
}
