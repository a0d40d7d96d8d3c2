/* stealing.c - counts the nodes of a tree that nobody knows before; ranks without work steal some.
 *
 *   mpiexec -n 4 ./stealing [seed]
 *
 * Every rank has a stack of subtrees in a window. It takes work from its own stack, and when that is empty, half of
 * another rank's. An exclusive lock guards a stack, whoever uses it. A counter at rank 0 says how many subtrees are
 * still to be counted in all: when it is 0, everybody stops. The tree depends on the seed alone.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 4096, DEEPEST = 22, SPLIT = 10 }; /* subtrees whose root is below level SPLIT are counted in one go */

typedef struct { uint64_t state, level; } node;
typedef struct { int64_t n; node at[ROOM]; } stack;
typedef struct { uint64_t nodes, leaves, mark; } tally;

static int rank, size;
static MPI_Win stacks, counter;
static MPI_Datatype node_type;

static uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
}

static int children(node v) { return v.level == 0 ? 30 : v.level < DEEPEST ? (int)(mix(v.state) % 4) : 0; }

static node child(node v, int k)
{
    return (node){mix(v.state + 0x9e3779b97f4a7c15ull * (uint64_t)(k + 1)), v.level + 1};
}

/* All below v, and v itself. */
static void count(node v, tally *t)
{
    int n = children(v);
    t->nodes++;
    t->leaves += n == 0;
    t->mark ^= mix(v.state + v.level);
    for (int k = 0; k < n; k++) count(child(v, k), t);
}

/* Up to most nodes from the top of a rank's stack, half of it at most; how many they are. */
static int take(int from, node *into, int most)
{
    int64_t n;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, from, 0, stacks);
    MPI_Get(&n, 1, MPI_INT64_T, from, 0, 1, MPI_INT64_T, stacks);
    MPI_Win_flush(from, stacks);
    int64_t some = (n + 1) / 2 < most ? (n + 1) / 2 : most;
    if (some > 0) {
        n -= some;
        MPI_Get(into, (int)some, node_type, from, (MPI_Aint)(sizeof(int64_t) + sizeof(node) * (size_t)n), (int)some,
                node_type, stacks);
        MPI_Put(&n, 1, MPI_INT64_T, from, 0, 1, MPI_INT64_T, stacks);
    }
    MPI_Win_unlock(from, stacks);
    return (int)some;
}

/* Puts nodes onto the rank's own stack, as long as there is room; how many found none. */
static int keep(const node *v, int n, stack *own)
{
    int put = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, stacks);
    while (put < n && own->n < ROOM) own->at[own->n++] = v[put++];
    MPI_Win_unlock(rank, stacks);
    return n - put;
}

/* Subtrees still to be counted, after by more. */
static int64_t open_subtrees(int64_t by)
{
    int64_t before;
    MPI_Fetch_and_op(&by, &before, MPI_INT64_T, 0, 0, MPI_SUM, counter);
    MPI_Win_flush(0, counter);
    return before + by;
}

/* Counts the root of a subtree, and leaves its children to whoever takes them. */
static void expand(node v, tally *t, stack *own)
{
    node below[32];
    int n = children(v);
    if (v.level >= SPLIT) {
        count(v, t);
        open_subtrees(-1);
        return;
    }
    t->nodes++;
    t->leaves += n == 0;
    t->mark ^= mix(v.state + v.level);
    for (int k = 0; k < n; k++) below[k] = child(v, k);
    open_subtrees(n - 1); /* before anybody can have counted one of them */
    for (int left = keep(below, n, own); left > 0; left--) expand(below[n - left], t, own);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    node root = {mix(argc > 1 ? strtoull(argv[1], NULL, 10) : 1), 0}, got[ROOM];
    stack *own;
    int64_t *open, begin = 1;
    tally mine = {0, 0, 0}, all = {0, 0, 0}, alone = {0, 0, 0};
    uint64_t draw = (uint64_t)rank, steals = 0, most;
    MPI_Type_contiguous(2, MPI_UINT64_T, &node_type);
    MPI_Type_commit(&node_type);
    MPI_Win_allocate(sizeof(stack), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &stacks);
    MPI_Win_allocate(rank == 0 ? sizeof *open : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &open, &counter);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, stacks);
    own->n = rank == 0;
    own->at[0] = root;
    MPI_Win_unlock(rank, stacks);
    MPI_Win_lock_all(0, counter);
    if (rank == 0) MPI_Accumulate(&begin, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_REPLACE, counter);
    MPI_Win_flush_all(counter);
    MPI_Barrier(MPI_COMM_WORLD);

    do {
        int n = take(rank, got, 1);
        if (n == 0 && size > 1) {
            draw = mix(draw + 1);
            int victim = (rank + 1 + (int)(draw % (uint64_t)(size - 1))) % size;
            steals += (n = take(victim, got, ROOM)) > 0;
            int left = n > 1 ? keep(got + 1, n - 1, own) : 0; /* one is for now */
            while (left > 0) expand(got[n - left--], &mine, own);
        }
        if (n > 0) expand(got[0], &mine, own);
    } while (open_subtrees(0) > 0);

    MPI_Win_unlock_all(counter);
    MPI_Reduce(&mine.nodes, &all.nodes, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine.mark, &all.mark, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine.nodes, &most, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &steals, &steals, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    int good = 1;
    if (rank == 0) {
        count(root, &alone);
        good = alone.nodes == all.nodes && alone.leaves == all.leaves && alone.mark == all.mark;
        printf("%d ranks stole %llu times; one counted %.0f%% of all nodes, and nobody more\n", size,
               (unsigned long long)steals, 100.0 * (double)most / (double)all.nodes);
        printf("answer: %llu nodes, %llu of them leaves: %s\n", (unsigned long long)all.nodes,
               (unsigned long long)all.leaves, good ? "right" : "WRONG");
    }
    MPI_Win_free(&stacks);
    MPI_Win_free(&counter);
    MPI_Type_free(&node_type);
    MPI_Finalize();
    return good ? 0 : 1;
}
