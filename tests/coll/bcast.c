/* Bcast from every root, of every length from nothing to megabytes, and nothing written behind the buffer. */
#include "../check.h"

static void once(int n, int root)
{
    unsigned char *buf = malloc((size_t)n + 16);
    memset(buf, 0xA5, (size_t)n + 16);
    if (check_rank == root) check_fill(buf, (size_t)n, (uint64_t)n + (uint64_t)root);
    CHECK_EQ(MPI_Bcast(buf, n, MPI_BYTE, root, MPI_COMM_WORLD), MPI_SUCCESS);
    long at = check_differs(buf, (size_t)n, (uint64_t)n + (uint64_t)root);
    CHECK_SAY(at < 0, "%d bytes from root %d differ at %ld", n, root, at);
    for (int i = 0; i < 16; i++) CHECK_EQ(buf[n + i], 0xA5);
    free(buf);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int root = 0; root < check_size; root++) {
        once(0, root);
        once(1, root);
        once(1000, root);
    }
    for (int n = 2, k = 0; n <= 1 << 21; n *= 4, k++)
        for (int d = -1; d <= 1; d++) once(n + d, k % check_size);
    CHECK_EQ(MPI_Bcast(NULL, 0, MPI_INT, check_size - 1, MPI_COMM_WORLD), MPI_SUCCESS);

    /* Roots in turn without a pause: a broadcast may not be taken for the one before. */
    for (int i = 0; i < 60; i++) {
        int word = i % check_size == check_rank ? i : -1;
        MPI_Bcast(&word, 1, MPI_INT, i % check_size, MPI_COMM_WORLD);
        CHECK_EQ(word, i);
    }
    return check_end();
}
