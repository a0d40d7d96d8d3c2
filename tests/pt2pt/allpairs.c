/* Every rank to every rank, itself included, in one go: one message of each predefined type and of several lengths. */
#include "../check.h"

typedef struct { MPI_Datatype type; int size; } Kind;
enum { LENGTHS = 4 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    const Kind kind[] = {
        {MPI_CHAR, sizeof(char)}, {MPI_SIGNED_CHAR, 1}, {MPI_UNSIGNED_CHAR, 1}, {MPI_BYTE, 1},
        {MPI_SHORT, sizeof(short)}, {MPI_UNSIGNED_SHORT, sizeof(short)}, {MPI_INT, sizeof(int)},
        {MPI_UNSIGNED, sizeof(int)}, {MPI_LONG_LONG, 8}, {MPI_UNSIGNED_LONG_LONG, 8}, {MPI_INT8_T, 1}, {MPI_INT16_T, 2},
        {MPI_INT32_T, 4}, {MPI_INT64_T, 8}, {MPI_UINT8_T, 1}, {MPI_UINT16_T, 2}, {MPI_UINT32_T, 4}, {MPI_UINT64_T, 8},
        {MPI_AINT, sizeof(MPI_Aint)}, {MPI_OFFSET, sizeof(MPI_Offset)},
        {MPI_COUNT, sizeof(MPI_Count)},
    };
    static const int lengths[LENGTHS] = {0, 1, 333, 9000};
    int kinds = (int)(sizeof kind / sizeof *kind), count = kinds * LENGTHS * check_size, largest = 9000 * 8;
    MPI_Request *request = malloc(sizeof(MPI_Request) * (size_t)count * 2);
    char **in = malloc(sizeof(char *) * (size_t)count), *out = malloc((size_t)largest);
    check_fill(out, (size_t)largest, (uint64_t)check_rank);
    for (int i = 0, r = 0; r < check_size; r++)
        for (int k = 0; k < kinds; k++)
            for (int l = 0; l < LENGTHS; l++, i++) {
                in[i] = malloc((size_t)(lengths[l] * kind[k].size + 1));
                MPI_Irecv(in[i], lengths[l], kind[k].type, r, k * LENGTHS + l, MPI_COMM_WORLD, &request[i]);
            }
    for (int i = count, r = 0; r < check_size; r++)
        for (int k = kinds - 1; k >= 0; k--)
            for (int l = 0; l < LENGTHS; l++, i++)
                MPI_Isend(out, lengths[l], kind[k].type, (check_rank + r) % check_size, k * LENGTHS + l, MPI_COMM_WORLD,
                          &request[i]);
    MPI_Waitall(2 * count, request, MPI_STATUSES_IGNORE);
    for (int i = 0, r = 0; r < check_size; r++) {
        check_fill(out, (size_t)largest, (uint64_t)r);
        for (int k = 0; k < kinds; k++)
            for (int l = 0; l < LENGTHS; l++, i++) {
                CHECK_SAY(!memcmp(in[i], out, (size_t)(lengths[l] * kind[k].size)),
                          "from rank %d: type number %d, %d elements", r, k, lengths[l]);
                free(in[i]);
            }
    }
    free(in);
    free(out);
    free(request);
    return check_end();
}
