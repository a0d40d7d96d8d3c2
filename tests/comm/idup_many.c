/* Any number of nonblocking duplications at once, of one communicator and of several, interleaved with other
 * collectives, completed in any order. Each copy is a communicator of its own. */
/* needs: MPI_Comm_idup_with_info */
/* ranks: 2 3 4 8 */
#include "../check.h"

enum { MANY = 120, BESIDE = 4 };

static MPI_Comm copy[MANY];
static MPI_Request request[MANY], beside[MANY];
static int sums[MANY];

static void complete(check_stream *any, MPI_Request *q, int n, int way)
{
    static int order[MANY];
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = check_below(any, i + 1), k = order[i];
        order[i] = order[j], order[j] = k;
    }
    if (way == 0) CHECK_EQ(MPI_Waitall(n, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < n && way == 1; i++) CHECK_EQ(MPI_Wait(&q[order[i]], MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int left = n, at; left > 0 && way == 2; left--) {
        CHECK_EQ(MPI_Waitany(n, q, &at, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK(at != MPI_UNDEFINED);
    }
    for (int i = 0; i < n; i++) CHECK(q[i] == MPI_REQUEST_NULL);
}

/* The copies have the members of the original, and keep their messages apart. */
static void use(int n, int first, int peers, int others)
{
    static int in[MANY];
    for (int i = 0; i < n; i++) {
        int r, next, remote;
        MPI_Comm_rank(copy[i], &r);
        MPI_Comm_test_inter(copy[i], &remote);
        next = remote ? r % others : (r + 1) % peers;
        int mine = first + i, previous = remote ? r % others : (r + peers - 1) % peers;
        in[i] = -1;
        if (remote && peers != others) continue;
        MPI_Sendrecv(&mine, 1, MPI_INT, next, 3, &in[i], 1, MPI_INT, previous, 3, copy[i], MPI_STATUS_IGNORE);
        CHECK_EQ(in[i], mine);
    }
    for (int i = n - 1; i >= 0; i--) {
        int mine = first + i, sum = -1, remote;
        MPI_Comm_test_inter(copy[i], &remote);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy[i]);
        CHECK_EQ(sum, mine * (remote ? others : peers));
    }
    for (int i = 0; i < n; i++) CHECK_EQ(MPI_Comm_free(&copy[i]), MPI_SUCCESS);
}

/* All of one communicator, with other collectives of it in between. */
static void of_one(MPI_Comm comm, int n, int way, int peers, int others)
{
    check_stream any = check_seed(check_rank + 10 * way); /* ranks complete them in different orders */
    int one = 1, remote;
    MPI_Comm_test_inter(comm, &remote);
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0) MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &copy[i], &request[i]);
        else MPI_Comm_idup(comm, &copy[i], &request[i]);
        if (i % 7 == way) MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, comm, &beside[i]);
        else MPI_Ibarrier(comm, &beside[i]);
        if (i % 40 == 20) MPI_Barrier(comm);
        if (i % 50 == 30) {
            MPI_Comm d;
            int sum = 0;
            MPI_Comm_dup(comm, &d);
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, d);
            CHECK_EQ(sum, remote ? others : peers);
            MPI_Comm_free(&d);
        }
    }
    complete(&any, request, n, way);
    CHECK_EQ(MPI_Waitall(n, beside, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = way; i < n; i += 7) CHECK_EQ(sums[i], remote ? others : peers);
    use(n, 1000 * way, peers, others);
}

/* Of several communicators at the same time, which some members enter in a different order, and of copies. */
static void of_several(void)
{
    enum { EACH = MANY / BESIDE };
    check_stream any = check_seed(check_rank);
    MPI_Comm parent[BESIDE];
    for (int p = 0; p < BESIDE; p++) MPI_Comm_dup(MPI_COMM_WORLD, &parent[p]);
    for (int i = 0; i < EACH; i++)
        for (int k = 0; k < BESIDE; k++) {
            int p = (k + check_rank) % BESIDE;
            MPI_Comm_idup(parent[p], &copy[p * EACH + i], &request[p * EACH + i]);
        }
    for (int p = 0; p < BESIDE; p++) MPI_Comm_free(&parent[p]); /* the duplications keep them */
    complete(&any, request, BESIDE * EACH, 1);
    use(BESIDE * EACH, 5, check_size, 0);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm fresh, half, inter;
    for (int way = 0; way < 3; way++) of_one(MPI_COMM_WORLD, MANY, way, check_size, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    of_one(fresh, MANY, 1, check_size, 0);
    MPI_Comm_free(&fresh);
    of_several();
    int side = check_rank % 2, size, others;
    MPI_Comm_split(MPI_COMM_WORLD, side, check_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, 9, &inter);
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &others);
    for (int way = 0; way < 2; way++) of_one(inter, MANY / 4, way, size, others);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return check_end();
}
