/* Long messages arrive while their receiver computes, outside of MPI: contiguous ones and others, expected ones and
 * unexpected ones, while the sender waits in MPI; and while the sender computes as well, where its memory can be
 * read. */
/* ranks: 2 */
/* clients: none */
#include "../check.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES = 3 << 20, PATIENCE = 60 };

/* What the ranks tell each other outside of MPI. */
struct side { volatile int pid, sent, read; char *volatile buf; };

static struct side *side;

static void share_side(void)
{
    long long where[2] = {0, 0};
    int fd = -1;
    if (check_rank == 0) {
        fd = memfd_create("side", MFD_CLOEXEC);
        CHECK(fd >= 0 && ftruncate(fd, sizeof *side) == 0);
        where[0] = getpid();
        where[1] = fd;
    }
    MPI_Bcast(where, 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (check_rank == 1) {
        char name[64];
        snprintf(name, sizeof name, "/proc/%lld/fd/%lld", where[0], where[1]);
        fd = open(name, O_RDWR);
        CHECK(fd >= 0);
    }
    side = mmap(NULL, sizeof *side, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(side != MAP_FAILED);
    MPI_Barrier(MPI_COMM_WORLD);
    close(fd);
}

/* Computes until the other rank says so; it says nothing if the message does not move. */
static void compute_until(volatile int *said)
{
    double end = MPI_Wtime() + PATIENCE;
    while (!*said) {
        CHECK_SAY(MPI_Wtime() < end, "the message has not moved while the program computed");
        sched_yield(); /* the machine may have no other core */
    }
}

static void exchange(size_t bytes, MPI_Datatype type, int count, int early)
{
    MPI_Request request;
    char *buf = calloc(1, 2 * bytes);
    if (check_rank == 1) side->sent = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        check_fill(buf, 2 * bytes, bytes);
        MPI_Isend(buf, count, type, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        side->sent = 1;
    } else {
        if (early) MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(buf, count, type, 0, 1, MPI_COMM_WORLD, &request);
        if (!early) MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute_until(&side->sent);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        char *want = malloc(2 * bytes), *packed[2] = {malloc(2 * bytes), malloc(2 * bytes)};
        int at[2] = {0, 0};
        check_fill(want, 2 * bytes, bytes);
        MPI_Pack(buf, count, type, packed[0], (int)(2 * bytes), &at[0], MPI_COMM_WORLD);
        MPI_Pack(want, count, type, packed[1], (int)(2 * bytes), &at[1], MPI_COMM_WORLD);
        CHECK_EQ(at[0], at[1]);
        CHECK(memcmp(packed[0], packed[1], (size_t)at[0]) == 0);
        free(want);
        free(packed[0]);
        free(packed[1]);
    }
    free(buf);
}

/* Both compute; the receiver looks for the message in its memory. */
static void both_compute(size_t bytes)
{
    MPI_Request request;
    char *buf = calloc(1, bytes), byte;
    memset(buf, check_rank == 0 ? 1 : 0, bytes);
    if (check_rank == 0) side->read = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        side->pid = getpid();
        side->buf = buf;
        MPI_Isend(buf, (int)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        compute_until(&side->read);
    } else {
        MPI_Irecv(buf, (int)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        struct iovec here = {&byte, 1}, there = {side->buf, 1};
        int readable = process_vm_readv(side->pid, &here, 1, &there, 1, 0) == 1;
        double end = MPI_Wtime() + PATIENCE;
        for (size_t i = 0; readable && i < bytes; i++)
            while (!((volatile char *)buf)[i]) {
                CHECK_SAY(MPI_Wtime() < end, "byte %zu of %zu has not come while both ranks computed", i, bytes);
                sched_yield();
            }
        side->read = 1;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(buf);
}

int main(int argc, char **argv)
{
    setenv("IMPI_PROGRESS", "1", 1); /* also where ranks outnumber cores */
    check_start(&argc, &argv);
    share_side();
    for (size_t bytes = 20000; bytes <= BYTES; bytes = bytes * 5 + 1) {
        MPI_Datatype pairs;
        MPI_Type_vector((int)(bytes / 32), 2, 4, MPI_DOUBLE, &pairs);
        MPI_Type_commit(&pairs);
        for (int early = 0; early < 2; early++) {
            exchange(bytes, MPI_BYTE, (int)bytes, early);
            exchange(bytes, pairs, 2, early);
        }
        both_compute(bytes);
        MPI_Type_free(&pairs);
    }
    munmap(side, sizeof *side);
    return check_end();
}
