/* A program's handler of SIGURG is called for its own signals alone. Go's runtime would interrupt its threads by that
 * signal, for which PETSc ends a program. */
/* ranks: 1 2 */
/* clients: none */
#include "../check.h"
#include <signal.h>

static volatile sig_atomic_t called;
static void count(int s) { called += s == SIGURG; }

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART | SA_ONSTACK};
    check_start(&argc, &argv);
    CHECK_EQ(sigaction(SIGURG, &action, NULL), 0);
    /* Communicators are made in Go, and cost it memory that it collects. */
    for (int i = 0; i < 6000; i++) {
        MPI_Comm made;
        CHECK_EQ(MPI_Comm_dup(MPI_COMM_SELF, &made), MPI_SUCCESS);
        CHECK_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
    }
    CHECK_EQ(called, 0);
    raise(SIGURG);
    CHECK_EQ(called, 1);
    return check_end();
}
