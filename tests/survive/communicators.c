/* communicators.c - new communicators of the members of the first one. */
#include "survive.h"

static int create(const Where *all, Random *r, MPI_Comm *made)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Group group, some;
    int code, way = below(r, 5), parts = 1 + below(r, 3), ranks[MOST_RANKS], n = 0;
    int part = all->rank % parts;
    note("make a communicator by way %d", way);
    switch (way) {
    case 0: return MPI_Comm_dup(all->comm, made);
    case 1:
        code = MPI_Comm_idup(all->comm, made, &request);
        return code == MPI_SUCCESS ? finish(all, 1, &request) : code;
    case 2: return MPI_Comm_split(all->comm, part == 2 ? MPI_UNDEFINED : part, -all->rank, made);
    default:
        for (int i = 0; i < all->size; i++)
            if (i % parts == 0) ranks[n++] = i;
        MPI_Comm_group(all->comm, &group);
        MPI_Group_incl(group, n, ranks, &some);
        code = MPI_SUCCESS;
        if (way == 3) code = MPI_Comm_create(all->comm, some, made);
        else if (part == 0) code = MPI_Comm_create_group(all->comm, some, p.tag, made);
        MPI_Group_free(&group);
        MPI_Group_free(&some);
        return code;
    }
}

int make_communicator(Random *r)
{
    MPI_Comm made = MPI_COMM_NULL;
    if (p.n == MOST_COMMS) return 1;
    int code = create(&p.where[0], r, &made);
    if (code != MPI_SUCCESS) {
        check_code(code);
        give_up();
    }
    if (agree(&p.where[0], code == MPI_SUCCESS)) {
        enter(&p.where[p.n++], made);
        return 1;
    }
    if (code == MPI_SUCCESS && made != MPI_COMM_NULL) MPI_Comm_free(&made);
    if (code == MPI_SUCCESS) give_up();
    return 0;
}
