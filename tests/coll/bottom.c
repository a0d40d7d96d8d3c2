/* Buffers that are MPI_BOTTOM on both sides, with types that hold the addresses: which memory is meant, the type says.
 * Blocks from 4 bytes to 256 KiB; blocking, nonblocking and persistent. */
/* ranks: 1 2 3 4 */
#include "../check.h"

static int k, *from, *to; /* integers of a block; blocks of all ranks */
static MPI_Datatype out, in;

static MPI_Datatype absolute(const void *memory)
{
    MPI_Aint at;
    MPI_Datatype ints = MPI_INT, block, made;
    MPI_Get_address(memory, &at);
    MPI_Type_create_struct(1, &k, &at, &ints, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)sizeof(int) * k, &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&block);
    return made;
}

static void fill(void)
{
    for (int i = 0; i < k * check_size; i++) from[i] = 1000 * check_rank + i / k, to[i] = -1;
}

/* The first and the last element of so many blocks of what has been received. */
static void arrived(const char *what, int blocks, int each, int plus)
{
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < k; i += k > 1 ? k - 1 : 1)
            CHECK_SAY(to[b * k + i] == each * b + plus, "%s, %d integers, block %d is %d", what, k, b, to[b * k + i]);
}

static void done(MPI_Request *request, int start)
{
    if (start) MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (start) MPI_Request_free(request);
}

static void all(void)
{
    enum { MOST = 8 };
    int ones[MOST], at[MOST], none[MOST] = {0}, n = check_size, me = check_rank;
    MPI_Datatype outs[MOST], ins[MOST];
    MPI_Request r;
    for (int i = 0; i < n; i++) ones[i] = 1, at[i] = i, outs[i] = absolute(from + i * k), ins[i] = absolute(to + i * k);
#define B MPI_BOTTOM
#define W MPI_COMM_WORLD
    fill(), MPI_Alltoall(B, 1, out, B, 1, in, W), arrived("Alltoall", n, 1000, me);
    fill(), MPI_Alltoallv(B, ones, at, out, B, ones, at, in, W), arrived("Alltoallv", n, 1000, me);
    fill(), MPI_Alltoallw(B, ones, none, outs, B, ones, none, ins, W), arrived("Alltoallw", n, 1000, me);
    fill(), MPI_Allgather(B, 1, out, B, 1, in, W), arrived("Allgather", n, 1000, 0);
    fill(), MPI_Allgatherv(B, 1, out, B, ones, at, in, W), arrived("Allgatherv", n, 1000, 0);
    fill(), MPI_Gather(B, 1, out, B, 1, in, 0, W), arrived("Gather", me ? 0 : n, 1000, 0);
    fill(), MPI_Gatherv(B, 1, out, B, ones, at, in, 0, W), arrived("Gatherv", me ? 0 : n, 1000, 0);
    fill(), MPI_Scatter(B, 1, out, B, 1, in, 0, W), arrived("Scatter", 1, 0, me);
    fill(), MPI_Scatterv(B, ones, at, out, B, 1, in, 0, W), arrived("Scatterv", 1, 0, me);
    fill(), MPI_Sendrecv(B, 1, out, me, 0, B, 1, in, me, 0, W, MPI_STATUS_IGNORE), arrived("Sendrecv", 1, 0, 1000 * me);

    fill(), MPI_Ialltoall(B, 1, out, B, 1, in, W, &r), done(&r, 0), arrived("Ialltoall", n, 1000, me);
    fill(), MPI_Ialltoallv(B, ones, at, out, B, ones, at, in, W, &r), done(&r, 0), arrived("Ialltoallv", n, 1000, me);
    fill(), MPI_Ialltoallw(B, ones, none, outs, B, ones, none, ins, W, &r), done(&r, 0);
    arrived("Ialltoallw", n, 1000, me);
    fill(), MPI_Iallgather(B, 1, out, B, 1, in, W, &r), done(&r, 0), arrived("Iallgather", n, 1000, 0);
    fill(), MPI_Iallgatherv(B, 1, out, B, ones, at, in, W, &r), done(&r, 0), arrived("Iallgatherv", n, 1000, 0);
    fill(), MPI_Iscatter(B, 1, out, B, 1, in, 0, W, &r), done(&r, 0), arrived("Iscatter", 1, 0, me);
#if MPI_VERSION >= 4
#define I MPI_INFO_NULL
    fill(), MPI_Alltoall_init(B, 1, out, B, 1, in, W, I, &r), done(&r, 1), arrived("Alltoall_init", n, 1000, me);
    fill(), MPI_Alltoallv_init(B, ones, at, out, B, ones, at, in, W, I, &r), done(&r, 1);
    arrived("Alltoallv_init", n, 1000, me);
    fill(), MPI_Alltoallw_init(B, ones, none, outs, B, ones, none, ins, W, I, &r), done(&r, 1);
    arrived("Alltoallw_init", n, 1000, me);
    fill(), MPI_Allgather_init(B, 1, out, B, 1, in, W, I, &r), done(&r, 1), arrived("Allgather_init", n, 1000, 0);
#endif

    for (int i = 0; i < n; i++) MPI_Type_free(&outs[i]), MPI_Type_free(&ins[i]);
    if (!check_library("libimpi")) return; /* MPICH takes equal addresses for equal buffers */
    /* An address that is one, for both: the displacements tell the blocks apart. */
    int *base = from < to ? from : to, sent[MOST], got[MOST];
    for (int i = 0; i < n; i++) sent[i] = (int)(from - base) + i * k, got[i] = (int)(to - base) + i * k, none[i] = k;
    fill(), MPI_Alltoallv(base, none, sent, MPI_INT, base, none, got, MPI_INT, W), arrived("same base", n, 1000, me);
    fill(), MPI_Ialltoallv(base, none, sent, MPI_INT, base, none, got, MPI_INT, W, &r), done(&r, 0);
    arrived("same base, nonblocking", n, 1000, me);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (k = 1; k <= 65536; k *= 4) {
        from = malloc(2 * sizeof(int) * k * check_size);
        to = from + k * check_size;
        out = absolute(from), in = absolute(to);
        all();
        MPI_Type_free(&out), MPI_Type_free(&in);
        free(from);
    }
    return check_end();
}
