/* An operation that one rank calls with another length than the rest: who has less room than there is data gets an
 * error, nobody waits for ever, and the operations that follow have no fault. Blocking and nonblocking, in shared
 * memory, where parts of different lengths stand in different places. */
/* ranks: 2 3 4 */
/* clients: none */
#include "../check.h"

enum { MOST = 1000 };

static MPI_Comm comm;

static void goes_on(void)
{
    int one = 1, sum = 0;
    CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(sum, check_size);
}

/* From root, which has more than the others have room for; or to root, which has less. */
static void rooted(int more, int less, int root)
{
    int out[MOST] = {0}, in[MOST * 4], is_root = check_rank == root, n = is_root ? more : less;
    MPI_Request r;
    int error = MPI_Bcast(out, n, MPI_INT, root, comm);
    if (is_root) CHECK_EQ(error, MPI_SUCCESS);
    else CHECK_CLASS(error, MPI_ERR_TRUNCATE);
    goes_on();
    MPI_Ibcast(out, n, MPI_INT, root, comm, &r);
    error = MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (is_root) CHECK_EQ(error, MPI_SUCCESS);
    else CHECK_CLASS(error, MPI_ERR_TRUNCATE);
    goes_on();
    n = is_root ? less : more;
    error = MPI_Reduce(out, in, n, MPI_INT, MPI_SUM, root, comm);
    if (is_root) CHECK_CLASS(error, MPI_ERR_TRUNCATE);
    goes_on();
    error = MPI_Gather(out, n, MPI_INT, in, n, MPI_INT, root, comm);
    if (is_root) CHECK_CLASS(error, MPI_ERR_TRUNCATE);
    goes_on();
}

/* Each gets the parts of all others. */
static void all(int more, int less)
{
    int out[MOST] = {0}, in[MOST * 4], n = check_rank == 1 ? more : less, error;
    error = MPI_Allreduce(out, in, n, MPI_INT, MPI_SUM, comm);
    CHECK(error != MPI_SUCCESS);
    goes_on();
    error = MPI_Allgather(out, n, MPI_INT, in, n, MPI_INT, comm);
    if (check_rank != 1) CHECK_CLASS(error, MPI_ERR_TRUNCATE);
    goes_on();
}

int main(int argc, char **argv)
{
    static const int lengths[][2] = {{100, 10}, {2, 1}, {1000, 999}, {1000, 1}, {40, 20}};
    check_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPI_Wait's, of no communicator */
    goes_on();
    for (int again = 0; again < 3; again++)
        for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            rooted(lengths[i][0], lengths[i][1], again % check_size);
            all(lengths[i][0], lengths[i][1]);
        }
    MPI_Comm_free(&comm);
    return check_end();
}
