/* Ranks of several machines that take turns: says of each rank which others share its memory, and checks messages of
 * all lengths between all, collective operations, and memory that ranks of a machine share. An argument is the number
 * of ranks of each client, if there are several. */
#include "../../check.h"

enum { LONG = 300000 };
static unsigned char out[LONG], in[LONG];

static void exchange(int rank, int size)
{
    static const int lengths[] = {0, 8, 100, 5000, LONG};
    for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int n = lengths[k];
        for (int d = 0; d < size; d++) {
            int to = (rank + d) % size, from = (rank + size - d) % size;
            MPI_Status status;
            memset(out, 1 + rank + 16 * to, (size_t)n);
            MPI_Sendrecv(out, n, MPI_BYTE, to, d, in, LONG, MPI_BYTE, MPI_ANY_SOURCE, d, MPI_COMM_WORLD, &status);
            CHECK_EQ(status.MPI_SOURCE, from);
            for (int i = 0; i < n; i++) CHECK_EQ(in[i], (unsigned char)(1 + from + 16 * rank));
        }
    }
}

static void collectives(MPI_Comm comm)
{
    int rank, size, all[64];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (int i = 0; i < size; i++) CHECK_EQ(all[i], i);
    for (int root = 0; root < size; root++) {
        int sum = -1, word = rank == root ? 1000 + root : 0;
        MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, comm);
        if (rank == root) CHECK_EQ(sum, size * (size - 1) / 2);
        MPI_Bcast(&word, 1, MPI_INT, root, comm);
        CHECK_EQ(word, 1000 + root);
    }
    int before = -1;
    MPI_Scan(&rank, &before, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(before, rank * (rank + 1) / 2);
    for (int i = 0; i < 200; i++) MPI_Barrier(comm);
}

static void share(MPI_Comm near)
{
    int rank, size, *mine, *theirs, unit;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Comm_rank(near, &rank);
    MPI_Comm_size(near, &size);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, near, &mine, &win);
    MPI_Win_fence(0, win);
    *mine = 70 + rank;
    MPI_Win_fence(0, win);
    for (int i = 0; i < size; i++) {
        MPI_Win_shared_query(win, i, &bytes, &unit, &theirs);
        CHECK_EQ(*theirs, 70 + i);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Comm near;
    int rank, size, local, number, members[64], *appnum, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank = rank, check_size = size;
    const char *said = getenv("IMPI_RANK");
    int each = argc > 1 ? atoi(argv[1]) : size;
    CHECK(said && atoi(said) == rank % each);
    said = getenv("PMI_RANK");
    CHECK(said && atoi(said) == rank % each);
    exchange(rank, size);
    collectives(MPI_COMM_WORLD);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_rank(near, &local);
    MPI_Comm_size(near, &number);
    said = getenv("IMPI_LOCAL_RANK");
    CHECK(said && atoi(said) == local);
    said = getenv("IMPI_LOCAL_SIZE");
    CHECK(said && atoi(said) == number);
    MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, near);
    collectives(near);
    share(near);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
    CHECK(flag);
    char line[512];
    int n = sprintf(line, "rank %d of program %d is with", rank, *appnum);
    for (int i = 0; i < number; i++) n += sprintf(line + n, " %d", members[i]);
    puts(line);
    MPI_Comm_free(&near);
    MPI_Finalize();
    return 0;
}
