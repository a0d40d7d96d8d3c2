/* Alloc_mem gives memory that may be used in messages; Free_mem takes it back. */
#include "../check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    for (MPI_Aint bytes = 1; bytes <= 1 << 22; bytes *= 8) {
        unsigned char *out = NULL, *in = NULL;
        CHECK_EQ(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &out), MPI_SUCCESS);
        CHECK_EQ(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &in), MPI_SUCCESS);
        CHECK(out && in && out != in);
        check_fill(out, (size_t)bytes, (uint64_t)check_rank);
        MPI_Sendrecv(out, (int)bytes, MPI_BYTE, next, 0, in, (int)bytes, MPI_BYTE, previous, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK_EQ(check_differs(in, (size_t)bytes, (uint64_t)previous), -1);
        CHECK_EQ(MPI_Free_mem(in), MPI_SUCCESS);
        CHECK_EQ(MPI_Free_mem(out), MPI_SUCCESS);
    }
    return check_end();
}
