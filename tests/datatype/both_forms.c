/* Every constructor in both its forms: the large one makes the same type of the same arguments, packs the same bytes
 * in native form and in external32, is received by the other, and tells its arguments as large counts. */
#include "../check.h"

enum { ROOM = 4096 };

/* Constructor k of MPI_INT in the small or in the large form; its arguments that are large counts in n. */
static MPI_Datatype make(int k, int large, int *n)
{
    const int lens[3] = {2, 1, 3}, at[3] = {9, 0, 4}, sizes[2] = {6, 5}, subs[2] = {3, 2}, starts[2] = {1, 2};
    const MPI_Aint bytes[3] = {36, 0, 16};
    const MPI_Count wide_lens[3] = {2, 1, 3}, wide_at[3] = {9, 0, 4}, wide_bytes[3] = {36, 0, 16};
    const MPI_Count wide_sizes[2] = {6, 5}, wide_subs[2] = {3, 2}, wide_starts[2] = {1, 2};
    const int distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 1},
              grid[2] = {2, 2};
    const MPI_Datatype of[3] = {MPI_INT, MPI_INT, MPI_INT};
    static const int counts[] = {1, 3, 3, 7, 7, 5, 5, 7, 6, 2, 2};
    MPI_Datatype t = MPI_DATATYPE_NULL;
    *n = counts[k];
    switch (2 * k + large) {
    case 0: MPI_Type_contiguous(5, MPI_INT, &t); break;
    case 1: MPI_Type_contiguous_c(5, MPI_INT, &t); break;
    case 2: MPI_Type_vector(3, 2, -4, MPI_INT, &t); break;
    case 3: MPI_Type_vector_c(3, 2, -4, MPI_INT, &t); break;
    case 4: MPI_Type_create_hvector(3, 2, 20, MPI_INT, &t); break;
    case 5: MPI_Type_create_hvector_c(3, 2, 20, MPI_INT, &t); break;
    case 6: MPI_Type_indexed(3, lens, at, MPI_INT, &t); break;
    case 7: MPI_Type_indexed_c(3, wide_lens, wide_at, MPI_INT, &t); break;
    case 8: MPI_Type_create_hindexed(3, lens, bytes, MPI_INT, &t); break;
    case 9: MPI_Type_create_hindexed_c(3, wide_lens, wide_bytes, MPI_INT, &t); break;
    case 10: MPI_Type_create_indexed_block(3, 2, at, MPI_INT, &t); break;
    case 11: MPI_Type_create_indexed_block_c(3, 2, wide_at, MPI_INT, &t); break;
    case 12: MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &t); break;
    case 13: MPI_Type_create_hindexed_block_c(3, 2, wide_bytes, MPI_INT, &t); break;
    case 14: MPI_Type_create_struct(3, lens, bytes, of, &t); break;
    case 15: MPI_Type_create_struct_c(3, wide_lens, wide_bytes, of, &t); break;
    case 16: MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_FORTRAN, MPI_INT, &t); break;
    case 17: MPI_Type_create_subarray_c(2, wide_sizes, wide_subs, wide_starts, MPI_ORDER_FORTRAN, MPI_INT, &t); break;
    case 18: MPI_Type_create_darray(4, 3, 2, sizes, distribs, dargs, grid, MPI_ORDER_C, MPI_INT, &t); break;
    case 19: MPI_Type_create_darray_c(4, 3, 2, wide_sizes, distribs, dargs, grid, MPI_ORDER_C, MPI_INT, &t); break;
    case 20: MPI_Type_create_resized(MPI_INT, -4, 12, &t); break;
    case 21: MPI_Type_create_resized_c(MPI_INT, -4, 12, &t); break;
    }
    MPI_Type_commit(&t);
    return t;
}

static void same_bounds(MPI_Datatype a, MPI_Datatype b)
{
    MPI_Aint lb, extent;
    MPI_Count wide_lb, wide_extent, size;
    int n;
    MPI_Type_size(a, &n);
    MPI_Type_size_c(b, &size);
    CHECK_EQ(size, n);
    MPI_Type_get_extent(a, &lb, &extent);
    MPI_Type_get_extent_c(b, &wide_lb, &wide_extent);
    CHECK(wide_lb == lb && wide_extent == extent);
    MPI_Type_get_extent_x(b, &wide_lb, &wide_extent);
    CHECK(wide_lb == lb && wide_extent == extent);
    MPI_Type_get_true_extent(a, &lb, &extent);
    MPI_Type_get_true_extent_c(b, &wide_lb, &wide_extent);
    CHECK(wide_lb == lb && wide_extent == extent);
    MPI_Type_get_true_extent_x(b, &wide_lb, &wide_extent);
    CHECK(wide_lb == lb && wide_extent == extent);
}

