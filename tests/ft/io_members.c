/* Ranks die that have a file open: collective calls raise, accesses of one process and the shared pointer go on, also
 * in atomic mode, in which the victim has locked bytes of the file, and the file is closed. So is one that is revoked.
 */
/* ranks: 6 */
/* needs: MPIX_Comm_agree MPIX_Comm_shrink MPIX_Comm_get_failed MPIX_File_revoke */
#include "ft.h"
#include <stdio.h>
#include <sys/time.h>

enum { BYTES = 1 << 16 };

static MPI_Comm comm;
static int rank, size, victim; /* in comm */
static MPI_File fh;
static char data[BYTES], back[BYTES];
static MPI_Status st;

static void at_timer(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void mourn(void)
{
    while (lost(comm) == 0) MPI_Iprobe(0, 99, comm, &(int){0}, MPI_STATUS_IGNORE);
}

/* Of one process. */
static void use_alone(void)
{
    CHECK_EQ(MPI_File_write_at(fh, (MPI_Offset)rank * BYTES, data, BYTES, MPI_BYTE, &st), MPI_SUCCESS);
    CHECK_EQ(MPI_File_read_at(fh, (MPI_Offset)rank * BYTES, back, BYTES, MPI_BYTE, &st), MPI_SUCCESS);
    for (int i = 0; i < BYTES; i++) CHECK_EQ(back[i], data[i]);
}

/* A collective access, at once, nonblocking or in two calls. */
static void collectives(void)
{
    MPI_Request r;
    if (rank == victim) die();
    CHECK_FAILED(MPI_File_write_at_all(fh, rank, data, 1, MPI_BYTE, &st));
    int code = MPI_File_iread_at_all(fh, rank, back, 1, MPI_BYTE, &r);
    CHECK_FAILED(code ? code : MPI_Wait(&r, &st));
    code = MPI_File_write_at_all_begin(fh, rank, data, 1, MPI_BYTE);
    CHECK_FAILED(code ? code : MPI_File_write_at_all_end(fh, data, &st));
    CHECK_FAILED(MPI_File_write_ordered(fh, data, 1, MPI_BYTE, &st));
    CHECK_FAILED(MPI_File_sync(fh));
    CHECK_FAILED(MPI_File_set_size(fh, 5));
    use_alone();
}

/* A timer kills the victim while it moves the shared pointer, and writes. */
static void shared_pointer(void)
{
    MPI_Offset before, after;
    if (rank == victim) {
        signal(SIGALRM, at_timer);
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 2000}, NULL);
        for (;;) MPI_File_write_shared(fh, data, 3, MPI_BYTE, &st);
    }
    mourn();
    CHECK_EQ(MPI_File_get_position_shared(fh, &before), MPI_SUCCESS);
    for (int i = 0; i < 5; i++) CHECK_EQ(MPI_File_write_shared(fh, data, 3, MPI_BYTE, &st), MPI_SUCCESS);
    CHECK_EQ(MPI_File_get_position_shared(fh, &after), MPI_SUCCESS);
    CHECK(after >= before + 15);
    CHECK_EQ(after % 3, 0);
    CHECK_FAILED(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
}

/* A timer kills the victim in atomic accesses, which lock bytes of the file. */
static void in_atomic_mode(void)
{
    CHECK_EQ(MPI_File_set_atomicity(fh, 1), MPI_SUCCESS);
    if (rank == victim) {
        signal(SIGALRM, at_timer);
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 2000}, NULL);
        for (;;) MPI_File_write_at(fh, 0, data, BYTES, MPI_BYTE, &st);
    }
    mourn();
    for (int i = 0; i < 5; i++) CHECK_EQ(MPI_File_write_at(fh, 0, data, BYTES, MPI_BYTE, &st), MPI_SUCCESS);
}

/* Nobody dies. */
static void revoked(void)
{
    MPI_Group failed;
    int flag = -1;
    if (rank == 0) {
        CHECK_EQ(MPIX_File_is_revoked(fh, &flag), MPI_SUCCESS);
        CHECK_EQ(flag, 0);
        CHECK_EQ(MPIX_File_revoke(fh), MPI_SUCCESS);
    }
    CHECK_REVOKED(MPI_File_read_at_all(fh, rank, back, 1, MPI_BYTE, &st));
    CHECK_REVOKED(MPI_File_write_shared(fh, data, 1, MPI_BYTE, &st));
    CHECK_EQ(MPIX_File_is_revoked(fh, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_EQ(MPIX_File_get_failed(fh, &failed), MPI_SUCCESS);
    CHECK_EQ(ranks_of(comm, &failed, (int[64]){0}), 0);
    use_alone();
}

static void lose(const char *name, void (*way)(void), int dies)
{
    MPI_Group failed;
    MPI_Comm left;
    int gone[64];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    victim = dies ? size - 1 : -1;
    CHECK_EQ(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh), MPI_SUCCESS);
    MPIX_Comm_agree(comm, &(int){1}); /* all have it */
    way();
    if (dies) {
        mourn();
        CHECK_EQ(MPIX_File_get_failed(fh, &failed), MPI_SUCCESS);
        CHECK_EQ(ranks_of(comm, &failed, gone), 1);
        CHECK_EQ(gone[0], victim);
    }
    CHECK_CLASS(MPI_File_close(&fh), dies ? MPIX_ERR_PROC_FAILED : MPIX_ERR_REVOKED);
    CHECK(fh == MPI_FILE_NULL);
    CHECK_EQ(MPIX_Comm_shrink(comm, &left), MPI_SUCCESS);
    MPI_Comm_free(&comm);
    comm = left;
}

int main(int argc, char **argv)
{
    char name[64];
    long number = getpid();
    ft_start(&argc, &argv);
    MPI_Bcast(&number, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/tmp/impi_ft_io_%ld", number);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < BYTES; i++) data[i] = (char)(i + check_rank);
    lose(name, collectives, 1);
    lose(name, shared_pointer, 1);
    lose(name, in_atomic_mode, 1);
    lose(name, revoked, 0);
    MPI_Comm_free(&comm);
    if (check_rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
    return check_end();
}
