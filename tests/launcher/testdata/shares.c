/* shares: each rank prints "RANK/SIZE app MPI_APPNUM shares RANKS", the last in order: those with which it shares
 * memory, which all of them write and read. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    enum { MOST = 64 };
    int rank, size, members, flag, *app, *mine, *theirs, all[MOST], sum = 0;
    MPI_Comm node;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &flag);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &members);
    if (!flag || size > MOST) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &window);
    MPI_Win_fence(0, window);
    *mine = rank;
    MPI_Win_fence(0, window);
    for (int i = 0; i < members; i++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(window, i, &bytes, &unit, &theirs);
        all[i] = *theirs;
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 3);

    char line[16 * MOST];
    int n = sprintf(line, "%d/%d app %d shares", rank, size, *app);
    for (int i = 0; i < members; i++) n += sprintf(line + n, " %d", all[i]);
    printf("%s\n", line);
    MPI_Comm_free(&node);
    return MPI_Finalize();
}
