/* Calls of each kind that a trace tells of. With the argument "dies", rank 1 is killed in the end. */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, found, n = 0, all[100] = {0};
    double value[10] = {1}, sum[10];
    MPI_Request requests[2], again;
    MPI_Status status;
    MPI_Message message;
    MPI_Comm half;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (int i = 0; i < 50; i++) {
        if (rank == 0) MPI_Send(all, 100, MPI_INT, 1, 7, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(all, 100, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(&n, 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&rank, 1, MPI_INT, right, 8, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 9, &n, 1, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(value, 10, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Allreduce(value, sum, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Comm_set_name(half, "half");
    MPI_Recv_init(&n, 1, MPI_INT, left, 10, MPI_COMM_WORLD, &again);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&again);
        MPI_Ssend(&rank, 1, MPI_INT, right, 10, MPI_COMM_WORLD);
        MPI_Wait(&again, &status);
    }
    MPI_Request_free(&again);
    for (int i = 0; i < 20; i++) MPI_Iprobe(MPI_ANY_SOURCE, 99, half, &found, MPI_STATUS_IGNORE);
    MPI_Isend(&rank, 1, MPI_INT, right, 11, MPI_COMM_WORLD, &requests[0]);
    MPI_Mprobe(left, 11, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&n, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

    MPI_Win_create(all, sizeof all, sizeof(int), MPI_INFO_NULL, half, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(&n, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && !strcmp(argv[1], "dies") && rank == 1) kill(getpid(), SIGKILL);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
