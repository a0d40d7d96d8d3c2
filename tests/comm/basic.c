/* Communicators: compare, dup, split, create, free; ranks and sizes come out as asked. */
#include "../check.h"

static int compare(MPI_Comm a, MPI_Comm b)
{
    int result = -1;
    CHECK_EQ(MPI_Comm_compare(a, b, &result), MPI_SUCCESS);
    return result;
}

static void is(MPI_Comm comm, int rank, int size)
{
    int r = -1, n = -1, inter = -1;
    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &n);
    CHECK_EQ(r, rank);
    CHECK_EQ(n, size);
    MPI_Comm_test_inter(comm, &inter);
    CHECK_EQ(inter, 0);
}

static void dup(void)
{
    MPI_Comm a, b;
    CHECK_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &a), MPI_SUCCESS);
    is(a, check_rank, check_size);
    CHECK_EQ(compare(MPI_COMM_WORLD, MPI_COMM_WORLD), MPI_IDENT);
    CHECK_EQ(compare(MPI_COMM_WORLD, a), MPI_CONGRUENT);
    if (check_size > 1) CHECK_EQ(compare(MPI_COMM_WORLD, MPI_COMM_SELF), MPI_UNEQUAL);
    MPI_Comm_dup(a, &b);
    is(b, check_rank, check_size);
    CHECK_EQ(MPI_Comm_free(&a), MPI_SUCCESS);
    CHECK(a == MPI_COMM_NULL);
    MPI_Barrier(b); /* lives on without its parent */
    MPI_Comm_free(&b);
    MPI_Comm_dup_with_info(MPI_COMM_SELF, MPI_INFO_NULL, &a);
    is(a, 0, 1);
    MPI_Comm_free(&a);
}

static void split(void)
{
    MPI_Comm c;
    /* Two colors, keys in reverse. */
    int color = check_rank % 2, members = (check_size + 1 - color) / 2;
    MPI_Comm_split(MPI_COMM_WORLD, color, check_size - check_rank, &c);
    is(c, members - 1 - check_rank / 2, members);
    MPI_Comm_free(&c);
    /* Equal keys: the order of the parent. Negative keys come first. */
    MPI_Comm_split(MPI_COMM_WORLD, 7, check_rank == check_size - 1 ? -5 : 3, &c);
    is(c, (check_rank + 1) % check_size, check_size);
    CHECK_EQ(compare(MPI_COMM_WORLD, c), check_size > 1 ? MPI_SIMILAR : MPI_CONGRUENT);
    MPI_Comm_free(&c);
    /* Some take no part. */
    MPI_Comm_split(MPI_COMM_WORLD, check_rank ? MPI_UNDEFINED : 0, 0, &c);
    if (check_rank) CHECK(c == MPI_COMM_NULL);
    else {
        is(c, 0, 1);
        MPI_Comm_free(&c);
    }
    /* Everybody alone, in large colors. */
    MPI_Comm_split(MPI_COMM_WORLD, 1000000000 + check_rank, 0, &c);
    is(c, 0, 1);
    MPI_Comm_free(&c);
    /* Ranks that share memory: at least oneself. */
    int size = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, check_rank, MPI_INFO_NULL, &c);
    MPI_Comm_size(c, &size);
    CHECK(size >= 1 && size <= check_size);
    MPI_Comm_free(&c);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &c);
    CHECK(c == MPI_COMM_NULL);
}

static void create(void)
{
    MPI_Group world, odd;
    MPI_Comm c, half;
    int range[1][3] = {{check_size - 1, 0, -2}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &odd); /* the last, the last but two, ... */
    int position = check_size - 1 - check_rank;
    MPI_Comm_create(MPI_COMM_WORLD, odd, &c);
    if (position % 2 == 0) is(c, position / 2, (check_size + 1) / 2);
    else CHECK(c == MPI_COMM_NULL);
    /* Only members need call create_group. */
    if (position % 2 == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, odd, 5, &half);
        is(half, position / 2, (check_size + 1) / 2);
        CHECK_EQ(compare(c, half), MPI_CONGRUENT);
        MPI_Barrier(half);
        MPI_Comm_free(&half);
        MPI_Comm_free(&c);
    }
    MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &c);
    CHECK(c == MPI_COMM_NULL);
    MPI_Group_free(&world);
    MPI_Group_free(&odd);
}

/* A communicator freed with a message under way: the message arrives. */
static void freed_early(void)
{
    MPI_Comm c;
    MPI_Request request[2];
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, in = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Irecv(&in, 1, MPI_INT, previous, 0, c, &request[0]);
    MPI_Isend(&check_rank, 1, MPI_INT, next, 0, c, &request[1]);
    MPI_Comm_free(&c);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    CHECK_EQ(in, previous);
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int n = -1;
    MPI_Comm c;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &n);
    CHECK(!strcmp(name, "MPI_COMM_WORLD"));
    CHECK_EQ(n, 14);
    MPI_Comm_get_name(MPI_COMM_SELF, name, &n);
    CHECK(!strcmp(name, "MPI_COMM_SELF"));
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_get_name(c, name, &n);
    CHECK(n == 0 && name[0] == 0);
    MPI_Comm_set_name(c, "ocean");
    MPI_Comm_get_name(c, name, &n);
    CHECK(!strcmp(name, "ocean"));
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    is(MPI_COMM_SELF, 0, 1);
    dup();
    split();
    create();
    freed_early();
    names();
    return check_end();
}
