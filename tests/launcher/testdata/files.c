/* files ACCESS FILE RANK: all ranks write into the file without end until that one is killed, wherever it is; with
 * RANK -1 they write twice and end. In "atomic" and "strided" pieces lie between those of others, so that there are
 * locks. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INTS = 1 << 15 };

static void must(int code)
{
    if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv)
{
    static int ints[INTS];
    int rank, size;
    MPI_File f;
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
    const char *access = argv[1];
    int who = atoi(argv[3]);
    must(MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    must(MPI_File_set_atomicity(f, !strcmp(access, "atomic")));
    MPI_Type_create_resized(MPI_INT, 0, 4 * size, &column);
    MPI_Type_commit(&column);
    if (strcmp(access, "shared")) must(MPI_File_set_view(f, 4 * rank, MPI_INT, column, "native", MPI_INFO_NULL));
    for (int i = 0; i < INTS; i++) ints[i] = rank;
    if (rank == who) { /* between 5 and 13 ms from here */
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
        struct itimerspec at = {.it_value.tv_nsec = 5000000 + (long)(MPI_Wtime() * 1e6) % 8000000};
        timer_t timer;
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
        timer_settime(timer, 0, &at, NULL);
    }
    for (int i = 0; who >= 0 || i < 2; i++) {
        if (!strcmp(access, "all")) must(MPI_File_write_at_all(f, 0, ints, INTS, MPI_INT, MPI_STATUS_IGNORE));
        else if (!strcmp(access, "shared")) must(MPI_File_write_shared(f, ints, 64, MPI_INT, MPI_STATUS_IGNORE));
        else must(MPI_File_write_at(f, 0, ints, INTS, MPI_INT, MPI_STATUS_IGNORE));
        if (i % 1000 == 999) must(MPI_File_set_size(f, 0)); /* a shared pointer goes far; all come here, then wait */
    }
    MPI_Type_free(&column);
    must(MPI_File_close(&f));
    MPI_Finalize();
    return 0;
}
