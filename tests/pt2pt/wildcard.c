/* Wild receives serve all senders: a work queue where rank 0 hands tasks to whoever asks. */
#include "../check.h"

enum { TASKS = 1000, ASK = 1, WORK = 2, STOP = 3 };

static void master(void)
{
    int handed = 0, stopped = 0, answer[2];
    long long sum = 0;
    MPI_Status status;
    char *done = calloc(TASKS, 1);
    while (stopped < check_size - 1) {
        MPI_Recv(answer, 2, MPI_INT, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
        if (answer[0] >= 0) {
            CHECK(answer[0] < TASKS && !done[answer[0]]);
            CHECK_EQ(answer[1], answer[0] * 3 + status.MPI_SOURCE);
            done[answer[0]] = 1;
            sum += answer[0];
        }
        if (handed < TASKS) {
            MPI_Send(&handed, 1, MPI_INT, status.MPI_SOURCE, WORK, MPI_COMM_WORLD);
            handed++;
        } else {
            MPI_Send(NULL, 0, MPI_INT, status.MPI_SOURCE, STOP, MPI_COMM_WORLD);
            stopped++;
        }
    }
    CHECK_EQ(sum, check_size > 1 ? (long long)TASKS * (TASKS - 1) / 2 : 0);
    free(done);
}

static void worker(void)
{
    int answer[2] = {-1, 0}, task = -1;
    MPI_Status status;
    for (;;) {
        MPI_Send(answer, 2, MPI_INT, 0, ASK, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP) return;
        answer[0] = task;
        answer[1] = task * 3 + check_rank;
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check_rank == 0) master();
    else worker();
    return check_end();
}
