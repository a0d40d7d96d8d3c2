/* Communicators made and freed tens of thousands of times leave nothing behind: no memory, no handle, no id. */
/* ranks: 1 2 3 4 */
#include "../check.h"

static int spans;

static long resident(void)
{
    long pages = 0, total = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &total, &pages) != 2) pages = -1;
    if (f) fclose(f);
    return pages * 4;
}

static MPI_Comm inter = MPI_COMM_NULL, half = MPI_COMM_NULL;

static void cycle(int i)
{
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Group g, h;
    switch (i % 8) {
    case 0: MPI_Comm_dup(MPI_COMM_WORLD, &c); break;
    case 1: MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &c); break;
    case 2:
    case 3:
        MPI_Comm_group(MPI_COMM_WORLD, &g);
        MPI_Group_incl(g, 1, (int[]){0}, &h);
        if (i % 8 == 2) MPI_Comm_create(MPI_COMM_WORLD, h, &c);
        else if (check_rank == 0) MPI_Comm_create_group(MPI_COMM_WORLD, h, 1, &c);
        MPI_Group_free(&g);
        MPI_Group_free(&h);
        break;
    case 4: MPI_Comm_dup(half, &c); break;
    case 5: if (inter != MPI_COMM_NULL) MPI_Comm_dup(inter, &c); break;
    case 6: if (inter != MPI_COMM_NULL) MPI_Intercomm_merge(inter, check_rank % 2, &c); break;
    case 7: if (inter != MPI_COMM_NULL) MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(check_rank % 2), 3, &c); break;
    }
    if (c != MPI_COMM_NULL) MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int *clients, flag;
    if (check_library("libimpi")) {
        MPI_Comm_get_attr(MPI_COMM_WORLD, 65537, &clients, &flag); /* IMPI_CLIENT_SIZE */
        spans = flag && *clients > 1;
    }
    /* Between clients every one of them is a conversation; it is memory that is looked at there. */
    int cycles = spans || check_size > 3 ? 800 : check_size > 2 ? 8000 : 40000;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half);
    if (check_size > 1) MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(check_rank % 2), 3, &inter);
    for (int i = 0; i < cycles / 2; i++) cycle(i); /* the collector has run by then */
    /* What leaks grows each time; beside load the collector may be late once. */
    long before, after = resident();
    for (int time = 0, grown = 1; grown && time < 4; time++) {
        before = after;
        for (int i = 0; i < cycles; i++) cycle(i);
        after = resident();
        grown = after - before >= 8 << 10;
        MPI_Allreduce(MPI_IN_PLACE, &grown, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    CHECK_SAY(after - before < 8 << 10, "%ld KiB before, %ld after", before, after);
    if (inter != MPI_COMM_NULL) MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return check_end();
}
