/* Nothing is read or written beside the data: buffers and packed bytes at the first and the last byte of readable
 * memory, constructors' arrays at its end, for layouts that reach every kernel; kernels like to load more than they
 * need. */
/* ranks: 1 2 */
#include "../check.h"
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 1 << 20 };

/* Memory between pages that nobody may touch. */
typedef struct { unsigned char *first, *end; } fenced;

static fenced fence(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *all = mmap(NULL, ROOM + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(all != MAP_FAILED && mprotect(all + page, ROOM, PROT_READ | PROT_WRITE) == 0);
    return (fenced){all + page, all + page + ROOM};
}

static fenced memory, packed, arguments;

/* n ints at the end of readable memory. */
static int *ints(int n, const int *v)
{
    return memcpy(arguments.end - (size_t)n * sizeof(int), v, (size_t)n * sizeof(int));
}

static void data_at(MPI_Datatype t, int count, int low, int packed_low)
{
    MPI_Aint lb, extent, lo, reach;
    int size, at = 0, got;
    MPI_Type_size(t, &size);
    MPI_Type_get_extent(t, &lb, &extent);
    MPI_Type_get_true_extent(t, &lo, &reach);
    MPI_Aint all = reach + (count - 1) * extent; /* extents are not negative here */
    CHECK(all <= ROOM && (MPI_Aint)size * count <= ROOM);
    size *= count;
    unsigned char *base = low ? memory.first - lo : memory.end - all - lo;
    unsigned char *to = packed_low ? packed.first : packed.end - size;
    unsigned char *one = malloc((size_t)size), *was = malloc((size_t)all);
    MPI_Status status;
    check_fill(base + lo, (size_t)all, (uint64_t)size);
    memcpy(was, base + lo, (size_t)all);
    MPI_Pack(base, count, t, to, size, &at, MPI_COMM_SELF);
    CHECK_EQ(at, size);
    memcpy(one, to, (size_t)size);
    memset(to, 0, (size_t)size);
    MPI_Sendrecv(base, count, t, 0, 1, to, size, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(!memcmp(one, to, (size_t)size));
    CHECK(!memcmp(was, base + lo, (size_t)all));
    memset(base + lo, 0, (size_t)all);
    at = 0;
    MPI_Unpack(to, size, &at, base, count, t, MPI_COMM_SELF);
    memset(to, 0, (size_t)size), at = 0;
    MPI_Pack(base, count, t, to, size, &at, MPI_COMM_SELF);
    CHECK(!memcmp(one, to, (size_t)size));
    memset(base + lo, 0, (size_t)all);
    MPI_Sendrecv(to, size, MPI_BYTE, 0, 1, base, count, t, 0, 1, MPI_COMM_SELF, &status);
    MPI_Get_count(&status, t, &got);
    CHECK_EQ(got, count);
    memset(to, 0, (size_t)size), at = 0;
    MPI_Pack(base, count, t, to, size, &at, MPI_COMM_SELF);
    CHECK(!memcmp(one, to, (size_t)size));

    MPI_Aint room = 0, place = 0; /* in external32 every value has its own size here */
    MPI_Pack_external_size("external32", count, t, &room);
    CHECK_EQ(room, size);
    MPI_Pack_external("external32", base, count, t, to, size, &place);
    memset(base + lo, 0, (size_t)all), place = 0;
    MPI_Unpack_external("external32", to, size, &place, base, count, t);
    memset(to, 0, (size_t)size), at = 0;
    MPI_Pack(base, count, t, to, size, &at, MPI_COMM_SELF);
    CHECK(!memcmp(one, to, (size_t)size));

    int other = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    memset(to, 0, (size_t)size);
    if (!check_spans()) {
        MPI_Sendrecv(base, count, t, other, 2, to, size, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!check_spans()) CHECK(!memcmp(one, to, (size_t)size)); /* everybody has the same */
    free(one);
    free(was);
}

static void everywhere(MPI_Datatype t)
{
    MPI_Type_commit(&t);
    for (int count = 1; count < 4; count++)
        for (int k = 0; k < 4; k++) data_at(t, count, k % 2, k / 2);
    MPI_Type_free(&t);
}

static void layouts(MPI_Datatype basic)
{
    MPI_Datatype t, u, v;
    int lens[40], at[40], few[40], size, where = 0;
    MPI_Type_size(basic, &size);
    for (int n = 1; n <= 9; n += 4) /* elements in a block, blocks, gaps */
        for (int blocks = 2; blocks <= 600; blocks *= 17)
            for (int gap = 1; gap <= 9; gap += 4) {
                MPI_Type_vector(blocks, n, n + gap, basic, &t);
                everywhere(t);
            }
    MPI_Type_vector(23, 1, 31, basic, &t); /* a transposition */
    MPI_Type_create_resized(t, 0, size, &u);
    MPI_Type_contiguous(29, u, &v);
    everywhere(v);
    MPI_Type_free(&t);
    MPI_Type_free(&u);
    for (int i = 0; i < 40; i++) {
        lens[i] = 1 + i * 7 % 5;
        at[i] = where + i % 3;
        where = at[i] + lens[i];
        few[i] = 6 * (i * 11 % 40);
    }
    for (int n = 4; n <= 40; n += 36) {
        int *to = ints(n, at);
        int *l = memcpy((unsigned char *)packed.end - (size_t)n * sizeof(int), lens, (size_t)n * sizeof(int));
        MPI_Type_indexed(n, l, to, basic, &t);
        everywhere(t);
        MPI_Type_create_indexed_block(n, 3, ints(n, few), basic, &t);
        everywhere(t);
        MPI_Aint bytes[40], *away = (MPI_Aint *)(void *)(arguments.end - (size_t)n * sizeof(MPI_Aint));
        for (int i = 0; i < n; i++) bytes[i] = (MPI_Aint)at[i] * size;
        memcpy(away, bytes, (size_t)n * sizeof(MPI_Aint));
        l = memcpy((unsigned char *)packed.end - (size_t)n * sizeof(int), lens, (size_t)n * sizeof(int));
        MPI_Type_create_hindexed(n, l, away, basic, &t);
        everywhere(t);
        MPI_Type_create_hindexed_block(n, 1, away, basic, &t);
        everywhere(t);
    }
    int part[3] = {4, 5, 6}, sizes[3] = {7, 8, 9}, start[3] = {3, 2, 1};
    MPI_Type_create_subarray(3, ints(3, sizes), part, start, MPI_ORDER_C, basic, &t);
    MPI_Type_create_resized(t, 0, 7 * 8 * 9 * size, &u);
    MPI_Type_free(&t);
    everywhere(u);
}

#ifdef MPI_ABI_VERSION

/* Large counts at the end of readable memory. */
static void large_arrays(void)
{
    static const MPI_Count lens[3] = {1, 2, 1}, at[3] = {0, 16, 80};
    MPI_Count *a = (MPI_Count *)(void *)arguments.end - 3, *l = (MPI_Count *)(void *)packed.end - 3;
    MPI_Datatype t, *of = (MPI_Datatype *)(void *)memory.end - 3;
    for (int k = 0; k < 6; k++) {
        memcpy(a, at, sizeof at);
        memcpy(l, lens, sizeof lens);
        for (int i = 0; i < 3; i++) of[i] = MPI_INT;
        switch (k) {
        case 0: MPI_Type_indexed_c(3, l, a, MPI_INT, &t); break;
        case 1: MPI_Type_create_hindexed_c(3, l, a, MPI_INT, &t); break;
        case 2: MPI_Type_create_indexed_block_c(3, 2, a, MPI_INT, &t); break;
        case 3: MPI_Type_create_hindexed_block_c(3, 2, a, MPI_INT, &t); break;
        case 4: MPI_Type_create_struct_c(3, l, a, of, &t); break;
        case 5:
            a[0] = a[1] = a[2] = 8;
            MPI_Type_create_subarray_c(3, a, l, l, MPI_ORDER_C, MPI_INT, &t);
        }
        everywhere(t);
    }
}

#endif

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    memory = fence(), packed = fence(), arguments = fence();
    const MPI_Datatype basic[] = {MPI_CHAR, MPI_SHORT, MPI_FLOAT, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX};
    for (int i = 0; i < 5; i++) layouts(basic[i]);
    MPI_Datatype three;
    MPI_Type_contiguous(3, MPI_CHAR, &three);
    layouts(three);
    MPI_Type_free(&three);
#ifdef MPI_ABI_VERSION
    large_arrays();
#endif
    return check_end();
}
