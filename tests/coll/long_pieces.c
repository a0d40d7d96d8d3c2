/* Operations that are carried out in pieces: long ones, with every root, in place and not, of elements with gaps at
 * some ranks, blocking and not, with short ones between them. */
/* ranks: 2 3 4 8 */
#include "../check.h"

enum { N = 60001 };

static long long in[N], out[N], strided[2 * N], *all;

static long long value(int rank, int i) { return rank * 1000003LL + i; }

static void fill(long long *to)
{
    for (int i = 0; i < N; i++) to[i] = value(check_rank, i);
}

/* The sum over ranks 0 to last. */
static long long sum(int last, int i) { return (last + 1LL) * i + 1000003LL * last * (last + 1) / 2; }

static void broadcasts(MPI_Datatype gaps)
{
    for (int root = 0; root < check_size; root++) {
        int odd = (check_rank + root) % 2, n = N - root;
        for (int i = 0; i < n; i++) {
            in[i] = check_rank == root ? value(root, i) : -1;
            strided[2 * i] = in[i];
            strided[2 * i + 1] = -7;
        }
        MPI_Request r;
        MPI_Ibcast(odd ? strided : in, n, odd ? gaps : MPI_LONG_LONG, root, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) {
            CHECK_EQ(odd ? strided[2 * i] : in[i], value(root, i));
            if (odd) CHECK_EQ(strided[2 * i + 1], -7);
        }
        long long word = root;
        MPI_Bcast(&word, 1, MPI_LONG_LONG, root, MPI_COMM_WORLD);
        MPI_Bcast(odd ? strided : in, n, odd ? gaps : MPI_LONG_LONG, (root + 1) % check_size, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) CHECK_EQ(odd ? strided[2 * i] : in[i], value(root, i));
    }
}

static void reductions(void)
{
    int last = check_size - 1;
    MPI_Request r[2];
    for (int in_place = 0; in_place < 2; in_place++) {
        const void *from = in_place ? MPI_IN_PLACE : (void *)in;
        fill(in);
        fill(out);
        MPI_Allreduce(from, out, N, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) CHECK_EQ(out[i], sum(last, i));
        for (int root = 0; root < check_size; root++) {
            fill(out);
            int is_root = check_rank == root;
            MPI_Reduce(is_root ? from : in, is_root ? out : NULL, N, MPI_LONG_LONG, MPI_SUM, root, MPI_COMM_WORLD);
            for (int i = 0; i < N && is_root; i++) CHECK_EQ(out[i], sum(last, i));
        }
        fill(out);
        long long one = check_rank, most = -1;
        MPI_Iscan(from, out, N, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD, &r[0]);
        MPI_Iallreduce(&one, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK_EQ(most, last);
        for (int i = 0; i < N; i++) CHECK_EQ(out[i], sum(check_rank, i));
        fill(out);
        MPI_Exscan(from, out, N, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) CHECK_EQ(out[i], check_rank ? sum(check_rank - 1, i) : value(0, i));
    }
}

/* Rank r has N / (r + 1) elements; those of odd ranks are received with gaps everywhere in the second round. */
static void allgathers(MPI_Datatype gaps)
{
    int *counts = malloc(sizeof(int) * check_size), *at = malloc(sizeof(int) * check_size);
    for (int typed = 0; typed < 2; typed++) {
        int end = 0, each = typed ? 2 : 1;
        for (int r = 0; r < check_size; r++) {
            counts[r] = N / (r + 1);
            at[r] = end;
            end += counts[r] + 1;
        }
        fill(in);
        MPI_Allgatherv(in, counts[check_rank], MPI_LONG_LONG, all, counts, at, typed ? gaps : MPI_LONG_LONG,
                       MPI_COMM_WORLD);
        for (int r = 0; r < check_size; r++)
            for (int i = 0; i < counts[r]; i++) CHECK_EQ(all[each * (at[r] + i)], value(r, i));
        MPI_Allgather(in, N / 2, MPI_LONG_LONG, all, N / 2, typed ? gaps : MPI_LONG_LONG, MPI_COMM_WORLD);
        for (int r = 0; r < check_size; r++)
            for (int i = 0; i < N / 2; i++) CHECK_EQ(all[each * (r * (N / 2) + i)], value(r, i));
    }
    free(counts);
    free(at);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Datatype gaps;
    MPI_Type_create_resized(MPI_LONG_LONG, 0, 2 * sizeof(long long), &gaps);
    MPI_Type_commit(&gaps);
    all = malloc(sizeof *all * 2 * (N + 1) * (size_t)check_size);
    broadcasts(gaps);
    reductions();
    allgathers(gaps);
    free(all);
    MPI_Type_free(&gaps);
    return check_end();
}
