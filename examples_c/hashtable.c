/* hashtable.c - a hash table over the memory of all ranks, which nobody serves.
 *
 *   mpiexec -n 4 ./hashtable [keys [times]]
 *
 * Each rank gives a part of the slots. To count a key, a rank goes to the slot that the key's hash says, compares and
 * swaps its key in if the slot is free, goes on to the next slot if another key is there, and adds 1 to the slot's
 * count. All of that happens in the memory of a rank that does not take part. Every key is counted several times by
 * different ranks; in the end each rank looks keys up, and checks their counts.
 */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { int64_t key, count; } slot; /* key 0: free */

static int rank, size;
static MPI_Aint slots; /* of each rank */
static MPI_Win table;

static int64_t key_of(int i)
{
    uint64_t h = (uint64_t)i * 0x9e3779b97f4a7c15ull + 1;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    return (int64_t)(h >> 2) + 1;
}

static uint64_t hash(int64_t key) { return ((uint64_t)key * 0xff51afd7ed558ccdull) >> 20; }

static MPI_Aint at(MPI_Aint place, size_t field) { return place * (MPI_Aint)sizeof(slot) + (MPI_Aint)field; }

static void add(int64_t key)
{
    int owner = (int)(hash(key) % (uint64_t)size);
    MPI_Aint place = (MPI_Aint)(hash(key) / (uint64_t)size % (uint64_t)slots);
    int64_t nothing = 0, one = 1, found;
    for (;; place = (place + 1) % slots) {
        MPI_Compare_and_swap(&key, &nothing, &found, MPI_INT64_T, owner, at(place, offsetof(slot, key)), table);
        MPI_Win_flush(owner, table);
        if (found == nothing || found == key) break;
    }
    MPI_Accumulate(&one, 1, MPI_INT64_T, owner, at(place, offsetof(slot, count)), 1, MPI_INT64_T, MPI_SUM, table);
    MPI_Win_flush_local(owner, table);
}

/* How often the key was added; 0 if it never was. */
static int64_t look_up(int64_t key)
{
    int owner = (int)(hash(key) % (uint64_t)size);
    MPI_Aint place = (MPI_Aint)(hash(key) / (uint64_t)size % (uint64_t)slots);
    for (;; place = (place + 1) % slots) {
        int64_t got[2];
        MPI_Get(got, 2, MPI_INT64_T, owner, at(place, 0), 2, MPI_INT64_T, table);
        MPI_Win_flush(owner, table);
        if (got[0] == key) return got[1];
        if (got[0] == 0) return 0;
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int keys = argc > 1 ? atoi(argv[1]) : 2000, times = argc > 2 ? atoi(argv[2]) : 5;
    if (keys < 1 || times < 1) MPI_Abort(MPI_COMM_WORLD, 2);
    slots = 2 * (MPI_Aint)keys / size + 64; /* at most half full, give or take how the hash deals */
    slot *mine;
    MPI_Win_allocate(slots * (MPI_Aint)sizeof(slot), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &table);
    for (MPI_Aint i = 0; i < slots; i++) mine[i] = (slot){0, 0};
    MPI_Win_fence(MPI_MODE_NOSUCCEED, table); /* all are empty before anybody adds */

    MPI_Win_lock_all(0, table);
    double start = MPI_Wtime();
    for (int i = rank; i < keys * times; i += size) add(key_of(i % keys));
    MPI_Win_flush_all(table);
    double took = MPI_Wtime() - start;
    MPI_Barrier(MPI_COMM_WORLD); /* all have added */

    long long wrong = 0, sums[3] = {0, 0, 0}, all[3];
    for (int i = rank; i < keys; i += size) wrong += look_up(key_of(i)) != times;
    for (int i = 0; i < 10; i++) wrong += look_up(key_of(keys + i)) != 0; /* never added */
    MPI_Win_unlock_all(table);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, table);
    for (MPI_Aint i = 0; i < slots; i++) sums[0] += mine[i].key != 0, sums[1] += mine[i].count;
    MPI_Win_unlock(rank, table);
    sums[2] = wrong;
    MPI_Allreduce(sums, all, 3, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    int good = all[0] == keys && all[1] == (long long)keys * times && all[2] == 0;
    if (rank == 0) {
        printf("%d ranks, %.0f additions a second and rank\n", size, (double)keys * times / size / took);
        printf("answer: %lld keys, counted %lld times in all: %s\n", all[0], all[1], good ? "right" : "WRONG");
    }
    MPI_Win_free(&table);
    MPI_Finalize();
    return good ? 0 : 1;
}
