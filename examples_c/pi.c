/* pi.c - the area under 4 / (1 + x^2) by the midpoint rule, intervals dealt out to the ranks.
 *
 *   mpiexec -n 4 ./pi [intervals]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    long long intervals = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    if (rank == 0) intervals = argc > 1 ? strtoll(argv[1], NULL, 10) : 10000000;
    MPI_Bcast(&intervals, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (intervals < 1) {
        if (rank == 0) fprintf(stderr, "usage: pi [intervals]\n");
        MPI_Finalize();
        return 2;
    }
    double width = 1.0 / (double)intervals, sum = 0, pi = 0;
    for (long long i = rank; i < intervals; i += size) {
        double x = ((double)i + 0.5) * width;
        sum += 4.0 / (1.0 + x * x);
    }
    sum *= width;
    MPI_Reduce(&sum, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("pi is about %.12f, off by %.1e\n", pi, fabs(pi - acos(-1.0)));
    MPI_Finalize();
    return 0;
}
