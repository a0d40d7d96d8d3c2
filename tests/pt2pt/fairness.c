/* A flood does not starve a quiet sender: neither receives from anywhere, nor requests of which any or some are
 * completed. */
/* ranks: 3 4 */
#include "../check.h"

enum { ROUNDS = 40, FLOOD = 1, QUIET = 2, STOP = 3 };

/* Ranks from 2 on send without end until they are told to stop. */
static void flood(void)
{
    int stop = 0, word = check_rank;
    while (!stop) {
        for (int i = 0; i < 20; i++) MPI_Send(&word, 1, MPI_INT, 0, FLOOD, MPI_COMM_WORLD);
        MPI_Iprobe(0, STOP, MPI_COMM_WORLD, &stop, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_INT, 0, STOP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_INT, 0, STOP, MPI_COMM_WORLD);
}

/* Rank 1 sends one message and waits for the answer. */
static void quiet(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Send(&i, 1, MPI_INT, 0, QUIET, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_INT, 0, QUIET, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void answer(int got, int *rounds)
{
    CHECK_EQ(got, *rounds);
    ++*rounds;
    MPI_Send(NULL, 0, MPI_INT, 1, QUIET, MPI_COMM_WORLD);
}

/* What the flooders still have under way. */
static void drain(void)
{
    for (int r = 2; r < check_size; r++) {
        int word;
        MPI_Status s;
        MPI_Send(NULL, 0, MPI_INT, r, STOP, MPI_COMM_WORLD);
        do MPI_Recv(&word, 1, MPI_INT, r, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        while (s.MPI_TAG != STOP);
    }
}

static void from_anywhere(void)
{
    for (int rounds = 0; rounds < ROUNDS;) {
        int word = -1;
        MPI_Status s;
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        if (s.MPI_SOURCE == 1) answer(word, &rounds);
        else CHECK_EQ(word, s.MPI_SOURCE);
    }
}

/* One request for each sender, the quiet one's last; a request that is done is started again at once. how: 0 any, 1
 * some. */
static void requests(int how)
{
    MPI_Request r[8];
    int word[8], index[8], rounds = 0, n = check_size - 1;
    for (int i = 0; i < n; i++) {
        MPI_Irecv(&word[i], 1, MPI_INT, n - i, n - i == 1 ? QUIET : FLOOD, MPI_COMM_WORLD, &r[i]);
    }
    while (rounds < ROUNDS) {
        int done = 1;
        if (how == 0) MPI_Waitany(n, r, index, MPI_STATUS_IGNORE);
        else MPI_Waitsome(n, r, &done, index, MPI_STATUSES_IGNORE);
        for (int k = 0; k < done; k++) {
            int i = index[k], source = n - i;
            if (source == 1) answer(word[i], &rounds);
            else CHECK_EQ(word[i], source);
            if (rounds < ROUNDS) {
                MPI_Irecv(&word[i], 1, MPI_INT, source, source == 1 ? QUIET : FLOOD, MPI_COMM_WORLD, &r[i]);
            }
        }
    }
    for (int i = 0; i < n; i++) {
        if (r[i] == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&r[i]);
        MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int how = 0; how < 3; how++) {
        if (check_rank == 1) quiet();
        else if (check_rank > 1) flood();
        else if (how == 0) from_anywhere();
        else requests(how - 1);
        if (check_rank == 0) drain();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
