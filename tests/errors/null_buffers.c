/* NULL as the buffer of a datatype that is not contiguous is an error, in all calls. MPI_BOTTOM, which is NULL, is none
 * where the datatype has absolute addresses. */
/* ranks: 1 2 */
/* needs: MPI_File_write_at MPI_Put MPI_Alltoallw MPI_Psend_init MPI_Neighbor_alltoall */
#include "../check.h"
#include <unistd.h>

/* Elements that begin at byte 0 or a little behind it, as the inner part of an array does; and two at absolute
 * addresses. */
static MPI_Datatype bad[3], absolute;
static int data[4];

static void make(void)
{
    MPI_Aint at[2];
    MPI_Type_vector(2, 1, 2, MPI_INT, &bad[0]);
    MPI_Type_create_subarray(2, (int[]){100, 100}, (int[]){50, 50}, (int[]){25, 25}, MPI_ORDER_C, MPI_INT, &bad[1]);
    MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){16, -16}, MPI_INT, &bad[2]);
    MPI_Get_address(&data[0], &at[0]);
    MPI_Get_address(&data[3], &at[1]);
    MPI_Type_create_hindexed_block(2, 1, at, MPI_INT, &absolute);
    for (int i = 0; i < 3; i++) MPI_Type_commit(&bad[i]);
    MPI_Type_commit(&absolute);
}

#define WRONG(call) CHECK_CLASS(call, MPI_ERR_BUFFER)
#define RIGHT(call) CHECK_EQ(call, MPI_SUCCESS)

static void messages(MPI_Comm self, MPI_Datatype t)
{
    char room[64];
    int at = 0;
    MPI_Request r;
    WRONG(MPI_Send(NULL, 1, t, 0, 0, self));
    WRONG(MPI_Ssend(NULL, 1, t, 0, 0, self));
    WRONG(MPI_Rsend(NULL, 1, t, 0, 0, self));
    WRONG(MPI_Bsend(NULL, 1, t, 0, 0, self));
    WRONG(MPI_Isend(NULL, 1, t, 0, 0, self, &r));
    WRONG(MPI_Send_init(NULL, 1, t, 0, 0, self, &r));
    WRONG(MPI_Recv(NULL, 1, t, 0, 0, self, MPI_STATUS_IGNORE));
    WRONG(MPI_Irecv(NULL, 1, t, 0, 0, self, &r));
    WRONG(MPI_Recv_init(NULL, 1, t, 0, 0, self, &r));
    WRONG(MPI_Sendrecv(NULL, 1, t, 0, 0, room, 64, MPI_BYTE, 0, 0, self, MPI_STATUS_IGNORE));
    WRONG(MPI_Sendrecv(room, 1, MPI_BYTE, 0, 0, NULL, 1, t, 0, 0, self, MPI_STATUS_IGNORE));
    WRONG(MPI_Sendrecv_replace(NULL, 1, t, 0, 0, 0, 0, self, MPI_STATUS_IGNORE));
    WRONG(MPI_Psend_init(NULL, 1, 1, t, 0, 0, self, MPI_INFO_NULL, &r));
    WRONG(MPI_Precv_init(NULL, 1, 1, t, 0, 0, self, MPI_INFO_NULL, &r));
    WRONG(MPI_Pack(NULL, 1, t, room, 64, &at, self));
    WRONG(MPI_Unpack(room, 64, &at, NULL, 1, t, self));
    MPI_Aint far = 0;
    WRONG(MPI_Pack_external("external32", NULL, 1, t, room, 64, &far));
    WRONG(MPI_Unpack_external("external32", room, 64, &far, NULL, 1, t));
    WRONG(MPI_Send((void *)(uintptr_t)64, 1, t, 0, 0, self)); /* a member of a structure at NULL */
}

