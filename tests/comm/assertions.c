/* The assertions of the standard are taken from an info, kept by their communicator only, and reported; other keys
 * are ignored. */
/* ranks: 1 2 4 8 */
#include "../check.h"

enum { KEYS = 4, MANY = 500 };
static const char *const keys[KEYS] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
                                       "mpi_assert_allow_overtaking"};

static void expect(MPI_Comm comm, const char *want)
{
    MPI_Info info;
    CHECK_EQ(MPI_Comm_get_info(comm, &info), MPI_SUCCESS);
    for (int k = 0; k < KEYS; k++) {
        char value[MPI_MAX_INFO_VAL];
        int flag = 0, n = sizeof value;
        MPI_Info_get_string(info, keys[k], &n, value, &flag);
        CHECK_SAY(flag, "%s is not reported", keys[k]);
        CHECK_SAY(!strcmp(value, want[k] == 't' ? "true" : "false"), "%s is %s, not %c", keys[k], value, want[k]);
    }
    char value[16];
    int flag = 1, n = sizeof value;
    MPI_Info_get_string(info, "no_such_hint", &n, value, &flag);
    CHECK_EQ(flag, 0);
    MPI_Info_free(&info);
}

/* A program that keeps its promises sees no difference: receives with sources and tags, posted in reverse. */
static void exchange(MPI_Comm comm)
{
    MPI_Request r[MANY];
    int in[MANY], next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < MANY; i++) MPI_Irecv(&in[i], 1, MPI_INT, previous, MANY - 1 - i, comm, &r[i]);
    for (int i = 0; i < MANY; i++) MPI_Send(&i, 1, MPI_INT, next, i, comm);
    MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) CHECK_EQ(in[i], MANY - 1 - i);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm a, b, c;
    MPI_Request request;
    MPI_Info info;
    expect(MPI_COMM_WORLD, "ffff");
    MPI_Info_create(&info);
    MPI_Info_set(info, keys[0], "true");
    MPI_Info_set(info, keys[2], "true");
    MPI_Info_set(info, keys[3], "perhaps");
    MPI_Info_set(info, "no_such_hint", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &a);
    expect(a, "tftf");
    MPI_Comm_dup(a, &b);
    expect(b, "ffff");
    MPI_Comm_idup_with_info(a, info, &c, &request);
    MPI_Info_set(info, keys[0], "false"); /* the info is read at the call */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(c, "tftf");
    exchange(a);
    exchange(c);

    /* What an info does not mention stays. */
    MPI_Info_delete(info, keys[2]);
    MPI_Info_set(info, keys[1], "true");
    CHECK_EQ(MPI_Comm_set_info(a, info), MPI_SUCCESS);
    expect(a, "fttf");
    expect(c, "tftf");
    exchange(a);
    MPI_Info_free(&info);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
    MPI_Comm_free(&c);
    return check_end();
}
