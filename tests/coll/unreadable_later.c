/* Memory of long blocks that other ranks have read is given back to the system, and what is at its address then is
 * memory that they cannot read, as a device's may be: here secret memory, or the same again where there is none. */
/* ranks: 2 4 */
#include "../check.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BLOCK = 64 << 10, CALLS = 6 };
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

static unsigned char *make_secret(unsigned char *at, size_t bytes)
{
    int fd = (int)syscall(SYS_memfd_secret, 0), flags = MAP_FIXED | MAP_SHARED;
    if (fd < 0 || ftruncate(fd, (off_t)bytes)) flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS;
    void *mem = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, flags & MAP_ANONYMOUS ? -1 : fd, 0);
    if (fd >= 0) close(fd);
    if (mem == MAP_FAILED)
        mem = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mem == at);
    return mem;
}

static unsigned char value(int from, int to, int call, int i)
{
    return (unsigned char)(from * 7 + to * 31 + call * 3 + i / 97);
}

/* A call, by which each rank gets a block of each. */
static void exchange(int kind, unsigned char *out, unsigned char *in, int call)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int same = kind >= 2; /* all get the same block */
    for (int r = 0; r < (same ? 1 : check_size); r++)
        for (int i = 0; i < BLOCK; i++) out[r * BLOCK + i] = value(check_rank, same ? 0 : r, call, i);
    memset(in, 0, (size_t)BLOCK * check_size);
    switch (kind) {
    case 0: MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD); break;
    case 1: MPI_Ialltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD, &request); break;
    case 2: MPI_Allgather(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD); break;
    default: MPI_Iallgather(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < check_size; r++)
        for (int i = 0; i < BLOCK; i++) {
            const unsigned char want = value(r, same ? 0 : check_rank, call, i);
            if (in[r * BLOCK + i] == want) continue;
            CHECK_EQ(in[r * BLOCK + i], want);
            return;
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    const size_t bytes = (size_t)BLOCK * check_size;
    unsigned char *in = malloc(bytes);
    for (int kind = 0; kind < 4; kind++) {
        unsigned char *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (int call = 0; call < CALLS; call++) exchange(kind, out, in, call);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank != 1) make_secret(out, bytes);
        for (int call = 0; call < CALLS; call++) exchange(kind, out, in, CALLS + call);
        MPI_Barrier(MPI_COMM_WORLD);
        munmap(out, bytes);
    }
    free(in);
    return check_end();
}
