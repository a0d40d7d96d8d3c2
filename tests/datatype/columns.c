/* A matrix sent as a row of columns: to where it is a list of them, to the same layout, and from a list; with columns
 * so short and so long that a piece of a long message holds many or less than one, in 8 and in other bytes an element.
 *
 * ranks: 2 3
 */
#include "../check.h"

static int next, previous;

static void matrix(int rows, int columns, int element)
{
    size_t pitch = (size_t)(columns + 3) * (size_t)element, bytes = (size_t)rows * (size_t)columns * (size_t)element;
    unsigned char *a = malloc((size_t)rows * pitch), *b = malloc((size_t)rows * pitch), *list = malloc(bytes);
    MPI_Datatype one, column, narrow, all;
    MPI_Type_contiguous(element, MPI_BYTE, &one);
    MPI_Type_create_hvector(rows, 1, (MPI_Aint)pitch, one, &column);
    MPI_Type_create_resized(column, 0, element, &narrow);
    MPI_Type_contiguous(columns, narrow, &all);
    MPI_Type_commit(&all);
    MPI_Type_commit(&narrow);
    for (int turn = 0; turn < 2; turn++) {
        check_fill(a, (size_t)rows * pitch, (uint64_t)check_rank);
        memset(list, 0, bytes);
        MPI_Sendrecv(a, 1, all, next, 1, list, (int)bytes, MPI_BYTE, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        memset(b, 0x5A, (size_t)rows * pitch);
        MPI_Sendrecv(a, columns, narrow, next, 2, b, 1, all, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_fill(a, (size_t)rows * pitch, (uint64_t)previous);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++)
                CHECK(!memcmp(list + ((size_t)j * (size_t)rows + (size_t)i) * (size_t)element, a + (size_t)i * pitch +
                    (size_t)(j * element), (size_t)element));
            CHECK(!memcmp(b + (size_t)i * pitch, a + (size_t)i * pitch, (size_t)(columns * element)));
            CHECK(b[(size_t)i * pitch + (size_t)(columns * element)] == 0x5A);
        }
        memset(b, 0x5A, (size_t)rows * pitch);
        MPI_Sendrecv(list, (int)bytes, MPI_BYTE, next, 3, b, 1, all, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_fill(a, (size_t)rows * pitch, (uint64_t)((previous + check_size - 1) % check_size));
        for (int i = 0; i < rows; i++) {
            CHECK(!memcmp(b + (size_t)i * pitch, a + (size_t)i * pitch, (size_t)(columns * element)));
        }
    }
    MPI_Type_free(&one);
    MPI_Type_free(&column);
    MPI_Type_free(&narrow);
    MPI_Type_free(&all);
    free(a);
    free(b);
    free(list);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    static const int elements[] = {8, 4, 1, 16, 24};
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        matrix(1024, 30, elements[i]);
        matrix(1000, 5, elements[i]);
        matrix(12, 700, elements[i]);
        matrix(9000, 3, elements[i]);
    }
    return check_end();
}
