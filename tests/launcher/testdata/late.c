/* Waits that impi-trace has to tell, made by sleeping. */
#include <mpi.h>
#include <time.h>

static char data[1 << 22];

static void sleep_ms(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Request q;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        sleep_ms(20);
        MPI_Send(data, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD); /* late sender */
        MPI_Ssend(data, 8, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
        MPI_Send(data, sizeof data, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(data, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sleep_ms(20); /* late receiver */
        MPI_Recv(data, 8, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sleep_ms(20); /* late receiver, of a long message */
        MPI_Irecv(data, sizeof data, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    if (rank == 2) sleep_ms(150);
    MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
