/* Many short sends are started in a row, to all others. They arrive, in order, whatever their sender does next: it
 * waits, tests, sends or receives something else, or computes, outside of MPI. */
/* ranks: 2 4 */
#include "../check.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MESSAGES = 150, PATIENCE = 60 };

/* What the ranks tell each other outside of MPI: how many bursts have arrived. */
static volatile int *arrived;

static void share(void)
{
    long long where[2] = {0, 0};
    int fd = -1;
    if (check_rank == 0) {
        fd = memfd_create("arrived", MFD_CLOEXEC);
        CHECK(fd >= 0 && ftruncate(fd, sizeof *arrived) == 0);
        where[0] = getpid();
        where[1] = fd;
    }
    MPI_Bcast(where, 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (check_rank != 0) {
        char name[64];
        snprintf(name, sizeof name, "/proc/%lld/fd/%lld", where[0], where[1]);
        fd = open(name, O_RDWR);
        CHECK(fd >= 0);
    }
    arrived = mmap(NULL, sizeof *arrived, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(arrived != MAP_FAILED);
    MPI_Barrier(MPI_COMM_WORLD);
    close(fd);
}

/* Computes until all others have everything. */
static void compute(int bursts)
{
    double end = MPI_Wtime() + PATIENCE;
    while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < bursts) {
        CHECK_SAY(MPI_Wtime() < end, "%d of %d bursts have arrived", *arrived, bursts);
        sched_yield();
    }
}

static void follow(int how, int count, MPI_Request requests[], int bursts)
{
    int value = how, flag = 0;
    switch (how) {
    case 0: /* the sends come to nothing more, and the program never asks */
        for (int i = 0; i < count; i++) MPI_Request_free(&requests[i]);
        break;
    case 1: MPI_Waitall(count, requests, MPI_STATUSES_IGNORE); break;
    case 2: MPI_Test(&requests[count - 1], &flag, MPI_STATUS_IGNORE); break;
    case 3: MPI_Send(&value, 1, MPI_INT, 1, MESSAGES, MPI_COMM_WORLD); break;
    case 4: MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &flag, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE); break;
    }
    compute(bursts);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void receive(int how)
{
    for (int i = 0; i < MESSAGES; i++) {
        int value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK_SAY(status.MPI_TAG == i && value == i, "message %d, of tag %d, came as number %d", value, status.MPI_TAG,
                  i);
    }
    if (how == 3 && check_rank == 1) {
        int value = -1;
        MPI_Recv(&value, 1, MPI_INT, 0, MESSAGES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == how);
    }
    __atomic_add_fetch(arrived, 1, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    share();
    int others = check_size - 1, values[MESSAGES];
    MPI_Request *requests = malloc(sizeof *requests * MESSAGES * (size_t)others);
    for (int i = 0; i < MESSAGES; i++) values[i] = i;
    for (int how = 0; how < 5; how++) {
        int count = 0;
        for (int i = 0; check_rank == 0 && i < MESSAGES; i++)
            for (int to = 1; to <= others; to++) {
                MPI_Isend(&values[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &requests[count++]);
            }
        if (check_rank == 0) follow(how, count, requests, (how + 1) * others);
        else receive(how);
    }
    free(requests);
    munmap((void *)arrived, sizeof *arrived);
    return check_end();
}
