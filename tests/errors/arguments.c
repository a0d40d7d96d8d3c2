/* Wrong arguments give an error of the right class, and leave the library in working order. */
/* ranks: 1 2 3 4 8 */
#include "../check.h"

static MPI_Comm world; /* a copy of MPI_COMM_WORLD with MPI_ERRORS_RETURN */
static int buf[16];

static void point_to_point(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    MPI_Datatype raw;
    int flag, *ub, found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &found);
    CHECK_CLASS(MPI_Send(buf, 1, MPI_INT, check_size, 0, world), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(buf, 1, MPI_INT, -77, 0, world), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(buf, 1, MPI_INT, MPI_ANY_SOURCE, 0, world), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv(buf, 1, MPI_INT, check_size, 0, world, &s), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Irecv(buf, 1, MPI_INT, -77, 0, world, &r), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Probe(check_size, 0, world, &s), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Iprobe(check_size, 0, world, &flag, &s), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(buf, 1, MPI_INT, 0, -5, world), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Send(buf, 1, MPI_INT, 0, MPI_ANY_TAG, world), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Isend(buf, 1, MPI_INT, 0, -5, world, &r), MPI_ERR_TAG);
    if (*ub < 2147483647) CHECK_CLASS(MPI_Send(buf, 1, MPI_INT, 0, *ub + 1, world), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Recv(buf, 1, MPI_INT, 0, -5, world, &s), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Send(buf, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Recv(buf, -1, MPI_INT, 0, 0, world, &s), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Ssend(buf, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send(buf, 1, MPI_DATATYPE_NULL, 0, 0, world), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Irecv(buf, 1, MPI_DATATYPE_NULL, 0, 0, world, &r), MPI_ERR_TYPE);
    MPI_Type_contiguous(2, MPI_INT, &raw);
    CHECK_CLASS(MPI_Send(buf, 1, raw, 0, 0, world), MPI_ERR_TYPE); /* not committed */
    MPI_Type_free(&raw);
    if (!check_library("Open MPI v4")) { /* which sends from address 0 */
        CHECK_CLASS(MPI_Send(NULL, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER);
        CHECK_CLASS(MPI_Recv(NULL, 1, MPI_INT, 0, 0, world, &s), MPI_ERR_BUFFER);
    }
    CHECK_CLASS(MPI_Sendrecv(buf, 1, MPI_INT, 0, -3, buf + 1, 1, MPI_INT, 0, 0, world, &s), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Sendrecv_replace(buf, -1, MPI_INT, 0, 0, 0, 0, world, &s), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bsend(buf, 1, MPI_INT, check_size + 1, 0, world), MPI_ERR_RANK);
    CHECK(r == MPI_REQUEST_NULL);
}

static void collectives(void)
{
    int out[16], counts[64] = {0}, at[64] = {0};
    CHECK_CLASS(MPI_Bcast(buf, 1, MPI_INT, check_size, world), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(buf, 1, MPI_INT, -1, world), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Bcast(buf, -1, MPI_INT, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bcast(buf, 1, MPI_DATATYPE_NULL, 0, world), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Reduce(buf, out, 1, MPI_INT, MPI_SUM, check_size, world), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Reduce(buf, out, 1, MPI_INT, MPI_OP_NULL, 0, world), MPI_ERR_OP);
    CHECK_CLASS(MPI_Allreduce(buf, out, 1, MPI_INT, MPI_OP_NULL, world), MPI_ERR_OP);
    if (!check_library("MPICH Version:\t4.0")) /* which crashes */
        CHECK_CLASS(MPI_Allreduce(buf, out, -1, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allreduce(buf, out, 1, MPI_FLOAT, MPI_BAND, world), MPI_ERR_OP); /* no bits in a float */
    if (!check_library("MPICH")) /* which extends the logical operations */
        CHECK_CLASS(MPI_Allreduce(buf, out, 1, MPI_DOUBLE, MPI_LXOR, world), MPI_ERR_OP);
    CHECK_CLASS(MPI_Scan(buf, out, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX, world), MPI_ERR_OP);
    CHECK_CLASS(MPI_Gather(buf, 1, MPI_INT, out, 1, MPI_INT, check_size, world), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Scatterv(buf, counts, at, MPI_INT, out, 1, MPI_INT, -9, world), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Allgather(buf, -1, MPI_INT, out, 1, MPI_INT, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoall(buf, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, world), MPI_ERR_TYPE);
}

/* With no communicator to ask, the error goes to MPI_COMM_WORLD's handler (or MPI_COMM_SELF's, since MPI-4.0). */
static void without_communicator(void)
{
    int n, flag;
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Datatype t;
    MPI_Group g;
    MPI_Op op = MPI_SUM;
    CHECK_CLASS(MPI_Send(buf, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_rank(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_dup(MPI_COMM_NULL, &c), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Comm_free(&c), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &n), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Op_free(&op), MPI_ERR_OP); /* predefined */
    CHECK_CLASS(MPI_Comm_group(MPI_COMM_NULL, &g), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Test_cancelled(&(MPI_Status){0}, &flag), MPI_SUCCESS);
}

static void groups(void)
{
    MPI_Group w, g;
    int beyond = check_size;
    MPI_Comm_group(world, &w);
    CHECK_CLASS(MPI_Group_incl(w, 1, &beyond, &g), MPI_ERR_RANK);
    MPI_Group_free(&w);
}

/* After all of this everything works. */
static void alive(void)
{
    int sum = -1, flag = -1;
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, world);
    CHECK_EQ(sum, check_size * (check_size - 1) / 2);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, MPI_STATUS_IGNORE);
    CHECK_EQ(flag, 0);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &world); /* inherits the handler */
    point_to_point();
    collectives();
    without_communicator();
    groups();
    alive();
    MPI_Comm_free(&world);
    return check_end();
}
