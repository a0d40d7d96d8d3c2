/* A long message arrives whole while its sender computes, outside of MPI, where the receiver may read its memory. */
/* ranks: 2 */
/* clients: none */
#include "../check.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES = 3 << 20 };

/* What the ranks tell each other outside of MPI. */
struct side { volatile int arrived; };

static struct side *map_side(int fd)
{
    struct side *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(s != MAP_FAILED);
    return s;
}

static void send_and_compute(char *buf, size_t bytes)
{
    MPI_Request request;
    int fd = memfd_create("side", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, sizeof(struct side)) == 0);
    struct side *side = map_side(fd);
    long long where[3] = {getpid(), fd, (long long)(uintptr_t)buf};
    check_fill(buf, bytes, bytes);
    MPI_Send(where, 3, MPI_LONG_LONG, 1, 1, MPI_COMM_WORLD);
    MPI_Isend(buf, (int)bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
    while (!side->arrived) usleep(100); /* computes */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    munmap(side, sizeof *side);
    close(fd);
}

static void receive(char *buf, size_t bytes)
{
    long long where[3];
    char name[64], byte;
    MPI_Recv(where, 3, MPI_LONG_LONG, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    snprintf(name, sizeof name, "/proc/%lld/fd/%lld", where[0], where[1]);
    int fd = open(name, O_RDWR);
    CHECK(fd >= 0);
    struct side *side = map_side(fd);
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)where[2], 1};
    int readable = process_vm_readv((pid_t)where[0], &here, 1, &there, 1, 0) == 1;
    if (!readable) side->arrived = 1; /* then the sender must help */
    MPI_Recv(buf, (int)bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    long at = check_differs(buf, bytes, bytes);
    CHECK_SAY(at < 0, "message of %zu bytes differs at byte %ld", bytes, at);
    side->arrived = 1;
    munmap(side, sizeof *side);
    close(fd);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    char *buf = malloc(BYTES);
    for (size_t bytes = 20000; bytes <= BYTES; bytes = bytes * 5 + 1) {
        memset(buf, 0, bytes);
        if (check_rank == 0) send_and_compute(buf, bytes);
        else receive(buf, bytes);
    }
    free(buf);
    return check_end();
}
