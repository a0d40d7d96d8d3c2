/* IMPI's attributes say of every communicator, however it was made, how many clients and hosts its processes belong
 * to and which of them the caller's is, in the order of their first ranks in MPI_COMM_WORLD (IMPI 0.0, 2.5). They
 * cannot be set. */
#include "../check.h"

#ifdef IMPI_CLIENT_SIZE
enum { CLIENTS, HOSTS };
static int home[2][256]; /* of each rank of the world */

static int value(MPI_Comm comm, int key)
{
    int *v = NULL, flag = 0;
    CHECK_EQ(MPI_Comm_get_attr(comm, key, &v, &flag), MPI_SUCCESS);
    CHECK(flag && v);
    return v ? *v : -1;
}

/* How many homes the processes of a group have, and how many of these come before that of rank me. */
static void counted(MPI_Group all, int what, int me, int *size, int *color)
{
    MPI_Group world;
    int n, own[256], ranks[256], there[256] = {0};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(all, &n);
    for (int i = 0; i < n; i++) own[i] = i;
    MPI_Group_translate_ranks(all, n, own, world, ranks);
    for (int i = 0; i < n; i++) there[home[what][ranks[i]]] = 1;
    *size = *color = 0;
    for (int h = 0; h < 256; h++) {
        *size += there[h];
        if (h < home[what][me]) *color += there[h];
    }
    MPI_Group_free(&world);
}

static void check(const char *what, MPI_Comm comm)
{
    static const int keys[2][2] = {{IMPI_CLIENT_SIZE, IMPI_CLIENT_COLOR}, {IMPI_HOST_SIZE, IMPI_HOST_COLOR}};
    MPI_Group mine, theirs, all;
    int inter, size, color;
    if (comm == MPI_COMM_NULL) return;
    MPI_Comm_group(comm, &mine);
    MPI_Comm_test_inter(comm, &inter);
    if (inter) {
        MPI_Comm_remote_group(comm, &theirs);
        MPI_Group_union(mine, theirs, &all);
        MPI_Group_free(&theirs);
    } else {
        MPI_Group_union(mine, mine, &all);
    }
    for (int w = CLIENTS; w <= HOSTS; w++) {
        counted(all, w, check_rank, &size, &color);
        for (int twice = 0; twice < 2; twice++) {
            CHECK_SAY(value(comm, keys[w][0]) == size, "%s: size %d, want %d", what, value(comm, keys[w][0]), size);
            CHECK_SAY(value(comm, keys[w][1]) == color, "%s: color %d, want %d", what, value(comm, keys[w][1]), color);
        }
    }
    MPI_Group_free(&mine);
    MPI_Group_free(&all);
}

static void check_and_free(const char *what, MPI_Comm comm)
{
    check(what, comm);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm made, inter, half, kept;
    MPI_Group world, part;
    MPI_Request request;
    int color = value(MPI_COMM_WORLD, IMPI_CLIENT_COLOR), last = check_size - 1, zero = 0,
        range[1][3] = {{check_size / 2, last, 1}};
    MPI_Allgather(&color, 1, MPI_INT, home[CLIENTS], 1, MPI_INT, MPI_COMM_WORLD);
    color = value(MPI_COMM_WORLD, IMPI_HOST_COLOR);
    MPI_Allgather(&color, 1, MPI_INT, home[HOSTS], 1, MPI_INT, MPI_COMM_WORLD);
    check("MPI_COMM_WORLD", MPI_COMM_WORLD);
    CHECK_EQ(home[CLIENTS][0], 0); /* numbered in the order of the ranks */
    for (int r = 1; r < check_size; r++) {
        CHECK(home[CLIENTS][r] >= home[CLIENTS][r - 1] && home[CLIENTS][r] <= home[CLIENTS][r - 1] + 1);
    }
    check("MPI_COMM_SELF", MPI_COMM_SELF);
    CHECK(value(MPI_COMM_SELF, IMPI_CLIENT_SIZE) == 1 && value(MPI_COMM_SELF, IMPI_CLIENT_COLOR) == 0);

    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    check_and_free("dup", made);
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_and_free("idup", made);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &made); /* in the opposite order */
    check_and_free("split", made);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank == last ? 0 : MPI_UNDEFINED, 0, &made);
    check_and_free("split of one", made);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &part);
    MPI_Comm_create(MPI_COMM_WORLD, part, &made);
    check_and_free("create", made);
    if (check_rank >= check_size / 2) {
        MPI_Comm_create_group(MPI_COMM_WORLD, part, 4, &made);
        check_and_free("create_group", made);
        MPI_Comm_create_from_group(part, "attributes", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
        check_and_free("create_from_group", made);
    }
    MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &zero, 1, &made);
    check_and_free("grid", made);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    check_and_free("split_type", made);

    if (check_size > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half);
        check("half", half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(check_rank % 2), 7, &inter);
        check("intercommunicator", inter);
        MPI_Comm_dup(inter, &made);
        check_and_free("its duplicate", made);
        MPI_Intercomm_merge(inter, check_rank % 2, &made);
        check_and_free("merged", made);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }

    /* Predefined attributes are nobody's to set or to delete, and every communicator's. */
    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    MPI_Comm_set_errhandler(kept, MPI_ERRORS_RETURN);
    for (int key = IMPI_CLIENT_SIZE; key <= IMPI_HOST_COLOR; key++) {
        CHECK_CLASS(MPI_Comm_set_attr(kept, key, &zero), MPI_ERR_KEYVAL);
        CHECK_CLASS(MPI_Comm_delete_attr(kept, key), MPI_ERR_KEYVAL);
    }
    check("after that", kept);
    MPI_Comm_free(&kept);
    MPI_Group_free(&part);
    MPI_Group_free(&world);
    return check_end();
}
#else
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_end();
}
#endif
