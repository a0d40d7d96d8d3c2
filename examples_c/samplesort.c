/* samplesort.c - sort numbers that the ranks share, by samples and one exchange of all with all.
 *
 *   mpiexec -n 4 ./samplesort COUNT             COUNT random numbers
 *   mpiexec -n 4 ./samplesort FILE [SORTED]     the numbers in a text file, written to SORTED if given
 *
 * Each rank sorts its part and offers a regular sample; rank 0 chooses splitters; everything between two
 * splitters goes to one rank, which sorts it. The result is verified: order within and between ranks, the
 * count, and a checksum that does not depend on order.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

static void *need(long long count)
{
    void *p = malloc(count > 0 ? (size_t)count * sizeof(int64_t) : 1);
    if (!p) {
        fprintf(stderr, "samplesort: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static int by_value(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

static uint64_t scramble(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static long long first(long long total, int part) { return total / size * part + total % size * part / size; }

/* Rank 0 reads the file and scatters it. */
static int64_t *from_file(const char *path, int *count)
{
    long long total = 0, room = 1024;
    int64_t *all = NULL;
    if (rank == 0) {
        FILE *f = fopen(path, "r");
        long long value;
        if (!f) {
            perror(path);
            MPI_Abort(MPI_COMM_WORLD, 2);
            return NULL;
        }
        all = need(room);
        while (fscanf(f, "%lld", &value) == 1) {
            if (total == room && !(all = realloc(all, (size_t)(room *= 2) * sizeof *all))) MPI_Abort(MPI_COMM_WORLD, 1);
            all[total++] = value;
        }
        fclose(f);
    }
    MPI_Bcast(&total, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    int *counts = need(size), *at = need(size);
    for (int r = 0; r < size; r++) {
        at[r] = (int)first(total, r);
        counts[r] = (int)(first(total, r + 1) - first(total, r));
    }
    *count = counts[rank];
    int64_t *mine = need(*count);
    MPI_Scatterv(all, counts, at, MPI_INT64_T, mine, *count, MPI_INT64_T, 0, MPI_COMM_WORLD);
    free(all);
    free(counts);
    free(at);
    return mine;
}

static int64_t *generated(long long total, int *count)
{
    long long begin = first(total, rank);
    *count = (int)(first(total, rank + 1) - begin);
    int64_t *mine = need(*count);
    for (int i = 0; i < *count; i++) mine[i] = (int64_t)(scramble((uint64_t)(begin + i)) >> 20);
    return mine;
}

/* size-1 values that cut the numbers into parts of about the same length. */
static int64_t *choose_splitters(const int64_t *mine, int count)
{
    int offered = count < 4 * size ? count : 4 * size, total = 0;
    int64_t *sample = need(offered), *splitter = need(size), *all = NULL;
    int *counts = need(size), *at = need(size);
    for (int i = 0; i < offered; i++) sample[i] = mine[(long long)count * i / offered];
    MPI_Gather(&offered, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int r = 0; r < size; r++) {
            at[r] = total;
            total += counts[r];
        }
        all = need(total);
    }
    MPI_Gatherv(sample, offered, MPI_INT64_T, all, counts, at, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        qsort(all, (size_t)total, sizeof *all, by_value);
        for (int r = 1; r < size; r++) splitter[r - 1] = total ? all[(long long)total * r / size] : 0;
    }
    MPI_Bcast(splitter, size - 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    free(sample);
    free(all);
    free(counts);
    free(at);
    return splitter;
}

/* Sort over all ranks: takes this rank's part, returns the part it ends up with. */
static int64_t *sample_sort(int64_t *mine, int *count)
{
    qsort(mine, (size_t)*count, sizeof *mine, by_value);
    int64_t *splitter = choose_splitters(mine, *count);
    int *out = need(size), *out_at = need(size), *in = need(size), *in_at = need(size), i = 0, total = 0;
    for (int r = 0; r < size; r++) {
        out_at[r] = i;
        while (i < *count && (r == size - 1 || mine[i] < splitter[r])) i++;
        out[r] = i - out_at[r];
    }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        in_at[r] = total;
        total += in[r];
    }
    int64_t *sorted = need(total);
    MPI_Alltoallv(mine, out, out_at, MPI_INT64_T, sorted, in, in_at, MPI_INT64_T, MPI_COMM_WORLD);
    qsort(sorted, (size_t)total, sizeof *sorted, by_value);
    free(mine);
    free(splitter);
    free(out);
    free(out_at);
    free(in);
    free(in_at);
    *count = total;
    return sorted;
}

/* Are the parts sorted, and is every number of one rank at most every number of later ranks? */
static int in_order(const int64_t *part, int count)
{
    int good = 1, all;
    int64_t highest = count ? part[count - 1] : INT64_MIN, before = INT64_MIN;
    for (int i = 1; i < count; i++) good &= part[i - 1] <= part[i];
    MPI_Exscan(&highest, &before, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (rank > 0 && count > 0) good &= before <= part[0];
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all;
}

static void census(const int64_t *part, int count, uint64_t sum[2])
{
    uint64_t mine[2] = {(uint64_t)count, 0};
    for (int i = 0; i < count; i++) mine[1] += scramble((uint64_t)part[i]);
    MPI_Allreduce(mine, sum, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

/* The ranks append to the file in turn; the turn is a message. Rank 0 makes it first, and says if it could. */
static int write_file(const char *path, const int64_t *part, int count)
{
    int good = 1;
    if (rank > 0) MPI_Recv(&good, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (good) {
        FILE *f = fopen(path, rank == 0 ? "w" : "a");
        if (f) {
            for (int i = 0; i < count; i++) fprintf(f, "%lld\n", (long long)part[i]);
            good = fclose(f) == 0;
        } else {
            good = 0;
        }
        if (!good) perror(path);
    }
    if (rank < size - 1) MPI_Send(&good, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    MPI_Bcast(&good, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    return good;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2 || argc > 3) {
        if (rank == 0) fprintf(stderr, "usage: samplesort COUNT | samplesort FILE [SORTED]\n");
        MPI_Finalize();
        return 2;
    }
    char *end;
    long long total = strtoll(argv[1], &end, 10);
    int count;
    int64_t *part = *end == 0 && total >= 0 ? generated(total, &count) : from_file(argv[1], &count);

    uint64_t before[2], after[2];
    census(part, count, before);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    part = sample_sort(part, &count);
    double seconds = MPI_Wtime() - began;
    census(part, count, after);
    int good = in_order(part, count) && before[0] == after[0] && before[1] == after[1];
    if (argc > 2) good &= write_file(argv[2], part, count);

    int largest;
    MPI_Reduce(&count, &largest, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%llu numbers on %d ranks, largest part %d, %.3f s: %s\n", (unsigned long long)after[0], size, largest,
               seconds, good ? "sorted" : "NOT SORTED");
        printf("answer: count=%llu checksum=%016llx\n", (unsigned long long)after[0], (unsigned long long)after[1]);
    }
    free(part);
    MPI_Finalize();
    return !good;
}
