/* Makes one of each kind of object, uses it, and frees it; leaks [forget]: but for a block of its own. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { N = 200 };

static int rank, size;

static void messages(MPI_Comm comm)
{
    static int out[N * N], in[N * N];
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Request r[2];
    MPI_Isend(out, N * N, MPI_INT, next, 0, comm, &r[0]);
    MPI_Irecv(in, N * N, MPI_INT, previous, 0, comm, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Send_init(out, 1, MPI_INT, next, 0, comm, &r[0]);
    MPI_Recv_init(in, 1, MPI_INT, previous, 0, comm, &r[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    int bytes = 1000 + MPI_BSEND_OVERHEAD;
    void *room = malloc((size_t)bytes);
    MPI_Buffer_attach(room, bytes);
    MPI_Bsend(out, 10, MPI_INT, next, 1, comm);
    MPI_Recv(in, 10, MPI_INT, previous, 1, comm, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&room, &bytes);
    free(room);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void collectives(MPI_Comm comm)
{
    static int out[N], in[N * 16];
    MPI_Request r;
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(out, in, N, MPI_INT, op, comm);
    MPI_Op_free(&op);
    MPI_Allreduce(out, in, N, MPI_INT, MPI_SUM, comm);
    MPI_Ibarrier(comm, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int n = 1; n <= N; n *= N) {
        MPI_Allreduce_init(out, in, n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r);
        for (int i = 0; i < 3; i++) {
            MPI_Start(&r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&r);
    }
    if (size <= 16) MPI_Alltoall(in, N, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, comm);
}

static void types(MPI_Comm comm)
{
    static int data[N * 4];
    int lengths[N], at[N];
    MPI_Datatype blocks, rows;
    for (int i = 0; i < N; i++) lengths[i] = 1 + i % 2, at[i] = 4 * i;
    MPI_Type_indexed(N, lengths, at, MPI_INT, &blocks);
    MPI_Type_commit(&blocks);
    MPI_Type_vector(3, 2, 5, MPI_INT, &rows);
    MPI_Type_commit(&rows);
    MPI_Sendrecv(data, 1, blocks, rank, 0, data + 2, 1, blocks, rank, 0, comm, MPI_STATUS_IGNORE);
    MPI_Bcast(data, 1, rows, 0, comm);
    MPI_Type_free(&blocks);
    MPI_Type_free(&rows);
}

static void windows(MPI_Comm comm)
{
    MPI_Win w;
    int *memory, *flag, one = 1, has;
    MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &w);
    MPI_Win_fence(0, w);
    MPI_Put(&one, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    MPI_Win_get_attr(w, MPI_WIN_MODEL, &flag, &has);
    MPI_Win_free(&w);
    static int own[N];
    MPI_Win_create(own, sizeof own, sizeof(int), MPI_INFO_NULL, comm, &w);
    MPI_Win_lock_all(0, w);
    MPI_Accumulate(&one, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, MPI_SUM, w);
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &w);
    MPI_Win_attach(w, own, sizeof own);
    MPI_Win_detach(w, own);
    MPI_Win_free(&w);
    MPI_Alloc_mem(100, MPI_INFO_NULL, &memory);
    MPI_Free_mem(memory);
}

static int copy(MPI_Comm from, int key, void *extra, void *in, void *out, int *flag)
{
    (void)from, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void handle(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

static void objects(void)
{
    MPI_Comm dup, grid, inter, half;
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Session session;
    int key, *value, has, dims[1] = {0}, periods[1] = {1};
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(dup, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_call_errhandler(dup, MPI_ERR_OTHER);
    MPI_Comm_get_attr(dup, MPI_TAG_UB, &value, &has);
    messages(dup);
    collectives(dup);
    types(dup);
    windows(dup);
    MPI_Dims_create(size, 1, dims);
    MPI_Cart_create(dup, 1, dims, periods, 1, &grid);
    MPI_Barrier(grid);
    MPI_Comm_free(&grid);
    if (size > 1) {
        MPI_Comm_split(dup, rank % 2, 0, &half);
        MPI_Intercomm_create(half, 0, dup, 1 - rank % 2, 5, &inter);
        MPI_Barrier(inter);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    MPI_Comm_free(&dup);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_free(&group);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_free(&info);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_finalize(&session);
}

static void files(void)
{
    MPI_File file;
    char name[] = "leaks-file", text[10] = "text";
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 10 * rank, text, 10, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    objects();
    files();
    MPI_Finalize();
    if (argc > 1) {
        char *volatile forgotten = malloc(1234);
        forgotten[0] = 1;
        forgotten = NULL;
    }
    return 0;
}
