/* Collectives of more than 2^31 elements, all of which move. Two buffers of 2.3 GB, and half as much again inside the
 * library: where there is less memory than that, the test is skipped.
 * ranks: 2
 * clients: none
 * long: yes */
#include "../check.h"
#include <sys/mman.h>

static const MPI_Count N = ((MPI_Count)1 << 31) + ((MPI_Count)1 << 27);
static const long NEEDED = 10L << 20; /* KiB */

static unsigned char *buffer;

/* What rank has at i. */
static unsigned char value(int rank, MPI_Count i)
{
    return (unsigned char)(i * 7 + (i >> 24) + rank * 50 + 1);
}

/* The byte to look at after i of n: one of each line of memory, and all of the last ones. */
static MPI_Count next(MPI_Count i, MPI_Count n)
{
    return i + 61 < n - 4096 ? i + 61 : i + 1;
}

static void fill(MPI_Count from, MPI_Count n)
{
    for (MPI_Count i = 0; i < n; i = next(i, n)) buffer[from + i] = value(check_rank, from + i);
}

static unsigned char sum(MPI_Count i)
{
    return (unsigned char)(value(0, i) + value(1, i));
}

/* The n bytes at `at` are those that belong to `from` and on. of: a rank, or -1 for the sum. */
static void expect(const char *what, MPI_Count at, MPI_Count from, MPI_Count n, int of)
{
    for (MPI_Count i = 0; i < n; i = next(i, n)) {
        unsigned char want = of < 0 ? sum(from + i) : value(of, from + i);
        if (buffer[at + i] != want) {
            check_fail(__FILE__, __LINE__, "%s: byte %lld is %d, not %d", what, (long long)(at + i), buffer[at + i],
                       want);
        }
    }
}

static void fill_both(void)
{
    fill(0, N / 2);
    fill(N / 2, N / 2);
}

static void expect_both(const char *what, int of)
{
    expect(what, 0, 0, N / 2, of);
    expect(what, N / 2, N / 2, N / 2, of);
}

static long available(void)
{
    char line[256];
    long kib = 0;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "MemAvailable: %ld", &kib) == 1) break;
    }
    if (f) fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    long kib = available();
    MPI_Bcast(&kib, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (kib < NEEDED) {
        if (check_rank == 0) printf("skipped: %ld MiB of memory are free, not %ld\n", kib >> 10, NEEDED >> 10);
        return check_end();
    }
    buffer = mmap(NULL, (size_t)N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(buffer != MAP_FAILED);
    madvise(buffer, (size_t)N, MADV_HUGEPAGE); /* less work for the kernel */
    const MPI_Count half = N / 2;
    const int r = check_rank;

    if (r == 0) fill_both();
    MPI_Bcast_c(buffer, N, MPI_BYTE, 0, MPI_COMM_WORLD);
    expect_both("Bcast", 0);
    fill_both();
    MPI_Allreduce_c(MPI_IN_PLACE, buffer, N, MPI_UINT8_T, MPI_SUM, MPI_COMM_WORLD);
    expect_both("Allreduce", -1);
    fill(r * half, half);
    MPI_Allgather_c(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, half, MPI_BYTE, MPI_COMM_WORLD);
    expect("Allgather", 0, 0, half, 0);
    expect("Allgather", half, half, half, 1);
    fill_both();
    MPI_Reduce_scatter_block_c(MPI_IN_PLACE, buffer, half, MPI_UINT8_T, MPI_SUM, MPI_COMM_WORLD);
    expect("Reduce_scatter_block", 0, r * half, half, -1);
    munmap(buffer, (size_t)N);
    return check_end();
}
