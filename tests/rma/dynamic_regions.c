/* Dynamic windows whose data lies in several attached regions: some touch, others have a gap between them that no
 * access may enter, and that nobody can read or write. */
/* ranks: 2 4 */
/* needs: MPI_Win_create_dynamic MPI_Win_attach MPI_Put MPI_Get MPI_Accumulate MPI_Get_accumulate MPI_Fetch_and_op */
#define _DEFAULT_SOURCE
#include "rma.h"
#include <sys/mman.h>

/* Pages of memory: two regions, which touch in the middle of page 0, a gap, and a region in page 2. */
enum { PAGE = 65536, INTS = PAGE / sizeof(int), HALF = INTS / 2, REGIONS = 3 };

static char *memory;
static MPI_Aint *start; /* of each rank's memory */
static MPI_Win win;
static int next, previous;

static int *region(int r) { return (int *)(void *)(memory + (r < 2 ? r * PAGE / 2 : 2 * PAGE)); }
static int ints(int r) { return r < 2 ? HALF : INTS; }

static void open_regions(void)
{
    MPI_Aint mine;
    memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    CHECK_EQ(mprotect(memory + PAGE, PAGE, PROT_NONE), 0);
    start = malloc(sizeof *start * (size_t)check_size);
    MPI_Get_address(memory, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, start, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int r = REGIONS - 1; r >= 0; r--)
        CHECK_EQ(MPI_Win_attach(win, region(r), (MPI_Aint)sizeof(int) * ints(r)), MPI_SUCCESS);
    MPI_Win_fence(0, win);
}

static void close_regions(void)
{
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int r = 0; r < REGIONS; r++) CHECK_EQ(MPI_Win_detach(win, region(r)), MPI_SUCCESS);
    MPI_Win_free(&win);
    munmap(memory, 3 * PAGE);
    free(start);
}

/* Where the i-th of the elements of a layout lies, in ints from the start of memory. */
typedef struct {
    const char *name;
    MPI_Datatype type;
    int count, n, from;      /* how many of the type, elements in all, and the first int */
    int (*place)(int i);
} layout;

enum { ACROSS = 3000, ROWS = 40 };

static int place_across(int i) { return HALF - ACROSS / 2 + i; }
static int place_rows(int i) { return HALF / 2 + i / 100 * (HALF / ROWS) + i % 100; }
static int place_apart(int i) { return i < 700 ? HALF - 350 + i : 2 * INTS + 11 + (i - 700); }
static int place_elements(int i) { return (i & 1) * 2 * INTS + i / 2; }
static int place_short(int i) { return i < 2 ? HALF - 1 + i : 2 * INTS + i; }

static void layouts(layout l[5])
{
    MPI_Datatype pair;
    l[0] = (layout){"one run in two regions", MPI_INT, ACROSS, ACROSS, HALF - ACROSS / 2, place_across};
    l[1] = (layout){"rows in two regions", MPI_DATATYPE_NULL, 1, 100 * ROWS, HALF / 2, place_rows};
    MPI_Type_vector(ROWS, 100, HALF / ROWS, MPI_INT, &l[1].type);
    l[2] = (layout){"runs on both sides of a gap", MPI_DATATYPE_NULL, 1, 1200, 0, place_apart};
    MPI_Type_create_hindexed(2, (int[]){700, 500}, (MPI_Aint[]){4 * (HALF - 350), 4 * (2 * INTS + 11)}, MPI_INT,
                             &l[2].type);
    l[3] = (layout){"elements with a run on each side", MPI_DATATYPE_NULL, 500, 1000, 0, place_elements};
    MPI_Type_create_hvector(2, 1, 2 * PAGE, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, sizeof(int), &l[3].type);
    MPI_Type_free(&pair);
    l[4] = (layout){"few elements", MPI_DATATYPE_NULL, 1, 4, 0, place_short};
    MPI_Type_create_hindexed(2, (int[]){2, 2}, (MPI_Aint[]){4 * (HALF - 1), 4 * (2 * INTS + 2)}, MPI_INT, &l[4].type);
    for (int k = 1; k < 5; k++) MPI_Type_commit(&l[k].type);
}

static int value(int of, int i) { return of * 100000 + i; }

static int *at(int place) { return (int *)(void *)memory + place; }

/* Is the memory of this process what was to be stored there, and 0 elsewhere? */
static void check_memory(const layout *l, int scale)
{
    for (int i = 0; i < l->n; i++)
        CHECK_SAY(*at(l->place(i)) == scale * value(previous, i), "%s: element %d is %d, not %d", l->name, i,
                  *at(l->place(i)), scale * value(previous, i));
    for (int i = 0; i < l->n; i++) *at(l->place(i)) = 0;
    for (int r = 0; r < REGIONS; r++)
        for (int i = 0; i < ints(r); i++)
            CHECK_SAY(region(r)[i] == 0, "%s: int %d of region %d is changed", l->name, i, r);
}

