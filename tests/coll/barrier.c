/* Nobody leaves a barrier before the last has entered. */
#include "../check.h"
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", *names;
    int length;
    check_start(&argc, &argv);
    double *times = malloc(sizeof(double) * 2 * (size_t)check_size);
    names = malloc((size_t)check_size * sizeof name);
    MPI_Get_processor_name(name, &length);
    MPI_Allgather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, MPI_COMM_WORLD);
    for (int late = 0; late < check_size; late++) {
        double mine[2];
        if (check_rank == late) { /* the others have every chance to leave too early */
            struct timespec pause = {0, 2000000};
            nanosleep(&pause, NULL);
        }
        mine[0] = now();
        CHECK_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
        mine[1] = now();
        MPI_Allgather(mine, 2, MPI_DOUBLE, times, 2, MPI_DOUBLE, MPI_COMM_WORLD);
        for (int r = 0; r < check_size; r++) /* only clocks of one machine can be compared */
            if (!strcmp(name, names + (size_t)r * sizeof name))
                CHECK_SAY(times[2 * r] <= mine[1], "left the barrier %g s before rank %d entered", times[2 * r] -
                    mine[1], r);
    }
    for (int i = 0; i < 50; i++) MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Barrier(MPI_COMM_SELF), MPI_SUCCESS);
    free(times);
    free(names);
    return check_end();
}
