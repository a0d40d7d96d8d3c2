/* The last rank goes without a word, and rank 0 waits for it: a function of the event peer_lost says which rank that
 * was, before the call returns. The job is fault tolerant, so that the program can say so. */
#include <mpi.h>
#include <mpix.h>
#include <stdio.h>
#include <unistd.h>

static int lost = -1, calls;

static void on_lost(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *data)
{
    (void)r, (void)safety, (void)data;
    calls++;
    MPI_T_event_read(e, 0, &lost);
}

int main(int argc, char **argv)
{
    int rank, size, provided, index, x;
    MPI_T_event_registration r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) || MPI_T_event_get_index("peer_lost", &index)
        || MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &r)
        || MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_lost)) return 9;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) _exit(0);
    int code = MPI_Recv(&x, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), class_ = 0;
    MPI_Error_class(code, &class_);
    if (rank == 0) printf("%d %d %d\n", class_ == MPIX_ERR_PROC_FAILED, calls, lost);
    MPI_Finalize();
    return 0;
}
