/* A program that names environ, and changes its environment before MPI_Init and after it. */
#include "../../check.h"
#include <unistd.h>

extern char **environ;

static int variables(void)
{
    int n = 0;
    while (environ[n]) n++;
    return n;
}

static void set(const char *prefix, int n)
{
    for (int i = 0; i < n; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_%d", prefix, i);
        setenv(name, "as it was set", 1);
    }
}

int main(int argc, char **argv)
{
    set("BEFORE", 20);
    check_start(&argc, &argv);
    CHECK(getenv("BEFORE_19") && variables() >= 20);
    set("AFTER", 200);
    int sum = 0;
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == check_size * (check_size - 1) / 2 && getenv("AFTER_199"));
    return check_end();
}
