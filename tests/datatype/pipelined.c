/* Messages of derived types go piece by piece: neither side ever has the whole of a long one packed. Between ranks,
 * to oneself, by blocking and nonblocking calls, in collectives; the most memory that the process has used tells. */
/* ranks: 2 */
#include "../check.h"
#include <sys/resource.h>

enum { N = 3 << 20, MOST = 12 << 10 }; /* doubles, 24 MiB of them; KiB */

static double *out, *in;
static int other;

static long used(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_maxrss;
}

static void arrived(int from, const char *what, long before)
{
    for (int i = 0; i < N; i++) {
        CHECK_SAY(in[2 * i] == from * 1e7 + i && in[2 * i + 1] == -1, "%s: element %d", what, i);
        in[2 * i] = 0;
    }
    CHECK_SAY(used() - before < MOST, "%s: %ld KiB more for a message of %d KiB", what, used() - before, N / 128);
}

int main(int argc, char **argv)
{
    MPI_Datatype apart;
    MPI_Request request[2];
    check_start(&argc, &argv);
    other = 1 - check_rank;
    out = malloc(sizeof(double) * 2 * N), in = malloc(sizeof(double) * 2 * N);
    for (int i = 0; i < 2 * N; i++) out[i] = i % 2 ? -2 : check_rank * 1e7 + i / 2, in[i] = i % 2 ? -1 : 0;
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &apart);
    MPI_Type_commit(&apart);
    /* What the library needs anyway: its rings, its sockets' buffers, its collector's room. */
    for (int k = 0; k < 20; k++)
        MPI_Sendrecv(out, 100000, MPI_DOUBLE, other, 0, in, 100000, MPI_DOUBLE, other, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    for (int i = 0; i < 100000; i++) in[i] = i % 2 ? -1 : 0;
    long before = used();

    if (check_rank == 0) MPI_Send(out, 1, apart, 1, 1, MPI_COMM_WORLD);
    else {
        MPI_Recv(in, 1, apart, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        arrived(0, "Recv", before);
    }
    MPI_Irecv(in, 1, apart, other, 2, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out, 1, apart, other, 2, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    arrived(other, "Irecv", before);
    MPI_Sendrecv(out, 1, apart, other, 3, in, 1, apart, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    arrived(other, "Sendrecv", before);
    MPI_Sendrecv(out, 1, apart, 0, 4, in, 1, apart, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    arrived(check_rank, "Sendrecv to myself", before);
    if (check_rank == 0) memcpy(in, out, sizeof(double) * 2 * N);
    if (check_rank == 0) for (int i = 0; i < N; i++) in[2 * i + 1] = -1;
    MPI_Bcast(in, 1, apart, 0, MPI_COMM_WORLD);
    arrived(0, "Bcast", before);
    MPI_Type_free(&apart);
    free(out);
    free(in);
    return check_end();
}