static void collectives(MPI_Comm self, MPI_Comm ring, MPI_Datatype t)
{
    char room[20000];
    int one = 1, none = 0, bytes = 0;
    MPI_Datatype byte = MPI_BYTE;
    MPI_Request r;
    MPI_Type_size(t, &bytes);
    WRONG(MPI_Bcast(NULL, 1, t, 0, self));
    WRONG(MPI_Ibcast(NULL, 1, t, 0, self, &r));
    WRONG(MPI_Gather(NULL, 1, t, room, bytes, byte, 0, self));
    WRONG(MPI_Gather(room, bytes, byte, NULL, 1, t, 0, self));
    WRONG(MPI_Gatherv(NULL, 1, t, room, &bytes, &none, byte, 0, self));
    WRONG(MPI_Gatherv(room, bytes, byte, NULL, &one, &none, t, 0, self));
    WRONG(MPI_Scatter(NULL, 1, t, room, bytes, byte, 0, self));
    WRONG(MPI_Scatterv(NULL, &one, &none, t, room, bytes, byte, 0, self));
    WRONG(MPI_Allgather(NULL, 1, t, room, bytes, byte, self));
    WRONG(MPI_Allgatherv(room, bytes, byte, NULL, &one, &none, t, self));
    WRONG(MPI_Alltoall(NULL, 1, t, room, bytes, byte, self));
    WRONG(MPI_Alltoallv(NULL, &one, &none, t, room, &bytes, &none, byte, self));
    WRONG(MPI_Alltoallv(room, &bytes, &none, byte, NULL, &one, &none, t, self));
    WRONG(MPI_Alltoallw(NULL, &one, &none, &t, room, &bytes, &none, &byte, self));
    WRONG(MPI_Alltoallw(room, &bytes, &none, &byte, NULL, &one, &none, &t, self));
    WRONG(MPI_Ialltoallw(NULL, &one, &none, &t, room, &bytes, &none, &byte, self, &r));
    WRONG(MPI_Neighbor_alltoall(NULL, 1, t, room, bytes, byte, ring));
    WRONG(MPI_Neighbor_allgather(NULL, 1, t, room, bytes, byte, ring));
    RIGHT(MPI_Allgatherv(room, 0, byte, NULL, &none, &none, t, self)); /* no elements, no buffer */
    RIGHT(MPI_Bcast(NULL, 0, t, 0, self));
}

static void windows(MPI_Comm self, MPI_Datatype t)
{
    static char memory[20000];
    int bytes, ints;
    MPI_Win w;
    MPI_Type_size(t, &bytes);
    ints = bytes / (int)sizeof(int);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, self, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, w);
    WRONG(MPI_Put(NULL, 1, t, 0, 0, ints, MPI_INT, w));
    WRONG(MPI_Get(NULL, 1, t, 0, 0, ints, MPI_INT, w));
    WRONG(MPI_Accumulate(NULL, 1, t, 0, 0, ints, MPI_INT, MPI_SUM, w));
    WRONG(MPI_Get_accumulate(memory, ints, MPI_INT, NULL, 1, t, 0, 0, ints, MPI_INT, MPI_SUM, w));
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
}

