/* Tens of thousands of receives with tags of their own, matched from the back and at random, and as many early
 * messages. */
/* ranks: 1 2 3 */
#include "../check.h"

enum { MANY = 40000, WINDOW = 1000 };

static int next, previous, many = MANY, order[MANY];

/* Receives are all posted, messages come in some order. */
static void posted(int random)
{
    MPI_Request *in = malloc(sizeof(MPI_Request) * many), out[WINDOW];
    MPI_Status *status = malloc(sizeof(MPI_Status) * many);
    int *got = malloc(sizeof(int) * many), word[WINDOW];
    for (int i = 0; i < many; i++) {
        got[i] = -1;
        /* One in five stands in the queue of receives from anywhere. */
        MPI_Irecv(&got[i], 1, MPI_INT, i % 5 ? previous : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &in[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < many; k++) {
        int tag = random ? order[k] : many - 1 - k, w = k % WINDOW;
        if (w == 0 && k) MPI_Waitall(WINDOW, out, MPI_STATUSES_IGNORE);
        word[w] = tag * 2 + check_rank % 2;
        MPI_Isend(&word[w], 1, MPI_INT, next, tag, MPI_COMM_WORLD, &out[w]);
    }
    MPI_Waitall(WINDOW, out, MPI_STATUSES_IGNORE);
    MPI_Waitall(many, in, status);
    for (int i = 0; i < many; i++) {
        CHECK_EQ(got[i], i * 2 + previous % 2);
        CHECK_EQ(status[i].MPI_TAG, i);
    }
    free(in);
    free(status);
    free(got);
}

/* Messages are there first, receives come in some order, with probes. */
static void early(int random)
{
    MPI_Request *out = malloc(sizeof(MPI_Request) * many);
    int *word = malloc(sizeof(int) * many);
    for (int i = 0; i < many; i++) {
        word[i] = i;
        MPI_Isend(&word[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &out[i]);
    }
    for (int k = 0; k < many; k++) {
        int tag = random ? order[k] : many - 1 - k, got = -1;
        MPI_Status s;
        if (k % 100 == 0) {
            MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &s);
            CHECK_EQ(s.MPI_SOURCE, previous);
        }
        MPI_Recv(&got, 1, MPI_INT, k % 3 ? previous : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &s);
        CHECK_EQ(got, tag);
    }
    MPI_Waitall(many, out, MPI_STATUSES_IGNORE);
    free(out);
    free(word);
}

/* All requests completed by Waitsome, whatever is done. */
static void some(void)
{
    MPI_Request *r = malloc(sizeof(MPI_Request) * many);
    int *index = malloc(sizeof(int) * many), *got = malloc(sizeof(int) * many), left = many, sent = 0;
    for (int i = 0; i < many; i++) MPI_Irecv(&got[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &r[i]);
    while (left > 0 || sent < many) {
        int n = 0;
        for (int k = 0; k < many / 20 && sent < many; k++, sent++) {
            MPI_Send(&order[sent], 1, MPI_INT, next, order[sent], MPI_COMM_WORLD);
        }
        if (left == 0) continue;
        MPI_Waitsome(many, r, &n, index, MPI_STATUSES_IGNORE);
        CHECK(n != MPI_UNDEFINED);
        for (int k = 0; k < n; k++) CHECK_EQ(got[index[k]], index[k]);
        left -= n;
    }
    free(r);
    free(index);
    free(got);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    if (check_spans()) many /= 5;
    check_stream s = check_seed(4);
    for (int i = 0; i < many; i++) order[i] = i;
    for (int i = many - 1; i > 0; i--) {
        int j = check_below(&s, i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    posted(0);
    posted(1);
    early(0);
    early(1);
    some();
    return check_end();
}
