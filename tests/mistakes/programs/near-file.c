// A rank waits for an access to a file that takes long, and the other for that rank.
// ranks: 2
// options: -deadlock abort:0.1
#include <mpi.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, x = 0;
    char name[200];
    MPI_File file;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sprintf(name, "/tmp/impi-mistake-%s", getenv("IMPI_TEST_JOB"));
    if (rank == 0) {
        mkfifo(name, 0600);
        if (fork() == 0) { // it writes later, and uses nothing of MPI
            int fd = open(name, O_RDWR);
            usleep(700000);
            if (write(fd, "abcd", 4) != 4) _exit(1);
            usleep(500000);
            _exit(0);
        }
        MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file);
        MPI_File_iread_shared(file, &x, 4, MPI_BYTE, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        unlink(name);
        wait(NULL);
        MPI_File_close(&file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
