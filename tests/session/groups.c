/* Communicators of groups: of parts, at the same time, again and again under one tag; intercommunicators of groups. */
/* needs: MPI_Comm_create_from_group MPI_Intercomm_create_from_groups */
#include "../check.h"

static MPI_Comm from(MPI_Group g, const char *tag)
{
    MPI_Comm c = MPI_COMM_NULL;
    CHECK_EQ(MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    return c;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Group world, half, other, pair;
    MPI_Comm_group(MPI_COMM_WORLD, &world);

    /* The same tag over and over: nothing of one call gets into the next. */
    for (int i = 0; i < 50; i++) {
        MPI_Comm c = from(world, "again");
        int word = check_rank == i % check_size ? i : -1;
        MPI_Bcast(&word, 1, MPI_INT, i % check_size, c);
        CHECK_EQ(word, i);
        MPI_Comm_free(&c);
    }

    /* Halves at the same time, under the same tag; each has its own. */
    int low = (check_size + 1) / 2, mine = check_rank < low;
    int ranges[2][3] = {{0, low - 1, 1}, {low, check_size - 1, 1}};
    MPI_Group_range_incl(world, 1, &ranges[!mine], &half);
    MPI_Comm h = from(half, "half");
    int size, sum = 0, one = 1;
    MPI_Comm_size(h, &size);
    CHECK_EQ(size, mine ? low : check_size - low);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, h);
    CHECK_EQ(sum, size);

    /* Every pair of neighbors, of which each process is in two. */
    if (check_size > 2) {
        MPI_Comm links[2];
        for (int k = 0; k < 2; k++) {
            int left = (check_rank - (check_rank + k) % 2 + check_size) % check_size,
                ranks[2] = {left, (left + 1) % check_size};
            if (check_size % 2 && (left == check_size - 1 || ranks[1] == 0)) {
                links[k] = MPI_COMM_NULL;
                continue;
            }
            MPI_Group_incl(world, 2, ranks, &pair);
            links[k] = from(pair, "pair");
            MPI_Group_free(&pair);
            int max = -1;
            MPI_Allreduce(&check_rank, &max, 1, MPI_INT, MPI_MAX, links[k]);
            CHECK_EQ(max, ranks[0] > ranks[1] ? ranks[0] : ranks[1]);
        }
        for (int k = 0; k < 2; k++)
            if (links[k] != MPI_COMM_NULL) MPI_Comm_free(&links[k]);
    }

    MPI_Comm c;
    CHECK_EQ(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "nobody", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    CHECK(c == MPI_COMM_NULL);
    if (check_size > 1) {
        MPI_Group_range_incl(world, 1, &ranges[mine], &other);
        CHECK_CLASS(MPI_Comm_create_from_group(other, "not mine", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_GROUP);

        /* Leaders are not the ranks 0; only they know the other group. */
        int leader = mine ? low - 1 : 0, there = mine ? 0 : low - 1, rank, remote, inter;
        MPI_Group_rank(half, &rank);
        for (int i = 0; i < 10; i++) {
            MPI_Comm ic;
            CHECK_EQ(MPI_Intercomm_create_from_groups(half, leader, rank == leader ? other : MPI_GROUP_NULL, there,
                "both", MPI_INFO_NULL, MPI_ERRORS_RETURN, &ic), MPI_SUCCESS);
            MPI_Comm_test_inter(ic, &inter);
            MPI_Comm_remote_size(ic, &remote);
            CHECK_EQ(inter, 1);
            CHECK_EQ(remote, check_size - size);
            MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, ic);
            CHECK_EQ(sum, mine ? (check_size - 1) * check_size / 2 - low * (low - 1) / 2 : low * (low - 1) / 2);
            MPI_Comm d;
            CHECK_EQ(MPI_Comm_dup(ic, &d), MPI_SUCCESS);
            CHECK_EQ(MPI_Barrier(d), MPI_SUCCESS);
            MPI_Comm_free(&d);
            MPI_Comm_free(&ic);
        }
        MPI_Group_free(&other);
    }
    MPI_Comm_free(&h);
    MPI_Group_free(&half);
    MPI_Group_free(&world);
    return check_end();
}
