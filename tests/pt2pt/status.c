/* What a status says of a message: count, elements, and what does not divide. */
/* ranks: 1 2 3 */
#include "../check.h"

static void counts(MPI_Datatype type, int sent, int want_count, int want_elements)
{
    int in[64], out[64] = {0}, count = -1, elements = -1;
    MPI_Count wide = -1;
    MPI_Status status;
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    MPI_Sendrecv(out, sent, MPI_INT, next, 0, in, 8, type, previous, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &count);
    CHECK_EQ(count, want_count);
    MPI_Get_elements(&status, type, &elements);
    CHECK_EQ(elements, want_elements);
    MPI_Get_elements_x(&status, type, &wide);
    CHECK_EQ(wide, want_elements);
}

/* A part of an element of several types: an int, two doubles, a char and a pair. */
static void parts(void)
{
    enum { WHOLE = 6 }; /* basic elements, of which the pair has two */
    static const int sizes[WHOLE] = {4, 8, 8, 1, 4, 4};
    MPI_Datatype of[4] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_2INT}, record;
    int lengths[4] = {1, 2, 1, 1}, next = (check_rank + 1) % check_size,
        previous = (check_rank + check_size - 1) % check_size;
    MPI_Aint at[4] = {0, 8, 24, 28};
    static char packed[100], memory[200];
    MPI_Type_create_struct(4, lengths, at, of, &record);
    MPI_Type_commit(&record);
    for (int n = 0, bytes = 0; n <= 2 * WHOLE; bytes += sizes[n++ % WHOLE]) {
        int count = -1, elements = -1;
        MPI_Count wide = -1, large = -1;
        MPI_Status status;
        MPI_Sendrecv(packed, bytes, MPI_PACKED, next, 1, memory, 2, record, previous, 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, record, &count);
        CHECK_EQ(count, n % WHOLE ? MPI_UNDEFINED : n / WHOLE);
        MPI_Get_elements(&status, record, &elements);
        MPI_Get_elements_x(&status, record, &wide);
        MPI_Get_elements_c(&status, record, &large);
        CHECK(elements == n && wide == n && large == n);
    }
    MPI_Type_free(&record);
}

/* More elements than an int counts, of types that have more than one. */
static void beyond(void)
{
    MPI_Datatype three, huge;
    MPI_Count many = ((MPI_Count)1 << 33) + 7, wide = -1, large = -1, count = -1;
    int narrow = 0;
    MPI_Status status;
    memset(&status, 0, sizeof status);
    MPI_Type_contiguous(3, MPI_SHORT, &three);
    MPI_Type_contiguous_c(many, three, &huge);
    MPI_Status_set_elements_c(&status, three, 3 * many + 2);
    MPI_Get_elements_x(&status, three, &wide);
    MPI_Get_elements_c(&status, three, &large);
    CHECK(wide == 3 * many + 2 && large == wide);
    MPI_Get_elements(&status, three, &narrow);
    CHECK_EQ(narrow, MPI_UNDEFINED);
    MPI_Get_count_c(&status, three, &count);
    CHECK_EQ(count, MPI_UNDEFINED);
    MPI_Get_elements_c(&status, huge, &large);
    CHECK(large == 3 * many + 2);
    MPI_Status_set_elements_c(&status, huge, 6 * many);
    MPI_Get_count_c(&status, huge, &count);
    CHECK_EQ(count, 2);
    MPI_Get_count_c(&status, three, &count);
    CHECK_EQ(count, 2 * many);
    MPI_Get_count(&status, three, &narrow);
    CHECK_EQ(narrow, MPI_UNDEFINED);
    MPI_Type_free(&three);
    MPI_Type_free(&huge);
}

int main(int argc, char **argv)
{
    MPI_Datatype three, nested, nothing;
    check_start(&argc, &argv);
    counts(MPI_INT, 0, 0, 0);
    counts(MPI_INT, 5, 5, 5);
    MPI_Type_contiguous(3, MPI_INT, &three);
    MPI_Type_commit(&three);
    counts(three, 6, 2, 6);
    counts(three, 0, 0, 0);
    counts(three, 7, MPI_UNDEFINED, 7);
    counts(three, 1, MPI_UNDEFINED, 1);
    MPI_Type_vector(2, 1, 2, three, &nested);
    MPI_Type_commit(&nested);
    counts(nested, 6, 1, 6);
    counts(nested, 8, MPI_UNDEFINED, 8);
    counts(nested, 12, 2, 12);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    counts(nothing, 0, 0, 0);
    MPI_Type_free(&three);
    MPI_Type_free(&nested);
    MPI_Type_free(&nothing);

    /* A status can be filled by hand. */
    MPI_Status status;
    int n = -1, flag = -1;
    memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, MPI_DOUBLE, 13);
    MPI_Get_count(&status, MPI_DOUBLE, &n);
    CHECK_EQ(n, 13);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &flag);
    CHECK_EQ(flag, 1);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Test_cancelled(&status, &flag);
    CHECK_EQ(flag, 0);
    parts();
    beyond();
    return check_end();
}
