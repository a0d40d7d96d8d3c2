/* What can be made of an intercommunicator with children: a merged communicator, duplicates, parts of it, groups, and
 * on the merged one topologies, communicators of groups, windows and files. All of it outlives what it was made of. */
/* ranks: 1 2 4 */
/* needs: MPI_Comm_spawn MPI_Comm_get_parent */
#include "family.h"

enum { CHILDREN = 2 };

/* A sum over all processes tells that a communicator works. */
static int count(MPI_Comm comm)
{
    int one = 1, all = 0;
    CHECK_EQ(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    return all;
}

static void windows(MPI_Comm all, int rank, int size)
{
    int *mine, next = (rank + 1) % size;
    MPI_Win win;
    CHECK_EQ(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, all, &mine, &win), MPI_SUCCESS);
    *mine = -1;
    MPI_Win_fence(0, win);
    CHECK_EQ(MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK_EQ(*mine, (rank + size - 1) % size);
    MPI_Win_fence(0, win);
    int one = 1, old = -1;
    *mine = 0;
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    CHECK_EQ(MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, win), MPI_SUCCESS);
    MPI_Win_unlock(0, win);
    CHECK(old >= 0 && old < size);
    MPI_Barrier(all);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        CHECK_EQ(*mine, size);
        MPI_Win_unlock(0, win);
    }
    CHECK_EQ(MPI_Win_free(&win), MPI_SUCCESS);
}

static void files(MPI_Comm all, int rank, int size)
{
    char name[128] = "";
    int *in = malloc(size * sizeof(int));
    MPI_File file;
    if (rank == 0) snprintf(name, sizeof name, "/tmp/libimpi-processes-%ld", (long)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, all);
    CHECK_EQ(MPI_File_open(all, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file),
             MPI_SUCCESS);
    CHECK_EQ(MPI_File_write_at_all(file, rank * sizeof(int), &rank, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_sync(file);
    MPI_Barrier(all);
    CHECK_EQ(MPI_File_read_at_all(file, 0, in, size, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int r = 0; r < size; r++) CHECK_EQ(in[r], r);
    CHECK_EQ(MPI_File_close(&file), MPI_SUCCESS);
    free(in);
}

/* More duplications at once than one block of context ids is for, of two communicators that ranks enter in different
 * orders. */
static void many(MPI_Comm of[2], int members[2], int rank)
{
    enum { EACH = 40 };
    MPI_Comm copy[2][EACH];
    MPI_Request q[2 * EACH];
    for (int i = 0; i < 2 * EACH; i++) {
        int k = (i + rank) % 2;
        CHECK_EQ(MPI_Comm_idup(of[k], &copy[k][i / 2], &q[i]), MPI_SUCCESS);
    }
    MPI_Barrier(of[1]);
    CHECK_EQ(MPI_Waitall(2 * EACH, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < EACH; i++) {
            if (i % 13 == 0) CHECK_EQ(count(copy[k][i]), members[k]);
            CHECK_EQ(MPI_Comm_free(&copy[k][i]), MPI_SUCCESS);
        }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm parent = family_parent(), inter = parent, dup, again, part, all, some, cart;
    MPI_Group ours, theirs, both, common;
    int is_child = parent != MPI_COMM_NULL, result, rank, size, remote, flag;
    if (!is_child) inter = family_spawn(argv[0], "child", CHILDREN, 0, MPI_COMM_WORLD);
    MPI_Comm_remote_size(inter, &remote);

    /* Groups: nobody is in both. */
    MPI_Comm_group(inter, &ours);
    MPI_Comm_remote_group(inter, &theirs);
    MPI_Group_compare(ours, theirs, &result);
    CHECK_EQ(result, MPI_UNEQUAL);
    MPI_Group_intersection(ours, theirs, &common);
    CHECK(common == MPI_GROUP_EMPTY);
    MPI_Group_union(ours, theirs, &both);
    MPI_Group_size(both, &size);
    CHECK_EQ(size, check_size + remote);

    /* Duplicates. */
    CHECK_EQ(MPI_Comm_dup(inter, &dup), MPI_SUCCESS);
    MPI_Comm_compare(inter, dup, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    family_talk(dup, 1, 5000);
    MPI_Request q;
    CHECK_EQ(MPI_Comm_idup(inter, &again, &q), MPI_SUCCESS);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK_EQ(count(again), remote);
    CHECK_EQ(MPI_Comm_free(&again), MPI_SUCCESS);

    /* Parts: one color for all, and the first of both sides. */
    CHECK_EQ(MPI_Comm_split(inter, 1, -check_rank, &part), MPI_SUCCESS);
    MPI_Comm_test_inter(part, &flag);
    CHECK(flag);
    CHECK_EQ(count(part), remote);
    CHECK_EQ(MPI_Comm_free(&part), MPI_SUCCESS);
    MPI_Group first;
    int zero = 0;
    MPI_Group_incl(ours, 1, &zero, &first);
    CHECK_EQ(MPI_Comm_create(inter, first, &part), MPI_SUCCESS);
    CHECK_EQ(part == MPI_COMM_NULL, check_rank != 0);
    if (part != MPI_COMM_NULL) {
        CHECK_EQ(count(part), 1);
        CHECK_EQ(MPI_Comm_free(&part), MPI_SUCCESS);
    }

    /* All together, children last. The others may end before it. */
    CHECK_EQ(MPI_Intercomm_merge(dup, is_child, &all), MPI_SUCCESS);
    many((MPI_Comm[2]){dup, all}, (int[2]){remote, check_size + remote}, check_rank + is_child);
    CHECK_EQ(MPI_Comm_disconnect(&dup), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_disconnect(&inter), MPI_SUCCESS);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    CHECK_EQ(size, check_size + remote);
    CHECK_EQ(rank, is_child ? remote + check_rank : check_rank);
    CHECK_EQ(count(all), size);
    MPI_Group merged;
    MPI_Comm_group(all, &merged);
    MPI_Group_compare(merged, both, &result);
    CHECK_EQ(result, is_child ? MPI_SIMILAR : MPI_IDENT);
    windows(all, rank, size);
    files(all, rank, size);

    int dims = size, periodic = 1, left, right, got = -1;
    CHECK_EQ(MPI_Cart_create(all, 1, &dims, &periodic, 1, &cart), MPI_SUCCESS);
    MPI_Cart_shift(cart, 0, 1, &left, &right);
    MPI_Sendrecv(&right, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, cart, MPI_STATUS_IGNORE);
    MPI_Comm_rank(cart, &rank);
    CHECK_EQ(got, rank);
    CHECK_EQ(MPI_Comm_free(&cart), MPI_SUCCESS);

    CHECK_EQ(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &some), MPI_SUCCESS);
    CHECK(some != MPI_COMM_NULL);
    CHECK(count(some) >= 1);
    CHECK_EQ(MPI_Comm_disconnect(&some), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_group(all, merged, 5, &some), MPI_SUCCESS);
    CHECK_EQ(count(some), size);
    CHECK_EQ(MPI_Comm_disconnect(&some), MPI_SUCCESS);
#if MPI_VERSION >= 4
    CHECK_EQ(MPI_Comm_create_from_group(merged, "all of us", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &some), MPI_SUCCESS);
    CHECK_EQ(count(some), size);
    CHECK_EQ(MPI_Comm_disconnect(&some), MPI_SUCCESS);
#endif
    MPI_Group *groups[] = {&merged, &both, &ours, &theirs, &first};
    for (int i = 0; i < 5; i++) MPI_Group_free(groups[i]);
    CHECK_EQ(MPI_Comm_disconnect(&all), MPI_SUCCESS);
    return check_end();
}
