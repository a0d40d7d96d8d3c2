/* A process whose descriptors 0 to 2 are closed, when the library is loaded or before MPI_Init: none of the library's
 * files becomes one of them, and what the program writes there harms no message. */
/* ranks: 1 2 */
#include "../check.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT = 100, /* where the standard error waits */
       LONG = 1 << 20 };

static void close_standard(void)
{
    for (int fd = 0; fd <= 2; fd++) close(fd);
}

/* Nothing but a device, such as /dev/null, stands for them. */
static int nobodys(void)
{
    struct stat is;
    for (int fd = 0; fd <= 2; fd++)
        if (!fstat(fd, &is) && !S_ISCHR(is.st_mode)) return 0;
    return 1;
}

static void scribble(void)
{
    static const char words[4096] = "what a program says to nobody";
    for (int fd = 0; fd <= 2; fd++)
        for (int i = 0; i < 64; i++)
            if (write(fd, words, sizeof words) < 0) break;
}

int main(int argc, char **argv)
{
    int up;
    if (!getenv("CHECK_CLOSED")) {
        MPI_Initialized(&up); /* Go's start is over: a file that it reads would be left open to the next program */
        setenv("CHECK_CLOSED", "yes", 1);
        dup2(STDERR_FILENO, KEPT);
        close_standard();
        execv("/proc/self/exe", argv);
    }
    int loaded = nobodys();
    MPI_Initialized(&up); /* what the library does at the start in the background is over */
    close_standard();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    int begun = nobodys();
    unsigned char *out = malloc(LONG), *in = malloc(LONG);
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    for (int n = 8; n <= LONG; n *= 8) {
        check_fill(out, (size_t)n, (uint64_t)(check_rank + n));
        scribble();
        MPI_Sendrecv(out, n, MPI_BYTE, to, 0, in, n, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        scribble();
        dup2(KEPT, STDERR_FILENO);
        CHECK_EQ(check_differs(in, (size_t)n, (uint64_t)(from + n)), -1);
        CHECK(loaded);
        CHECK(begun);
        close(STDERR_FILENO);
        CHECK_EQ(open("/dev/null", O_RDWR), STDERR_FILENO);
    }
    dup2(KEPT, STDERR_FILENO);
    close(KEPT);
    free(out);
    free(in);
    return check_end();
}
