/* genmatrix.c - write a symmetric positive definite matrix in Matrix Market form to stdout. Not an MPI program.
 *
 *   ./genmatrix poisson WIDTH HEIGHT            the 5-point Laplacian of a grid
 *   ./genmatrix network NODES [SEED]            admittances of a network such as a power grid: a random tree and
 *                                               some loops, admittances over four decades, a few nodes earthed
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

/* A number in [0, 1). */
static double uniform(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (double)(state * 2685821657736338717ull >> 11) / 9007199254740992.0;
}

static void header(long n, long entries, const char *what)
{
    printf("%%%%MatrixMarket matrix coordinate real symmetric\n%% %s\n%ld %ld %ld\n", what, n, n, entries);
}

static void poisson(long width, long height)
{
    header(width * height, width * height + (width - 1) * height + width * (height - 1), "5-point Laplacian");
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++) {
            long i = y * width + x + 1;
            printf("%ld %ld 4\n", i, i);
            if (x + 1 < width) printf("%ld %ld -1\n", i + 1, i);
            if (y + 1 < height) printf("%ld %ld -1\n", i + width, i);
        }
}

static void network(long n, uint64_t seed)
{
    long loops = n / 4, lines = n - 1 + loops;
    double *sum = calloc((size_t)n, sizeof *sum);
    if (!sum) exit(1);
    state = seed * 0x9e3779b97f4a7c15ull | 1;
    header(n, n + lines, "admittances of a random network");
    for (long k = 0; k < lines; k++) {
        long a = k < n - 1 ? k + 1 : 1 + (long)(uniform() * (double)(n - 1));
        /* Most lines are local: from the nodes just before this one. */
        long reach = uniform() < 0.9 ? 12 : a, b = a - 1 - (long)(uniform() * (double)(reach < a ? reach : a));
        double y = pow(10, 4 * uniform() - 1);
        printf("%ld %ld %.6f\n", a + 1, b + 1, -y);
        sum[a] += y;
        sum[b] += y;
    }
    for (long i = 0; i < n; i++) printf("%ld %ld %.6f\n", i + 1, i + 1, sum[i] + (i % 50 == 0 ? 1.0 : 0.001));
    free(sum);
}

int main(int argc, char **argv)
{
    long a = argc > 2 ? strtol(argv[2], NULL, 10) : 0, b = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    if (argc == 4 && !strcmp(argv[1], "poisson") && a > 0 && b > 0) poisson(a, b);
    else if ((argc == 3 || argc == 4) && !strcmp(argv[1], "network") && a > 1) network(a, (uint64_t)b);
    else {
        fprintf(stderr, "usage: genmatrix poisson WIDTH HEIGHT | genmatrix network NODES [SEED]\n");
        return 2;
    }
    return 0;
}
