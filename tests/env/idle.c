/* Who waits uses no processor: of the time that ranks spend in each kind of wait, less than a hundredth is processor
 * time, that of the library's own threads included. More ranks than cores do not make each other wait for their turns:
 * rounds of messages among five ranks on two cores take no more processor time than messages do. */
/* ranks: 5 */
#include "../check.h"
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    PAUSE = 1000000, /* us that rank 0 lets the others wait: some milliseconds pass before they sleep */
    TURNS = 3, /* a machine that others use, too, may take the processor away, and count that as use of it */
    ROUNDS = 3000, /* of a ring, and a reduction */
    EACH = 1000 /* us of processor time in a round: 20 to 80 are needed, and a turn of the scheduler is thousands */
};

static double processor_time(void)
{
    struct rusage u;
    CHECK_EQ(getrusage(RUSAGE_SELF, &u), 0);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void in_recv(int word)
{
    if (check_rank == 0)
        for (int r = 1; r < check_size; r++) MPI_Send(&word, 1, MPI_INT, r, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void in_probe(int word)
{
    if (check_rank != 0) MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    in_recv(word);
}

static void in_wait(int word)
{
    MPI_Request both[2];
    int in[2];
    if (check_rank == 0) {
        in_recv(word);
        in_recv(word);
        return;
    }
    for (int i = 0; i < 2; i++) MPI_Irecv(&in[i], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &both[i]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static void in_reduction(int word)
{
    int sum;
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void waits(void)
{
    static const struct {
        const char *name;
        void (*wait)(int);
    } all[] = {
        {"MPI_Recv", in_recv}, {"MPI_Probe", in_probe}, {"MPI_Waitall", in_wait}, {"MPI_Allreduce", in_reduction}};
    for (int i = 0; i < (int)(sizeof all / sizeof *all); i++) {
        all[i].wait(i); /* what only the first call does */
        for (int turn = 1, many = 1; many; turn++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double began = MPI_Wtime(), used = processor_time();
            if (check_rank == 0) usleep(PAUSE);
            all[i].wait(i);
            double waited = MPI_Wtime() - began;
            used = processor_time() - used;
            int here = used >= waited / 100;
            CHECK_SAY(!here || turn < TURNS, "a wait of %.0f ms in %s has taken %.2f ms of a processor, as before",
                      1e3 * waited, all[i].name, 1e3 * used);
            MPI_Allreduce(&here, &many, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static double rounds(void)
{
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, in, sum;
    double used = processor_time();
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, to, 2, &in, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(in, i);
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, i * check_size);
    }
    return processor_time() - used;
}

static void crowd(void)
{
    double most = 1e-6 * EACH * ROUNDS;
    for (int turn = 1; turn <= TURNS && most >= 1e-6 * EACH * ROUNDS; turn++) {
        double used = rounds();
        MPI_Allreduce(&used, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        CHECK_SAY(used < 1e-6 * EACH * ROUNDS || turn < TURNS,
                  "%d rounds among %d ranks on two cores have taken %.0f ms of a processor again", ROUNDS, check_size,
                  1e3 * used);
    }
}

/* Two of the cores that this process may use, for all of its threads. */
static void on_two_cores(void)
{
    cpu_set_t cores;
    CHECK_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
    int left = 2;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &cores) && left-- <= 0) CPU_CLR(i, &cores);
    CHECK_EQ(sched_setaffinity(0, sizeof cores, &cores), 0);
}

int main(int argc, char **argv)
{
    on_two_cores();
    check_start(&argc, &argv);
    waits();
    crowd();
    return check_end();
}
