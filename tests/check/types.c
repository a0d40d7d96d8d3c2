/* IMPI_CHECK=1: messages that are received as other types than they were sent as. MPI_BYTE matches itself alone, and
 * MPI_PACKED matches everything. */
/* ranks: 2 */
#include "differ.h"

enum { LONG_ONE = 100000 }; /* elements */

static double *sent;
static int *got;

/* Rank 0 sends n elements of a type to rank to, which receives them as m of another one. */
typedef struct {
    int n;
    MPI_Datatype type;
    int m;
    MPI_Datatype as;
} message;

static int send_by(int way, message w, int to)
{
    MPI_Request request;
    int code = MPI_SUCCESS;
    switch (way) {
    case 0: return MPI_Send(sent, w.n, w.type, to, 7, MPI_COMM_WORLD);
    case 1: return MPI_Ssend(sent, w.n, w.type, to, 7, MPI_COMM_WORLD);
    case 2: return MPI_Bsend(sent, w.n, w.type, to, 7, MPI_COMM_WORLD);
    case 3:
        code = MPI_Isend(sent, w.n, w.type, to, 7, MPI_COMM_WORLD, &request);
        break;
    default:
        MPI_Send_init(sent, w.n, w.type, to, 7, MPI_COMM_WORLD, &request);
        code = MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        return code;
    }
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int receive_by(int way, message w)
{
    MPI_Request request;
    MPI_Message found;
    MPI_Status st;
    int code;
    switch (way) {
    case 0: return MPI_Recv(got, w.m, w.as, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    case 1:
        MPI_Irecv(got, w.m, w.as, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    case 2:
        MPI_Mprobe(0, 7, MPI_COMM_WORLD, &found, &st);
        return MPI_Mrecv(got, w.m, w.as, &found, &st);
    default:
        MPI_Recv_init(got, w.m, w.as, 0, 7, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        return code;
    }
}

/* The receiver gets an error that names both, or none; the sender gets none. */
static void transfer(message w, const char *one, const char *other)
{
    for (int way = 0; way < 20; way++) {
        if (check_rank == 0) CHECK_EQ(send_by(way % 5, w, 1), MPI_SUCCESS);
        if (check_rank == 1 && !one) CHECK_EQ(receive_by(way % 4, w), MPI_SUCCESS);
        if (check_rank == 1 && one) DIFFERS(receive_by(way % 4, w), MPI_ERR_TYPE, one, other);
    }
}

/* The same from a rank to itself. */
static void to_oneself(void)
{
    MPI_Request request;
    MPI_Irecv(got, 2, MPI_INT, check_rank, 1, MPI_COMM_WORLD, &request);
    CHECK_EQ(MPI_Send(sent, 1, MPI_DOUBLE, check_rank, 1, MPI_COMM_WORLD), MPI_SUCCESS);
    DIFFERS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TYPE, "MPI_DOUBLE", "2 MPI_INT");
    CHECK_EQ(MPI_Send(sent, 1, MPI_DOUBLE, check_rank, 1, MPI_COMM_WORLD), MPI_SUCCESS);
    DIFFERS(MPI_Recv(got, 2, MPI_INT, check_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TYPE, "MPI_DOUBLE",
            "2 MPI_INT");
}

/* What is sent is a copy, of the program's type. */
static void in_place(void)
{
    int other = 1 - check_rank, word[2] = {check_rank, check_rank};
    MPI_Request request;
    MPI_Isendrecv_replace(word, 2, MPI_INT, other, 1, other, 1, MPI_COMM_WORLD, &request);
    CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(word[1], other);
    MPI_Isendrecv_replace(word, 8, check_rank ? MPI_BYTE : MPI_CHAR, other, 1, other, 1, MPI_COMM_WORLD, &request);
    DIFFERS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TYPE, "8 MPI_BYTE", "8 MPI_CHAR");
}

int main(int argc, char **argv)
{
    differ_start(&argc, &argv);
    static char room[3 * sizeof(double) * LONG_ONE];
    MPI_Buffer_attach(room, sizeof room);
    sent = calloc(2 * LONG_ONE, sizeof *sent);
    got = calloc(2 * LONG_ONE, sizeof(double));
    MPI_Datatype mixed, every_other, ints_then_double;
    int lengths[2] = {2, 1};
    MPI_Aint at[2] = {0, 8};
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, at, parts, &mixed);
    MPI_Type_vector(5, 1, 2, MPI_INT, &every_other);
    MPI_Type_create_struct(2, lengths, (MPI_Aint[]){16, 0}, parts, &ints_then_double);
    MPI_Type_commit(&mixed);
    MPI_Type_commit(&every_other);
    MPI_Type_commit(&ints_then_double);

    transfer((message){1, MPI_DOUBLE, 2, MPI_INT}, "MPI_DOUBLE", "2 MPI_INT");
    transfer((message){LONG_ONE, MPI_DOUBLE, 2 * LONG_ONE, MPI_INT}, "100000 MPI_DOUBLE", "200000 MPI_INT");
    transfer((message){4, MPI_BYTE, 1, MPI_INT}, "4 MPI_BYTE", "MPI_INT");
    transfer((message){1, MPI_INT, 4, MPI_BYTE}, "MPI_INT", "4 MPI_BYTE");
    transfer((message){4, MPI_CHAR, 4, MPI_BYTE}, "4 MPI_CHAR", "4 MPI_BYTE");
    transfer((message){1, mixed, 4, MPI_INT}, "several basic types", "4 MPI_INT");
    transfer((message){3, MPI_INT, 1, mixed}, "3 MPI_INT", "several basic types");

    transfer((message){1, MPI_INT, 4, MPI_PACKED}, NULL, NULL);
    transfer((message){16, MPI_PACKED, 2, MPI_DOUBLE}, NULL, NULL);
    transfer((message){5, MPI_INT, 1, every_other}, NULL, NULL);
    transfer((message){3, MPI_INT, 1, every_other}, NULL, NULL); /* less than there is room for */
    transfer((message){2, MPI_INT, 1, mixed}, NULL, NULL);
    transfer((message){1, mixed, 2, ints_then_double}, NULL, NULL);
    transfer((message){LONG_ONE / 2, mixed, LONG_ONE / 2, ints_then_double}, NULL, NULL);
    transfer((message){0, MPI_DOUBLE, 1, MPI_INT}, NULL, NULL);
    to_oneself();
    in_place();
    MPI_Type_free(&mixed);
    MPI_Type_free(&every_other);
    MPI_Type_free(&ints_then_double);
    void *buffer;
    int size;
    MPI_Buffer_detach(&buffer, &size);
    free(sent);
    free(got);
    return check_end();
}