static void moves(const layout *l)
{
    int *out = malloc(sizeof(int) * (size_t)l->n), *in = calloc((size_t)l->n, sizeof(int));
    MPI_Aint to = start[next] + (MPI_Aint)sizeof(int) * l->from;
    for (int i = 0; i < l->n; i++) out[i] = value(check_rank, i);
    CHECK_EQ(MPI_Put(out, l->n, MPI_INT, next, to, l->count, l->type, win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK_EQ(MPI_Get(in, l->n, MPI_INT, next, to, l->count, l->type, win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK_EQ(memcmp(in, out, sizeof(int) * (size_t)l->n), 0);
    memset(in, 0, sizeof(int) * (size_t)l->n);
    CHECK_EQ(MPI_Accumulate(out, l->n, MPI_INT, next, to, l->count, l->type, MPI_SUM, win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK_EQ(MPI_Get_accumulate(out, l->n, MPI_INT, in, l->n, MPI_INT, next, to, l->count, l->type, MPI_SUM, win),
             MPI_SUCCESS);
    MPI_Win_fence(0, win);
    for (int i = 0; i < l->n; i++) CHECK_EQ(in[i], 2 * out[i]);
    check_memory(l, 3);
    MPI_Win_fence(0, win);
    free(in);
    free(out);
}

/* One element of eight bytes, half in one region and half in another. */
static void single(void)
{
    int64_t one = 1 + check_rank, was = -1, two = 77;
    MPI_Aint to = start[next] + (MPI_Aint)sizeof(int) * (HALF - 1);
    if (check_library("libimpi")) { /* others may ask for aligned elements */
        CHECK_EQ(MPI_Fetch_and_op(&one, &was, MPI_INT64_T, next, to, MPI_SUM, win), MPI_SUCCESS);
        MPI_Win_fence(0, win);
        CHECK_EQ(was, 0);
        CHECK_EQ(MPI_Compare_and_swap(&two, &one, &was, MPI_INT64_T, next, to, win), MPI_SUCCESS);
        MPI_Win_fence(0, win);
        CHECK_EQ(was, one);
        memcpy(&was, at(HALF - 1), sizeof was);
        CHECK_EQ(was, two);
        memset(at(HALF - 1), 0, sizeof was);
        MPI_Win_fence(0, win);
    }
}

/* What reaches a byte that is not attached is an error, at once or with the next flush, and stores nothing there. */
static void refused(int n, MPI_Datatype type, int count, MPI_Aint first)
{
    static int out[INTS];
    for (int way = 0; way < 3; way++) {
        int code = MPI_SUCCESS;
        MPI_Aint to = start[next] + first;
        if (way == 0) code = MPI_Put(out, n, MPI_INT, next, to, count, type, win);
        if (way == 1) code = MPI_Get(out, n, MPI_INT, next, to, count, type, win);
        if (way == 2) code = MPI_Accumulate(out, n, MPI_INT, next, to, count, type, MPI_SUM, win);
        if (code == MPI_SUCCESS) code = MPI_Win_flush(next, win);
        CHECK_CLASS(code, MPI_ERR_RMA_RANGE);
    }
}

static void beyond(void)
{
    MPI_Datatype wide, reaches;
    if (!check_library("libimpi")) return;
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    /* one int too many before the gap */
    MPI_Type_create_hindexed(2, (int[]){5, 5}, (MPI_Aint[]){PAGE - 16, 2 * PAGE}, MPI_INT, &wide);
    MPI_Type_create_hindexed(3, (int[]){1, 1, 1}, (MPI_Aint[]){0, 2 * PAGE - 4, 2 * PAGE}, MPI_INT, &reaches);
    MPI_Type_commit(&wide);
    MPI_Type_commit(&reaches);
    MPI_Win_lock_all(0, win);
    refused(INTS, MPI_INT, INTS, 4);         /* into the gap */
    refused(2, MPI_INT, 2, -4);              /* from before all */
    refused(INTS, MPI_INT, INTS, PAGE);      /* all of it in the gap */
    refused(1, MPI_INT, 1, 3 * PAGE - 3);    /* behind all */
    refused(10, wide, 1, 0);
    refused(3, reaches, 1, 0);
    MPI_Win_unlock_all(win);
    CHECK_CLASS(MPI_Win_attach(win, memory + PAGE, MPI_Aint_diff((MPI_Aint)INT64_MAX, 0)), MPI_ERR_SIZE);
    CHECK_CLASS(MPI_Win_attach(win, memory + PAGE / 2 - 1, 1), MPI_ERR_RMA_ATTACH);
    MPI_Type_free(&wide);
    MPI_Type_free(&reaches);
    for (int r = 0; r < REGIONS; r++)
        for (int i = 0; i < ints(r); i++) CHECK_EQ(region(r)[i], 0);
    MPI_Win_fence(0, win);
}

int main(int argc, char **argv)
{
    layout l[5];
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    open_regions();
    layouts(l);
    for (int k = 0; k < 5; k++) moves(&l[k]);
    single();
    beyond();
    close_regions();
    for (int k = 1; k < 5; k++) MPI_Type_free(&l[k].type);
    return check_end();
}