/* Both forms, external32 by the letter: the ints of the native stream, big-endian. */
static void same_bytes(MPI_Datatype a, MPI_Datatype b)
{
    unsigned char memory[ROOM], one[ROOM], other[ROOM], external[ROOM];
    int at = 0;
    MPI_Count wide_at = 0, size;
    MPI_Aint place = 0, room;
    check_fill(memory, ROOM, 5);
    MPI_Pack(memory + ROOM / 2, 2, a, one, ROOM, &at, MPI_COMM_SELF);
    MPI_Pack_c(memory + ROOM / 2, 2, b, other, ROOM, &wide_at, MPI_COMM_SELF);
    CHECK(wide_at == at && !memcmp(one, other, (size_t)at));
    MPI_Pack_external_size_c("external32", 2, b, &size);
    MPI_Pack_external_size("external32", 2, a, &room);
    CHECK(size == at && room == at);
    wide_at = 0;
    MPI_Pack_external_c("external32", memory + ROOM / 2, 2, b, external, ROOM, &wide_at);
    MPI_Pack_external("external32", memory + ROOM / 2, 2, a, other, ROOM, &place);
    CHECK(wide_at == at && place == at && !memcmp(other, external, (size_t)at));
    for (int i = 0; i < at / 4; i++) {
        uint32_t n;
        memcpy(&n, one + 4 * i, 4);
        for (int k = 0; k < 4; k++) CHECK_EQ(external[4 * i + k], (unsigned char)(n >> (24 - 8 * k)));
    }
    unsigned char copy[ROOM] = {0}, back[ROOM] = {0};
    wide_at = place = 0;
    MPI_Unpack_external_c("external32", external, at, &wide_at, copy + ROOM / 2, 2, b);
    MPI_Unpack_external("external32", external, at, &place, back + ROOM / 2, 2, a);
    CHECK(wide_at == at && place == at && !memcmp(copy, back, ROOM));
    at = 0;
    MPI_Pack(copy + ROOM / 2, 2, a, other, ROOM, &at, MPI_COMM_SELF);
    CHECK(!memcmp(one, other, (size_t)at));
}

static void same_messages(MPI_Datatype a, MPI_Datatype b)
{
    int memory[ROOM / 4], got[ROOM / 4], want[ROOM / 4], n;
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    MPI_Status status;
    unsigned char packed[ROOM];
    int at = 0, end;
    memset(got, 0, ROOM);
    memset(want, 0, ROOM);
    for (int i = 0; i < ROOM / 4; i++) memory[i] = check_rank * 10000 + i;
    MPI_Sendrecv(memory + ROOM / 8, 2, b, next, 1, got + ROOM / 8, 2, a, previous, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, b, &n);
    CHECK_EQ(n, 2);
    for (int i = 0; i < ROOM / 4; i++) memory[i] = previous * 10000 + i;
    MPI_Pack(memory + ROOM / 8, 2, a, packed, ROOM, &at, MPI_COMM_SELF);
    end = at, at = 0;
    MPI_Unpack(packed, end, &at, want + ROOM / 8, 2, a, MPI_COMM_SELF);
    CHECK(!memcmp(got, want, ROOM));
}

static void arguments(MPI_Datatype a, MPI_Datatype b, int k, int expected)
{
    MPI_Count ni, na, nc, nd, counts[16], values[32] = {0};
    int integers[32], combiner, small, i1, a1, d1;
    MPI_Aint addresses[16];
    MPI_Datatype types[4], old[4];
    CHECK_EQ(MPI_Type_get_envelope_c(b, &ni, &na, &nc, &nd, &combiner), MPI_SUCCESS);
    MPI_Type_get_envelope(a, &i1, &a1, &d1, &small);
    CHECK_EQ(combiner, small);
    CHECK_EQ(nd, d1);
    CHECK_EQ(na, 0);
    CHECK_EQ(ni + nc, i1 + a1);
    CHECK_SAY(nc == expected, "constructor %d: %lld large counts, not %d", k, (long long)nc, expected);
    CHECK_CLASS(MPI_Type_get_envelope(b, &i1, &a1, &d1, &small), MPI_ERR_TYPE);
    MPI_Type_get_envelope(a, &i1, &a1, &d1, &small);
    CHECK_EQ(MPI_Type_get_contents_c(b, ni, na, nc, nd, integers, addresses, counts, types), MPI_SUCCESS);
    for (MPI_Count i = 0; i < nc; i++) values[i] = counts[i];
    for (MPI_Count i = 0; i < nd; i++) CHECK(types[i] == MPI_INT);
    CHECK_EQ(MPI_Type_get_contents_c(a, i1, a1, 0, d1, integers, addresses, counts, old), MPI_SUCCESS);
    if (small == MPI_COMBINER_SUBARRAY || small == MPI_COMBINER_DARRAY) return; /* ints among them */
    for (int i = 0; i < i1; i++) CHECK_EQ(integers[i], values[i]);
    for (int i = 0; i < a1; i++) CHECK_EQ(addresses[i], values[i1 + i]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int k = 0; k < 11; k++) {
        int n;
        MPI_Datatype a = make(k, 0, &n), b = make(k, 1, &n);
        same_messages(a, b);
        same_bytes(a, b);
        same_bounds(a, b);
        arguments(a, b, k, n);
        MPI_Type_free(&a);
        MPI_Type_free(&b);
    }
    return check_end();
}
