/* Wrong arguments of collectives, from the first call on a communicator to one among many: each rank gets the error,
 * and the communicator goes on as if nothing had been called. Nothing to move is no error. */
#include "../check.h"

#ifdef MPI_ABI_VERSION

static MPI_Comm comm;
static int in[32], out[32];

static void right(void)
{
    int word = check_rank == 0 ? 5 : 0, sum = 0;
    MPI_Bcast(&word, 1, MPI_INT, 0, comm);
    CHECK_EQ(word, 5);
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    MPI_Reduce(&check_rank, &sum, 1, MPI_INT, MPI_MAX, check_size - 1, comm);
    if (check_rank == check_size - 1) CHECK_EQ(sum, check_size - 1);
    MPI_Barrier(comm);
}

static void wrong(MPI_Datatype raw, MPI_Datatype freed)
{
    CHECK_CLASS(MPI_Bcast(in, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, check_size, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Bcast(in, 1, raw, 0, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Bcast(in, 1, freed, 0, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Bcast(NULL, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(NULL, out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(in, NULL, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, NULL, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Allreduce(in, out, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_BYTE, MPI_SUM, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_CHAR, MPI_MAX, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_REPLACE, comm), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, raw, MPI_SUM, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, check_size, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, -1, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Reduce(NULL, out, 1, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Reduce(in, out, 1, MPI_FLOAT, MPI_LOR, 0, comm), MPI_ERR_OP);
}

static void nothing(void)
{
    CHECK_EQ(MPI_Bcast(NULL, 0, MPI_INT, 0, comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Allreduce(in, in, 0, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Allreduce(MPI_IN_PLACE, NULL, 0, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Reduce(NULL, NULL, 0, MPI_DOUBLE, MPI_MAX, check_size - 1, comm), MPI_SUCCESS);
}

/* A rank that expects less than the root sends gets an error, and the others their data. */
static void truncated(void)
{
    if (check_size == 1) return;
    for (int k = 0; k < 30; k++) {
        int n = check_rank == check_size - 1 ? 2 : 3;
        if (k < 20) n = 3; /* the communicator has been used before */
        for (int i = 0; i < 4; i++) in[i] = check_rank == 0 ? k + i : -1;
        int code = MPI_Bcast(in, n, MPI_INT, 0, comm);
        CHECK_CLASS(code, n == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        if (n == 3) CHECK_EQ(in[2], k + 2);
        if (check_rank != 0) CHECK_EQ(in[n], -1);
    }
}

/* The same where one group sends to another, each rank of which expects less in turn: it hands on what it has got. */
static void truncated_across(void)
{
    MPI_Comm half, across;
    const int gets = check_rank % 2, members = check_size / 2, root = check_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    if (check_size < 2) return;
    MPI_Comm_split(comm, gets, check_rank, &half);
    MPI_Intercomm_create(half, 0, comm, 1 - gets, 0, &across);
    MPI_Comm_set_errhandler(across, MPI_ERRORS_RETURN);
    for (int k = 0; k < 3 * members; k++) {
        int less = gets && check_rank / 2 == k % members;
        int code = MPI_Bcast(in, less ? 2 : 3, MPI_INT, gets ? 0 : root, across);
        CHECK_CLASS(code, less ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
    CHECK_EQ(MPI_Barrier(across), MPI_SUCCESS);
    MPI_Comm_free(&across);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Datatype raw, freed, type;
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    freed = type;
    MPI_Type_free(&type);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int k = 0; k < 30; k++) {
        wrong(raw, freed);
        nothing();
        right();
    }
    truncated();
    truncated_across();
    right();
    MPI_Comm old = comm;
    MPI_Comm_free(&comm);
    comm = old;
    CHECK_CLASS(MPI_Barrier(comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Bcast(in, 1, MPI_INT, 0, comm), MPI_ERR_COMM);
    MPI_Type_free(&raw);
    return check_end();
}
#else
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_end();
}
#endif
