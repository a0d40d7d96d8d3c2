/* Examples 5.8 to 5.14 of "MPI: The Complete Reference": a broadcast that a library makes of messages, how it keeps
 * them apart from those of its caller and of its other calls, and groups that talk to each other.
 *
 * ranks: 4
 */
#include "../check.h"

/* Down a tree that is built on the way: a process gets the number of leaves below it, halves them, and makes the first
 * of the second half the root of that half. Nobody knows its parent. */
static void tree(int *buff, int count, int isroot, int tag, MPI_Comm comm)
{
    int size, rank, leaves;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    leaves = size - 1;
    if (!isroot) {
        MPI_Recv(&leaves, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE);
        MPI_Recv(buff, count, MPI_INT, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE);
    }
    while (leaves > 0) {
        int child = (rank + (leaves + 1) / 2) % size, below = leaves / 2;
        MPI_Send(&below, 1, MPI_INT, child, tag, comm);
        MPI_Send(buff, count, MPI_INT, child, tag, comm);
        leaves -= below + 1;
    }
}

/* On the caller's communicator (5.8). */
static void mcast_plain(int *buff, int count, int isroot, MPI_Comm comm) { tree(buff, count, isroot, 0, comm); }

/* On a duplicate (5.11). */
static void mcast_dup(int *buff, int count, int isroot, MPI_Comm comm)
{
    MPI_Comm private;
    MPI_Comm_dup(comm, &private);
    tree(buff, count, isroot, 0, private);
    MPI_Comm_free(&private);
}

/* What is kept with a communicator (5.12, 5.13). */
typedef struct {
    MPI_Comm private;
    int calls;
} kept;

static int key = MPI_KEYVAL_INVALID, deleted;

static int forget(MPI_Comm comm, int keyval, void *value, void *extra)
{
    kept *k = value;
    CHECK(comm != MPI_COMM_NULL && keyval == key && extra == &deleted);
    MPI_Comm_free(&k->private);
    free(k);
    deleted++;
    return MPI_SUCCESS;
}

static kept *of(MPI_Comm comm)
{
    kept *k = NULL;
    int flag = 0;
    MPI_Comm_get_attr(comm, key, &k, &flag);
    if (flag) return k;
    k = malloc(sizeof *k);
    k->calls = 0;
    MPI_Comm_dup(comm, &k->private);
    MPI_Comm_set_attr(comm, key, k);
    return k;
}

/* On a duplicate that the first call makes (5.12). */
static void mcast_kept(int *buff, int count, int isroot, MPI_Comm comm)
{
    tree(buff, count, isroot, 0, of(comm)->private);
}

/* There, each call with a tag of its own (5.13). */
static void mcast_tags(int *buff, int count, int isroot, MPI_Comm comm)
{
    kept *k = of(comm);
    tree(buff, count, isroot, k->calls++, k->private);
}

typedef void mcast(int *buff, int count, int isroot, MPI_Comm comm);

static void cast(mcast *f, int root, int what, MPI_Comm comm)
{
    enum { N = 500 };
    int buff[N];
    for (int i = 0; i < N; i++) buff[i] = check_rank == root ? what + i : -1;
    f(buff, N, check_rank == root, comm);
    for (int i = 0; i < N; i++) CHECK_EQ(buff[i], what + i);
}

static void example_5_8(void)
{
    for (int root = 0; root < check_size; root++) {
        cast(mcast_plain, root, 580 + root, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 2 has sent to rank 1, which receives from any source before the broadcast (5.9), or after it (5.10): neither
 * gets what belongs to the other. */
static void around(mcast *f, int before)
{
    int i = check_rank == 2 ? 59 : -1;
    if (check_rank == 2) MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (!before) cast(f, 0, 5900, MPI_COMM_WORLD);
    if (check_rank == 1) {
        MPI_Status status;
        MPI_Recv(&i, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        CHECK_EQ(status.MPI_SOURCE, 2);
        CHECK_EQ(i, 59);
    }
    if (before) cast(f, 0, 5900, MPI_COMM_WORLD);
}

static void example_5_9(mcast *f) { around(f, 1); }
static void example_5_10(mcast *f) { around(f, 0); }

static void example_5_11(void)
{
    example_5_9(mcast_dup);
    example_5_10(mcast_dup);
}

/* The duplicate is made once for each communicator, and ends with it. A duplicate of the communicator has none. */
static void example_5_12(void)
{
    MPI_Comm comm, other;
    kept *k = NULL;
    int flag = -1;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, &deleted);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    deleted = 0;
    for (int i = 0; i < 5; i++) cast(mcast_kept, 0, 5120 + i, comm);
    k = of(comm);
    MPI_Comm_dup(comm, &other);
    MPI_Comm_get_attr(other, key, &k, &flag);
    CHECK_EQ(flag, 0);
    MPI_Comm_free(&other);
    CHECK_EQ(deleted, 0);
    MPI_Comm_free(&comm);
    CHECK_EQ(deleted, 1);
}

/* Calls with different roots follow each other at once: a message of a later one is not taken for one of an earlier. */
static void example_5_13(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 40; i++) cast(mcast_tags, i * (check_size - 1) % check_size, 5130 + i, comm);
    CHECK_EQ(of(comm)->calls, 40);
    MPI_Comm_free(&comm);
    CHECK_EQ(deleted, 2);
    MPI_Comm_free_keyval(&key);
    CHECK_EQ(key, MPI_KEYVAL_INVALID);
}

/* What another group's members tell: their ranks in the world, of which every third is in the group. */
static void hears(MPI_Comm inter, int group)
{
    int flag = 0, size = -1, *ranks;
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_remote_size(inter, &size);
    CHECK(flag);
    CHECK_EQ(size, (check_size - group + 2) / 3);
    ranks = malloc(sizeof *ranks * (size_t)size);
    MPI_Allgather(&check_rank, 1, MPI_INT, ranks, 1, MPI_INT, inter);
    for (int i = 0; i < size; i++) CHECK_EQ(ranks[i], group + 3 * i);
    free(ranks);
}

/* Three groups in a line: the one in the middle has two intercommunicators. */
static void example_5_14(void)
{
    int group = check_rank % 3;
    MPI_Comm mine, first, second;
    MPI_Comm_split(MPI_COMM_WORLD, group, check_rank, &mine);
    if (group == 0) {
        MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1, 1, &first);
        hears(first, 1);
    } else if (group == 1) {
        MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 0, 1, &first);
        MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 2, 12, &second);
        hears(first, 0);
        hears(second, 2);
        MPI_Comm_free(&second);
    } else {
        MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1, 12, &first);
        hears(first, 1);
    }
    MPI_Comm_free(&first);
    MPI_Comm_free(&mine);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    example_5_8();
    example_5_11(); /* with 5.9 and 5.10 */
    example_5_12();
    example_5_13();
    example_5_14();
    return check_end();
}
