/* In a graph whose edges all lead to rank 0, the others receive nothing, and rank 0 sends nothing: what a process
 * passes for the side on which it has no neighbors is not looked at. */
/* needs: MPI_Neighbor_alltoallw_init */
#include "../check.h"

int main(int argc, char **argv)
{
    MPI_Comm star;
    check_start(&argc, &argv);
    int others = check_size - 1, root = 0, in = check_rank ? 0 : others, *from = malloc(sizeof(int) * (others + 1));
    int out = check_rank ? 1 : 0, value = 7 * check_rank, *got = malloc(sizeof(int) * (others + 1));
    int *ones = malloc(sizeof(int) * (others + 1)), *at = malloc(sizeof(int) * (others + 1));
    MPI_Aint *bytes = malloc(sizeof(MPI_Aint) * (others + 1)), zero = 0;
    MPI_Datatype *ints = malloc(sizeof(MPI_Datatype) * (others + 1)), kind = MPI_INT;
    for (int i = 0; i < others; i++) from[i] = i + 1, ones[i] = 1, at[i] = i, bytes[i] = 4 * i, ints[i] = MPI_INT;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from, ones, out, &root, &out, MPI_INFO_NULL, 0, &star);
    MPI_Comm_set_errhandler(star, MPI_ERRORS_RETURN);

    /* The side that counts, and NULL with a count that cannot be for the other. */
    int sends = out ? 1 : -5, receives = in ? 1 : -5;
    void *data = out ? &value : NULL, *room = in ? got : NULL;
    int one = 1, none = 0, *counts = in ? ones : NULL, *places = in ? at : NULL;
    int *lengths = out ? &one : NULL, *starts = out ? &none : NULL;
    MPI_Datatype sent = out ? MPI_INT : MPI_DATATYPE_NULL, received = in ? MPI_INT : MPI_DATATYPE_NULL;
#define ARRIVED \
    do { \
        for (int i = 0; i < in; i++) CHECK_EQ(got[i], 7 * (i + 1)); \
        memset(got, -1, sizeof(int) * (others + 1)); \
    } while (0)
    CHECK_EQ(MPI_Neighbor_allgather(data, sends, sent, room, receives, received, star), MPI_SUCCESS);
    ARRIVED;
    CHECK_EQ(MPI_Neighbor_allgatherv(data, sends, sent, room, counts, places, received, star), MPI_SUCCESS);
    ARRIVED;
    CHECK_EQ(MPI_Neighbor_alltoall(data, sends, sent, room, receives, received, star), MPI_SUCCESS);
    ARRIVED;
    CHECK_EQ(MPI_Neighbor_alltoallv(data, lengths, starts, sent, room, counts, places, received, star), MPI_SUCCESS);
    ARRIVED;
    CHECK_EQ(MPI_Neighbor_alltoallw(data, lengths, out ? &zero : NULL, out ? &kind : NULL, room, counts,
                                    in ? bytes : NULL, in ? ints : NULL, star), MPI_SUCCESS);
    ARRIVED;
    MPI_Request request;
    CHECK_EQ(MPI_Ineighbor_alltoall(data, sends, sent, room, receives, received, star, &request), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ARRIVED;
#if MPI_VERSION >= 4
    CHECK_EQ(MPI_Neighbor_allgather_init(data, sends, sent, room, receives, received, star, MPI_INFO_NULL, &request),
             MPI_SUCCESS);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    ARRIVED;
#endif
    MPI_Comm_free(&star);
    free(from), free(got), free(ones), free(at), free(bytes), free(ints);
    return check_end();
}
