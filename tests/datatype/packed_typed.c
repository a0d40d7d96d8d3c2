/* Data packed by the sender and received as what it is; and the other way round. */
#include "../check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    int words[4] = {check_rank, 1, -2, 3}, got[4] = {0}, position = 0, length = -1;
    char buffer[200];
    MPI_Status status;
    MPI_Pack(words, 4, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Sendrecv(buffer, position, MPI_PACKED, next, 0, got, 4, MPI_INT, previous, 0, MPI_COMM_WORLD, &status);
    CHECK(got[0] == previous && got[1] == 1 && got[2] == -2 && got[3] == 3);
    MPI_Sendrecv(words, 4, MPI_INT, next, 0, buffer, sizeof buffer, MPI_PACKED, previous, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_PACKED, &length);
    position = 0;
    memset(got, 0, sizeof got);
    MPI_Unpack(buffer, length, &position, got, 4, MPI_INT, MPI_COMM_WORLD);
    CHECK(got[0] == previous && got[1] == 1 && got[2] == -2 && got[3] == 3);
    return check_end();
}
