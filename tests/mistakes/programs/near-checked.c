// A program that does all that checks look at, and makes no mistake.
// ranks: 2
// environment: IMPI_CHECK=all
// where: shm machines clients agents hydra
#include <mpi.h>
#include <string.h>

enum { N = 1 << 15 };
static int matrix[64][64], column[64], row[N], other[N];

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void handle(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

int main(int argc, char **argv)
{
    int rank, flag = 0;
    char room[2000];
    void *at;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;

    /* Columns side by side, and what has been completed is used again. */
    MPI_Datatype tall;
    MPI_Request r[64], kept;
    MPI_Type_vector(64, 1, 64, MPI_INT, &tall);
    MPI_Type_commit(&tall);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 64; i++) MPI_Irecv(&matrix[0][i], 1, tall, peer, i, MPI_COMM_WORLD, &r[i]);
        for (int i = 0; i < 64; i++) MPI_Send(column, 64, MPI_INT, peer, i, MPI_COMM_WORLD);
        MPI_Waitall(64, r, MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&tall);

    /* Several sends from the same memory; changed once they are complete, by whatever call the program knows that. */
    for (int i = 0; i < 3; i++) MPI_Isend(row, N, MPI_INT, peer, i, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < 3; i++) MPI_Recv(other, N, MPI_INT, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!flag) MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(2, r + 1, MPI_STATUSES_IGNORE);
    memset(row, 1, sizeof row);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Isend(row, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Request_free(&r[0]);
    MPI_Recv(other, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_INT, peer, 5, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    row[0] = 3;

    /* Persistent, cancelled, buffered, matched, and in place. */
    MPI_Send_init(row, 4, MPI_INT, peer, 6, MPI_COMM_WORLD, &kept);
    for (int turn = 0; turn < 2; turn++) {
        row[1] = turn;
        MPI_Start(&kept);
        MPI_Recv(other, 4, MPI_INT, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&kept, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&kept);
    MPI_Irecv(other, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Buffer_attach(room, sizeof room);
    MPI_Bsend(row, 4, MPI_INT, peer, 8, MPI_COMM_WORLD);
    MPI_Message m;
    MPI_Mprobe(peer, 8, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(other, 4, MPI_INT, &m, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&at, &(int){0});
    MPI_Allreduce(MPI_IN_PLACE, other, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallgather(row, 4, MPI_INT, other, 4, MPI_INT, MPI_COMM_WORLD, &r[0]);
    MPI_Ibcast(row + 4, 4, MPI_INT, 0, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : (void *)row, 4, MPI_INT, other, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(other, 4, MPI_INT, peer, 9, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    /* Objects that are freed, in any order. */
    MPI_Comm copy;
    MPI_Group all;
    MPI_Info info;
    MPI_Op op;
    MPI_Errhandler handler, same;
    MPI_Win window;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_group(copy, &all);
    MPI_Info_create(&info);
    MPI_Op_create(add, 1, &op);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(copy, handler);
    MPI_Comm_get_errhandler(copy, &same);
    MPI_Win_create(matrix, sizeof matrix, sizeof(int), info, copy, &window);
    MPI_Win_fence(0, window);
    MPI_Put(column, 64, MPI_INT, peer, 0, 64, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Allreduce(row, other, 4, MPI_INT, op, copy);
    MPI_Errhandler_free(&same);
    MPI_Errhandler_free(&handler);
    MPI_Op_free(&op);
    MPI_Win_free(&window);
    MPI_Comm_free(&copy);
    MPI_Group_free(&all);
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
