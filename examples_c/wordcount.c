/* wordcount.c - count the words of a text file, and the most frequent ones; each rank reads a range of bytes.
 *
 *   mpiexec -n 4 ./wordcount file.txt [how-many]
 *
 * A word is a run of letters, case ignored; it belongs to the range in which it begins. Every word has a home rank,
 * chosen by a hash: the ranks send their counts there, and rank 0 collects the leaders. All ranks must see the
 * file.
 */
#include <ctype.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 56 };              /* longer words are cut */

typedef struct {
    char word[LONGEST];             /* padded with zeros */
    long long count;
} Tally;

typedef struct { Tally *slot; size_t room, used; } Table;

static int rank, size;

static uint64_t hash(const char *word)
{
    uint64_t h = 1469598103934665603ull;
    while (*word) h = (h ^ (unsigned char)*word++) * 1099511628211ull;
    return h ^ h >> 29;
}

static void *need(size_t count, size_t bytes)
{
    void *p = calloc(count ? count : 1, bytes);
    if (!p) {
        fprintf(stderr, "wordcount: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* Open addressing; doubles when half full. */
static void add(Table *t, const char *word, long long count)
{
    if (2 * t->used >= t->room) {
        Table bigger = {need(t->room ? 2 * t->room : 1024, sizeof(Tally)), t->room ? 2 * t->room : 1024, 0};
        for (size_t i = 0; i < t->room; i++)
            if (t->slot[i].count) add(&bigger, t->slot[i].word, t->slot[i].count);
        free(t->slot);
        *t = bigger;
    }
    size_t at = hash(word) % t->room;
    while (t->slot[at].count && strcmp(t->slot[at].word, word)) at = (at + 1) % t->room;
    if (!t->slot[at].count) {
        memcpy(t->slot[at].word, word, strlen(word));
        t->used++;
    }
    t->slot[at].count += count;
}

/* Count the words that begin in our share of the file. Returns 0 if it cannot be read. */
static int read_share(const char *path, Table *t)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) return 0;
    long long bytes = ftell(f), begin = bytes * rank / size, end = bytes * (rank + 1) / size;
    int c, inside = 0, length = 0;
    char word[LONGEST];
    if (begin > 0) { /* a word under way here belongs to the rank before us */
        fseek(f, (long)(begin - 1), SEEK_SET);
        inside = isalpha(getc(f)) != 0;
        while (inside && begin < bytes && isalpha(c = getc(f))) begin++;
    }
    fseek(f, (long)begin, SEEK_SET);
    for (long long at = begin; (c = getc(f)) != EOF; at++) {
        if (isalpha(c)) {
            if (length == 0 && at >= end) break;
            if (length < LONGEST - 1) word[length++] = (char)tolower(c);
        } else {
            word[length] = 0;
            if (length) add(t, word, 1);
            length = 0;
            if (at + 1 >= end) break;
        }
    }
    word[length] = 0;
    if (length) add(t, word, 1);
    int good = !ferror(f);
    fclose(f);
    return good;
}

/* Send every word to its home rank; returns the table of the words at home here. */
static Table send_home(const Table *t, MPI_Datatype tally)
{
    int *out = need((size_t)size, sizeof(int)), *out_at = need((size_t)size, sizeof(int));
    int *in = need((size_t)size, sizeof(int)), *in_at = need((size_t)size, sizeof(int)), total = 0;
    for (size_t i = 0; i < t->room; i++)
        if (t->slot[i].count) out[hash(t->slot[i].word) % (unsigned)size]++;
    for (int r = 1; r < size; r++) out_at[r] = out_at[r - 1] + out[r - 1];
    Tally *sorted = need(t->used, sizeof *sorted);
    int *next = need((size_t)size, sizeof(int));
    memcpy(next, out_at, (size_t)size * sizeof(int));
    for (size_t i = 0; i < t->room; i++)
        if (t->slot[i].count) sorted[next[hash(t->slot[i].word) % (unsigned)size]++] = t->slot[i];
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        in_at[r] = total;
        total += in[r];
    }
    Tally *come = need((size_t)total, sizeof *come);
    MPI_Alltoallv(sorted, out, out_at, tally, come, in, in_at, tally, MPI_COMM_WORLD);
    Table home = {0};
    for (int i = 0; i < total; i++) add(&home, come[i].word, come[i].count);
    free(sorted);
    free(come);
    free(next);
    free(out);
    free(out_at);
    free(in);
    free(in_at);
    return home;
}

/* Most frequent first, then by the alphabet. */
static int by_count(const void *a, const void *b)
{
    const Tally *p = a, *q = b;
    if (p->count != q->count) return p->count > q->count ? -1 : 1;
    return strcmp(p->word, q->word);
}

/* The leaders of one table, sorted; unused places have count 0. */
static Tally *leaders(const Table *t, int wanted)
{
    Tally *all = need(t->used, sizeof *all), *first = need((size_t)wanted, sizeof *first);
    size_t n = 0;
    for (size_t i = 0; i < t->room; i++)
        if (t->slot[i].count) all[n++] = t->slot[i];
    qsort(all, n, sizeof *all, by_count);
    memcpy(first, all, (n < (size_t)wanted ? n : (size_t)wanted) * sizeof *all);
    free(all);
    return first;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int wanted = argc > 2 ? atoi(argv[2]) : 10;
    if (argc < 2 || argc > 3 || wanted < 1) {
        if (rank == 0) fprintf(stderr, "usage: wordcount file.txt [how-many]\n");
        MPI_Finalize();
        return 2;
    }
    MPI_Datatype tally;
    int length[2] = {LONGEST, 1};
    MPI_Aint place[2] = {offsetof(Tally, word), offsetof(Tally, count)};
    MPI_Datatype of[2] = {MPI_CHAR, MPI_LONG_LONG};
    MPI_Type_create_struct(2, length, place, of, &tally);
    MPI_Type_commit(&tally);

    Table share = {0};
    int good = read_share(argv[1], &share), all_good;
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (!all_good) {
        if (rank == 0) fprintf(stderr, "wordcount: cannot read %s on every rank\n", argv[1]);
        MPI_Finalize();
        return 1;
    }
    Table home = send_home(&share, tally);
    long long mine[2] = {(long long)home.used, 0}, total[2];
    for (size_t i = 0; i < home.room; i++) mine[1] += home.slot[i].count;
    MPI_Reduce(mine, total, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);

    Tally *first = leaders(&home, wanted), *all = rank == 0 ? need((size_t)wanted * (size_t)size, sizeof *all) : NULL;
    MPI_Gather(first, wanted, tally, all, wanted, tally, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        qsort(all, (size_t)wanted * (size_t)size, sizeof *all, by_count);
        for (int i = 0; i < wanted && all[i].count; i++) printf("%10lld %s\n", all[i].count, all[i].word);
        printf("answer: words=%lld different=%lld\n", total[1], total[0]);
    }
    free(first);
    free(all);
    free(share.slot);
    free(home.slot);
    MPI_Type_free(&tally);
    MPI_Finalize();
    return 0;
}
