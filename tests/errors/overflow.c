/* Counts whose products with sizes are no numbers: each function says so, and moves nothing. */
/* ranks: 1 2 3 */
/* needs: MPI_Send_c MPI_Pack_c */
#include "../check.h"

static MPI_Comm world; /* a copy of MPI_COMM_WORLD with MPI_ERRORS_RETURN */
static int buf[64], other[64];
static const MPI_Count many = ((MPI_Count)1 << 62) + 1; /* of MPI_INT: 4 bytes modulo 2^64 */
static const MPI_Count half = (MPI_Count)1 << 61;       /* of MPI_CHAR, four times: 2^63 */

static void point_to_point(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    int none = -1;
    CHECK_CLASS(MPI_Send_c(buf, many, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Ssend_c(buf, many, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Rsend_c(buf, many, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bsend_c(buf, many, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Isend_c(buf, many, MPI_INT, 0, 0, world, &r), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Issend_c(buf, many, MPI_INT, 0, 0, world, &r), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Ibsend_c(buf, many, MPI_INT, 0, 0, world, &r), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send_init_c(buf, many, MPI_INT, 0, 0, world, &r), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Recv_c(buf, many, MPI_INT, 0, 0, world, &s), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Irecv_c(buf, many, MPI_INT, 0, 0, world, &r), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Recv_init_c(buf, many, MPI_INT, 0, 0, world, &r), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Sendrecv_c(buf, many, MPI_INT, 0, 0, other, 1, MPI_INT, 0, 0, world, &s), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Sendrecv_c(buf, 1, MPI_INT, 0, 0, other, many, MPI_INT, 0, 0, world, &s), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Sendrecv_replace_c(buf, many, MPI_INT, 0, 0, 0, 0, world, &s), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Isendrecv_c(buf, many, MPI_INT, 0, 0, other, 1, MPI_INT, 0, 0, world, &r), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Psend_init(buf, 4, half, MPI_CHAR, 0, 0, world, MPI_INFO_NULL, &r), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Precv_init(buf, 4, half, MPI_CHAR, 0, 0, world, MPI_INFO_NULL, &r), MPI_ERR_COUNT);
    CHECK(r == MPI_REQUEST_NULL);
    CHECK_EQ(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &none, &s), MPI_SUCCESS);
    CHECK_EQ(none, 0);

    /* A type that is short and reaches far. */
    MPI_Datatype far;
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 40, &far);
    MPI_Type_commit(&far);
    CHECK_CLASS(MPI_Send_c(buf, (MPI_Count)1 << 23, far, 0, 0, world), MPI_ERR_COUNT);
    MPI_Type_free(&far);
}

static void collectives(void)
{
    MPI_Count each = INT64_MAX / check_size + (check_size > 1), counts[64], whole[64];
    MPI_Aint at[64] = {0};
    for (int i = 0; i < 64; i++) counts[i] = i == 0 ? many : 1, whole[i] = each;
    CHECK_CLASS(MPI_Bcast_c(buf, many, MPI_INT, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Reduce_c(buf, other, many, MPI_INT, MPI_SUM, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allreduce_c(buf, other, many, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Scan_c(buf, other, many, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Exscan_c(buf, other, many, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Reduce_local_c(buf, other, many, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Gather_c(buf, many, MPI_INT, other, many, MPI_INT, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Scatter_c(buf, many, MPI_INT, other, many, MPI_INT, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Gatherv_c(buf, many, MPI_INT, other, counts, at, MPI_INT, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Scatterv_c(buf, counts, at, MPI_INT, other, many, MPI_INT, 0, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allgatherv_c(buf, 1, MPI_INT, other, counts, at, MPI_INT, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoallv_c(buf, counts, at, MPI_INT, other, counts, at, MPI_INT, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Reduce_scatter_c(buf, other, counts, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
    MPI_Datatype types[64];
    for (int i = 0; i < 64; i++) types[i] = MPI_INT;
    CHECK_CLASS(MPI_Alltoallw_c(buf, counts, at, types, other, counts, at, types, world), MPI_ERR_COUNT);
    if (check_size == 1) return;
    /* A block is a number, and all blocks together are none. */
    CHECK_CLASS(MPI_Allgather_c(buf, 1, MPI_CHAR, other, each, MPI_CHAR, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoall_c(buf, each, MPI_CHAR, other, each, MPI_CHAR, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Reduce_scatter_block_c(buf, other, each, MPI_BYTE, MPI_BOR, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Reduce_scatter_c(buf, other, whole, MPI_BYTE, MPI_BOR, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Allgatherv_c(buf, 1, MPI_CHAR, other, whole, at, MPI_CHAR, world), MPI_ERR_COUNT);
}

static void packing(void)
{
    MPI_Count position = 1, size = 0;
    MPI_Aint at = 1;
    memset(other, 7, sizeof other);
    CHECK_CLASS(MPI_Pack_c(buf, 1, MPI_INT, other, INT64_MIN, &position, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Unpack_c(other, INT64_MIN, &position, buf, 1, MPI_INT, world), MPI_ERR_COUNT);
    CHECK_EQ(position, 1);
    CHECK(MPI_Pack_external("external32", buf, 1, MPI_INT, other, INT64_MIN, &at) != MPI_SUCCESS);
    CHECK(MPI_Unpack_external("external32", other, INT64_MIN, &at, buf, 1, MPI_INT) != MPI_SUCCESS);
    CHECK_EQ(at, 1);
    position = 0;
    CHECK_CLASS(MPI_Pack_c(buf, many, MPI_INT, other, sizeof other, &position, world), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Unpack_c(other, sizeof other, &position, buf, many, MPI_INT, world), MPI_ERR_COUNT);
    CHECK_EQ(position, 0);
    for (int i = 0; i < 64; i++) CHECK(other[i] == 0x07070707 && buf[i] == 0);
    CHECK_EQ(MPI_Pack_size_c(many, MPI_INT, world, &size), MPI_SUCCESS);
    CHECK_EQ(size, MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of functions without a communicator */
    point_to_point();
    collectives();
    packing();
    MPI_Barrier(world);
    MPI_Comm_free(&world);
    return check_end();
}
