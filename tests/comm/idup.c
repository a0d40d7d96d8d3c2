/* Nonblocking duplication: started, overtaken by other traffic, completed; the copy is a communicator of its own. */
/* needs: MPI_Comm_idup */
#include "../check.h"

/* Several at a time, overtaken by collectives and by other ways to make communicators. */
static void several(void)
{
    enum { MANY = 4 };
    MPI_Comm copy[MANY], other;
    MPI_Request request[MANY];
    for (int i = 0; i < MANY; i++) MPI_Comm_idup(MPI_COMM_WORLD, &copy[i], &request[i]);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &other);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&other);
    MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) {
        int sum = -1, mine = check_rank + i;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy[i]);
        CHECK_EQ(sum, check_size * (check_size - 1) / 2 + check_size * i);
    }
    for (int i = 0; i < MANY; i++) MPI_Comm_free(&copy[i]);
}

/* The communicator is freed while it is duplicated: the duplication keeps it. */
static void freed(void)
{
    enum { MANY = 8 };
    for (int round = 0; round < 50; round++) {
        MPI_Comm one, copy[MANY];
        MPI_Request request[MANY];
        int started = 1 + round % MANY;
        MPI_Comm_dup(MPI_COMM_WORLD, &one);
        for (int i = 0; i < started; i++) MPI_Comm_idup(one, &copy[i], &request[i]);
        CHECK_EQ(MPI_Comm_free(&one), MPI_SUCCESS);
        MPI_Comm_dup(MPI_COMM_WORLD, &one); /* a new one may have what is left of it */
        CHECK_EQ(MPI_Waitall(started, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        for (int i = 0; i < started; i++) {
            int sum = -1;
            MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, copy[i]);
            CHECK_EQ(sum, check_size * (check_size - 1) / 2);
            MPI_Comm_free(&copy[i]);
        }
        MPI_Comm_free(&one);
    }
}

static int raised, deleted;
static void handler(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; raised++; }
static int drop(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value, (void)state;
    deleted++;
    return MPI_SUCCESS;
}

/* Before the request is done, the handle can be given what stays with this process, and communication is refused. */
static void early(void)
{
    MPI_Comm copy;
    MPI_Request request;
    MPI_Errhandler h, got;
    char name[MPI_MAX_OBJECT_NAME] = "";
    int key, spare, n, flag = -1, before = raised;
    void *value = NULL;
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &key, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &spare, NULL);
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    CHECK_EQ(MPI_Comm_set_errhandler(copy, h), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_set_name(copy, "early"), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_set_attr(copy, key, &key), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_set_attr(copy, spare, &spare), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_delete_attr(copy, spare), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_get_attr(copy, key, &value, &flag), MPI_SUCCESS);
    CHECK(flag && value == &key);
    CHECK_EQ(MPI_Comm_get_attr(copy, MPI_TAG_UB, &value, &flag), MPI_SUCCESS);
    CHECK(flag && *(int *)value >= 32767);
    CHECK_EQ(MPI_Comm_get_errhandler(copy, &got), MPI_SUCCESS);
    CHECK(got == h);
    MPI_Errhandler_free(&got);
    CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);

    MPI_Comm_get_name(copy, name, &n);
    CHECK(!strcmp(name, "early"));
    CHECK_EQ(MPI_Comm_get_attr(copy, key, &value, &flag), MPI_SUCCESS);
    CHECK(flag && value == &key);
    CHECK_EQ(MPI_Comm_get_attr(copy, spare, &value, &flag), MPI_SUCCESS);
    CHECK(!flag);
    CHECK_EQ(raised, before);
    CHECK_CLASS(MPI_Send(NULL, -1, MPI_INT, 0, 0, copy), MPI_ERR_COUNT);
    CHECK_EQ(raised, before + 1);
    MPI_Barrier(copy);
    deleted = 0;
    MPI_Comm_free(&copy);
    CHECK_EQ(deleted, 1);
    MPI_Errhandler_free(&h);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&spare);
}

/* All but the first rank wait until that has looked: so the duplication cannot be complete. */
static void refused(void)
{
    MPI_Comm copy;
    MPI_Request request;
    int size = -1;
    if (check_size < 2 || !check_library("libimpi")) return;
    if (check_rank > 0) MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
        MPI_Comm lost = copy;
        CHECK_CLASS(MPI_Comm_size(copy, &size), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Barrier(copy), MPI_ERR_COMM);
        CHECK_CLASS(MPI_Comm_free(&lost), MPI_ERR_COMM);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    }
    CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Comm_size(copy, &size);
    CHECK_EQ(size, check_size);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    MPI_Comm copy;
    MPI_Request request;
    check_start(&argc, &argv);
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, in = -1,
        result = -1;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Sendrecv(&check_rank, 1, MPI_INT, next, 0, &in, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(in, previous);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    several();
    freed();
    early();
    refused();
    return check_end();
}