static void files(MPI_File f, MPI_Datatype t)
{
    MPI_Status s;
    MPI_Request r;
    WRONG(MPI_File_write(f, NULL, 1, t, &s));
    WRONG(MPI_File_read(f, NULL, 1, t, &s));
    WRONG(MPI_File_write_at(f, 0, NULL, 1, t, &s));
    WRONG(MPI_File_read_at(f, 0, NULL, 1, t, &s));
    WRONG(MPI_File_write_shared(f, NULL, 1, t, &s));
    WRONG(MPI_File_read_shared(f, NULL, 1, t, &s));
    WRONG(MPI_File_iwrite(f, NULL, 1, t, &r));
    WRONG(MPI_File_iread(f, NULL, 1, t, &r));
    WRONG(MPI_File_iwrite_at(f, 0, NULL, 1, t, &r));
    WRONG(MPI_File_iread_at(f, 0, NULL, 1, t, &r));
    WRONG(MPI_File_iwrite_shared(f, NULL, 1, t, &r));
    WRONG(MPI_File_iread_shared(f, NULL, 1, t, &r));
    WRONG(MPI_File_write_all(f, NULL, 1, t, &s));
    WRONG(MPI_File_read_all(f, NULL, 1, t, &s));
    WRONG(MPI_File_write_at_all(f, 0, NULL, 1, t, &s));
    WRONG(MPI_File_read_at_all(f, 0, NULL, 1, t, &s));
    WRONG(MPI_File_write_ordered(f, NULL, 1, t, &s));
    WRONG(MPI_File_read_ordered(f, NULL, 1, t, &s));
    WRONG(MPI_File_iwrite_all(f, NULL, 1, t, &r));
    WRONG(MPI_File_iread_all(f, NULL, 1, t, &r));
    WRONG(MPI_File_iwrite_at_all(f, 0, NULL, 1, t, &r));
    WRONG(MPI_File_iread_at_all(f, 0, NULL, 1, t, &r));
    WRONG(MPI_File_write_all_begin(f, NULL, 1, t));
    WRONG(MPI_File_read_all_begin(f, NULL, 1, t));
    WRONG(MPI_File_write_at_all_begin(f, 0, NULL, 1, t));
    WRONG(MPI_File_read_at_all_begin(f, 0, NULL, 1, t));
    WRONG(MPI_File_write_ordered_begin(f, NULL, 1, t));
    WRONG(MPI_File_read_ordered_begin(f, NULL, 1, t));
}

static void set(int first, int last) { data[0] = first, data[3] = last; }

#define CHECK_DATA(first, last) CHECK(data[0] == (first) && data[3] == (last))

/* The same with MPI_BOTTOM and absolute addresses moves the data. */
static void bottom(MPI_Comm self, MPI_File f)
{
    int in[2] = {0}, one = 1, two = 2, none = 0, at = 0;
    char room[64];
    MPI_Datatype type = MPI_INT;
    set(5, 6);
    RIGHT(MPI_Sendrecv(MPI_BOTTOM, 1, absolute, 0, 0, in, 2, MPI_INT, 0, 0, self, MPI_STATUS_IGNORE));
    CHECK(in[0] == 5 && in[1] == 6);
    in[0] = 7;
    RIGHT(MPI_Alltoallw(in, &two, &none, &type, MPI_BOTTOM, &one, &none, &absolute, self));
    CHECK_DATA(7, 6);
    in[0] = 8;
    RIGHT(MPI_Allgatherv(in, 2, MPI_INT, MPI_BOTTOM, &one, &none, absolute, self));
    CHECK_DATA(8, 6);
    RIGHT(MPI_Pack(MPI_BOTTOM, 1, absolute, room, 64, &at, self));
    set(0, 0);
    at = 0;
    RIGHT(MPI_Unpack(room, 64, &at, MPI_BOTTOM, 1, absolute, self));
    CHECK_DATA(8, 6);
    RIGHT(MPI_File_write_at(f, 0, MPI_BOTTOM, 1, absolute, MPI_STATUS_IGNORE));
    set(0, 0);
    RIGHT(MPI_File_read_at_all(f, 0, MPI_BOTTOM, 1, absolute, MPI_STATUS_IGNORE));
    CHECK_DATA(8, 6);
}

int main(int argc, char **argv)
{
    char name[64];
    MPI_File f;
    MPI_Comm self, ring;
    check_start(&argc, &argv);
    if (!check_library("libimpi")) return check_end(); /* others end, or move what is not there */
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    MPI_Cart_create(self, 1, (int[]){1}, (int[]){1}, 0, &ring);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* for calls that have no communicator */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    snprintf(name, sizeof name, "/tmp/null_buffers.%d.%d", (int)getpid(), check_rank);
    RIGHT(MPI_File_open(self, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
    make();
    for (int i = 0; i < 3; i++) {
        messages(self, bad[i]);
        collectives(self, ring, bad[i]);
        windows(self, bad[i]);
        files(f, bad[i]);
    }
    bottom(self, f);
    RIGHT(MPI_File_close(&f));
    for (int i = 0; i < 3; i++) MPI_Type_free(&bad[i]);
    MPI_Type_free(&absolute);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&self);
    return check_end();
}
