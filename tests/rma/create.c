/* Making and freeing windows: every creation function, what a window says of itself, and that nothing is left. */
/* needs: MPI_Win_create MPI_Win_allocate MPI_Win_create_dynamic MPI_Win_free MPI_Put MPI_Win_fence MPI_Win_lock */
#include "rma.h"
#include <unistd.h>

/* An attribute of the window: an address, or a pointer to the value. */
static void *attribute(MPI_Win win, int key)
{
    void *value = NULL;
    int flag = 0;
    CHECK_EQ(MPI_Win_get_attr(win, key, &value, &flag), MPI_SUCCESS);
    CHECK(flag);
    return value;
}

static void check_attributes(MPI_Win win, const void *base, MPI_Aint size, int unit, int flavor)
{
    int model = *(int *)attribute(win, MPI_WIN_MODEL);
    if (flavor != MPI_WIN_FLAVOR_DYNAMIC && size > 0) CHECK(attribute(win, MPI_WIN_BASE) == base);
    if (flavor == MPI_WIN_FLAVOR_DYNAMIC) CHECK(attribute(win, MPI_WIN_BASE) == MPI_BOTTOM);
    CHECK_EQ(*(MPI_Aint *)attribute(win, MPI_WIN_SIZE), size);
    CHECK_EQ(*(int *)attribute(win, MPI_WIN_DISP_UNIT), unit);
    CHECK_EQ(*(int *)attribute(win, MPI_WIN_CREATE_FLAVOR), flavor);
    CHECK(model == MPI_WIN_UNIFIED || model == MPI_WIN_SEPARATE);
    if (flavor == MPI_WIN_FLAVOR_SHARED) CHECK_EQ(model, MPI_WIN_UNIFIED);
}

static void check_group(MPI_Win win, MPI_Comm comm)
{
    MPI_Group of_win, of_comm;
    int result;
    CHECK_EQ(MPI_Win_get_group(win, &of_win), MPI_SUCCESS);
    MPI_Comm_group(comm, &of_comm);
    MPI_Group_compare(of_win, of_comm, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&of_win);
    MPI_Group_free(&of_comm);
}

static void check_names(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME] = "x", longest[MPI_MAX_OBJECT_NAME];
    int n = -1;
    CHECK_EQ(MPI_Win_get_name(win, name, &n), MPI_SUCCESS);
    if (!check_library("Open MPI")) CHECK(n == 0 && name[0] == 0); /* there it has a name at once */
    CHECK_EQ(MPI_Win_set_name(win, "a window"), MPI_SUCCESS);
    MPI_Win_get_name(win, name, &n);
    CHECK(n == 8 && !strcmp(name, "a window"));
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    MPI_Win_set_name(win, longest);
    MPI_Win_get_name(win, name, &n);
    CHECK(n == MPI_MAX_OBJECT_NAME - 1 && !strcmp(name, longest));
}

static int deleted;

static int on_delete(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key;
    CHECK(extra == &deleted);
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

/* Cached attributes are deleted with the window, or by hand; a value that replaces another deletes that. */
static void check_caching(MPI_Win win)
{
    static int one = 1, ten = 10, hundred = 100;
    int key, other, flag;
    void *got;
    deleted = 0;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, &deleted);
    MPI_Win_create_keyval(MPI_WIN_DUP_FN, on_delete, &other, &deleted);
    CHECK_EQ(MPI_Win_get_attr(win, key, &got, &flag), MPI_SUCCESS);
    CHECK(!flag);
    MPI_Win_set_attr(win, key, &one);
    MPI_Win_set_attr(win, key, &ten);
    CHECK_EQ(deleted, 1);
    MPI_Win_get_attr(win, key, &got, &flag);
    CHECK(flag && got == &ten);
    MPI_Win_set_attr(win, other, &hundred);
    CHECK_EQ(MPI_Win_delete_attr(win, key), MPI_SUCCESS);
    CHECK_EQ(deleted, 11);
    MPI_Win_free_keyval(&key);
    MPI_Win_free_keyval(&other); /* the attribute lives until the window is freed */
    CHECK_EQ(deleted, 11);
}

static void note(MPI_Win *win, int *code, ...) { (void)win, (void)code; }

static void check_handlers(MPI_Win win)
{
    MPI_Errhandler got, mine;
    CHECK_EQ(MPI_Win_get_errhandler(win, &got), MPI_SUCCESS);
    CHECK(got == MPI_ERRORS_ARE_FATAL); /* whatever the communicator has (MPI 5.0, 12.6.1) */
    MPI_Errhandler_free(&got);
    MPI_Win_create_errhandler(note, &mine);
    CHECK_EQ(MPI_Win_set_errhandler(win, mine), MPI_SUCCESS);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

/* Sizes and units differ by rank, and some ranks give nothing. */
static void one_of(rma_kind kind, MPI_Comm comm, int large)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    static char memory[1024];
    char *base = memory;
    MPI_Aint bytes = rank % 3 == 1 ? 0 : 16 * (rank + 1);
    int unit = 1 + rank % 4, flavor = MPI_WIN_FLAVOR_CREATE;
    MPI_Win win = MPI_WIN_NULL;
    CHECK(rank < 60);
    (void)large;
    switch (kind) {
#if MPI_VERSION >= 4
#define EITHER(f, ...) (large ? f##_c(__VA_ARGS__) : f(__VA_ARGS__))
#else
#define EITHER(f, ...) f(__VA_ARGS__)
#endif
    case RMA_CREATE:
        CHECK_EQ(EITHER(MPI_Win_create, bytes ? memory : NULL, bytes, unit, MPI_INFO_NULL, comm, &win), MPI_SUCCESS);
        break;
    case RMA_ALLOCATE:
        flavor = MPI_WIN_FLAVOR_ALLOCATE;
        CHECK_EQ(EITHER(MPI_Win_allocate, bytes, unit, MPI_INFO_NULL, comm, &base, &win), MPI_SUCCESS);
        break;
    case RMA_SHARED:
        flavor = MPI_WIN_FLAVOR_SHARED;
        CHECK_EQ(EITHER(MPI_Win_allocate_shared, bytes, unit, MPI_INFO_NULL, comm, &base, &win), MPI_SUCCESS);
        break;
    default:
        flavor = MPI_WIN_FLAVOR_DYNAMIC, bytes = 0, unit = 1;
        CHECK_EQ(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win), MPI_SUCCESS);
    }
    CHECK(win != MPI_WIN_NULL);
    if (bytes) memset(base, rank, (size_t)bytes);
    check_attributes(win, base, bytes, unit, flavor);
    check_group(win, comm);
    check_names(win);
    check_handlers(win);
    check_caching(win);
    CHECK_EQ(MPI_Win_free(&win), MPI_SUCCESS);
    CHECK(win == MPI_WIN_NULL);
    CHECK_EQ(deleted, 111);
}

/* Windows on the world, on a part of it in another order, and on one rank. */
static void communicators(void)
{
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &part);
    MPI_Comm on[] = {MPI_COMM_WORLD, part, MPI_COMM_SELF};
    for (int c = 0; c < 3; c++)
        for (rma_kind kind = RMA_CREATE; kind < RMA_KINDS; kind++)
            for (int large = 0; large < 2 && rma_can(kind, on[c]); large++) one_of(kind, on[c], large);
    MPI_Comm_free(&part);
}

/* Is the key there, and with which value? */
static int has(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL + 1])
{
    int flag = 0;
    value[0] = 0;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
    return flag;
}

/* Every key that MPI 5.0 names (12.2.1 to 12.2.3, 9.2) is taken; what is answered is what was said. */
static void info(void)
{
    static const char *const say[][2] = {
        {"no_locks", "false"}, {"accumulate_ordering", "rar,waw"}, {"accumulate_ops", "same_op"},
        {"mpi_accumulate_granularity", "8"}, {"same_size", "true"}, {"same_disp_unit", "true"},
        {"alloc_shared_noncontig", "true"}, {"mpi_minimum_memory_alignment", "64"}, {"no_such_key_at_all", "at all"},
    };
    enum { KEYS = sizeof say / sizeof *say };
    char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info asked, got;
    MPI_Info_create(&asked);
    for (int k = 0; k < KEYS; k++) MPI_Info_set(asked, say[k][0], say[k][1]);
    RMA_EACH(kind) {
        static char memory[64];
        void *base = memory;
        MPI_Win win;
        switch (kind) {
        case RMA_CREATE: MPI_Win_create(memory, 64, 8, asked, MPI_COMM_WORLD, &win); break;
        case RMA_ALLOCATE: MPI_Win_allocate(64, 8, asked, MPI_COMM_WORLD, &base, &win); break;
        case RMA_SHARED: MPI_Win_allocate_shared(64, 8, asked, MPI_COMM_WORLD, &base, &win); break;
        default: MPI_Win_create_dynamic(asked, MPI_COMM_WORLD, &win);
        }
        if (check_library("libimpi") && kind != RMA_CREATE && kind != RMA_DYNAMIC) CHECK_EQ((uintptr_t)base % 64, 0);
        CHECK_EQ(MPI_Win_get_info(win, &got), MPI_SUCCESS);
        CHECK(got != MPI_INFO_NULL);
        for (int k = 0; k < KEYS; k++) {
            if (!has(got, say[k][0], value)) continue;
            /* a library may be stricter than it was asked to be */
            int order = !strcmp(say[k][0], "accumulate_ordering");
            if (order && check_library("MPICH Version:\t4.0")) continue; /* which reads the list wrongly */
            CHECK_SAY(order ? strstr(value, "rar") && strstr(value, "waw") : !strcmp(value, say[k][1]),
                      "window by %s: info key %s is %s, not %s", rma_name[kind], say[k][0], value, say[k][1]);
        }
        if (check_library("libimpi")) CHECK(!has(got, "no_such_key_at_all", value));
        MPI_Info_free(&got);
        CHECK_EQ(MPI_Win_set_info(win, asked), MPI_SUCCESS);
        /* It works as any. */
        MPI_Win_fence(0, win);
        if (kind != RMA_DYNAMIC) {
            int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
            MPI_Put(&check_rank, 1, MPI_INT, next, 3, 1, MPI_INT, win);
            MPI_Win_fence(0, win);
            CHECK_EQ(((int *)base)[6], previous);
        }
        MPI_Win_free(&win);
    }
    /* A window without locks: fences work. */
    MPI_Win win;
    int here = -1;
    MPI_Info_set(asked, "no_locks", "true");
    MPI_Win_create(&here, sizeof here, sizeof here, asked, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&check_rank, 1, MPI_INT, (check_rank + 1) % check_size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(here, (check_rank + check_size - 1) % check_size);
    MPI_Win_free(&win);
    MPI_Info_free(&asked);
}

/* What the window says of its alignment; 0: nothing. */
static long stated(MPI_Win win)
{
    char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info got;
    MPI_Win_get_info(win, &got);
    long n = has(got, "mpi_minimum_memory_alignment", value) ? atol(value) : 0;
    MPI_Info_free(&got);
    return n;
}

/* Memory lies as the program asks for, of one member alone, too, in all windows that allocate. */
static void aligned(const char *asked, long multiple, rma_kind kind)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", asked);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    for (int all = 0; all < 2; all++) {
        char *base;
        MPI_Win win;
        const int mine = all || check_rank == check_size - 1, bytes = 100 + check_rank;
        const MPI_Info its = mine || kind == RMA_SHARED ? info : MPI_INFO_NULL;
        if (kind == RMA_ALLOCATE) MPI_Win_allocate(bytes, 1, its, MPI_COMM_WORLD, &base, &win);
        else MPI_Win_allocate_shared(bytes, 1, its, MPI_COMM_WORLD, &base, &win);
        if (check_library("libimpi")) {
            CHECK_EQ((uintptr_t)base % (uintptr_t)(its == info && multiple ? multiple : 64), 0);
            CHECK_EQ(stated(win), its == info ? multiple : 0);
        }
        MPI_Win_fence(0, win);
        MPI_Accumulate(&check_rank, 1, MPI_INT, (check_rank + 1) % check_size, 96, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Win_fence(0, win);
        CHECK_EQ(*(int *)(base + 96), (check_rank + check_size - 1) % check_size);
        MPI_Win_set_info(win, MPI_INFO_ENV);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", "32");
        MPI_Win_set_info(win, info); /* it lies where it lies */
        if (check_library("libimpi")) CHECK_EQ(stated(win), its == info ? multiple : 0);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", asked);
        MPI_Win_free(&win);
    }
    MPI_Info_free(&info);
}

static void alignment(void)
{
    static const struct { const char *asked; long multiple; int windows; } ask[] = {
        {"1", 1, 0}, {"128", 128, 0}, {"4096", 4096, 1}, {"8192", 8192, 0}, {"2097152", 2097152, 1},
        {"96", 0, 1}, {"0", 0, 0}, {"-4096", 0, 0}, {"4096 bytes", 0, 0}, {"many", 0, 0}, {"9223372036854775809", 0, 0},
    }; /* the last ones are no powers of two */
    const int all = sizeof ask / sizeof *ask, some = check_library("libimpi") ? all : 5;
    for (int i = 0; i < some; i++) {
        MPI_Info info;
        char *memory;
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", ask[i].asked);
        CHECK_EQ(MPI_Alloc_mem(100, info, &memory), MPI_SUCCESS);
        const long multiple = ask[i].multiple ? ask[i].multiple : 64;
        if (check_library("libimpi")) CHECK_EQ((uintptr_t)memory % (uintptr_t)multiple, 0);
        memset(memory, 1, 100);
        CHECK_EQ(MPI_Free_mem(memory), MPI_SUCCESS);
        MPI_Info_free(&info);
        if (!ask[i].windows) continue;
        aligned(ask[i].asked, ask[i].multiple, RMA_ALLOCATE);
        if (rma_can(RMA_SHARED, MPI_COMM_WORLD)) aligned(ask[i].asked, ask[i].multiple, RMA_SHARED);
    }
}

/* Of every rank, or of nobody: the first and another have no memory. */
static MPI_Aint given(int rank, int nobody) { return nobody || rank == 0 || rank == 2 ? 0 : 40 + 8 * rank; }

/* Memory that all ranks of a machine share: sizes by rank, units by rank, one after the other or apart. */
static void shared(int apart, int nobody)
{
    MPI_Comm node;
    MPI_Info info;
    MPI_Win win;
    int rank, size, unit;
    MPI_Aint bytes;
    char *base, *seen, *end = NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    int own_units = check_library("MPICH Version:\t4.0"); /* there every rank is told its own unit */
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false");
    MPI_Aint mine = given(rank, nobody);
    CHECK_EQ(MPI_Win_allocate_shared(mine, rank + 1, info, node, &base, &win), MPI_SUCCESS);
    if (mine) CHECK_EQ((uintptr_t)base % 8, 0);
    memset(base, rank + 1, (size_t)mine);
    MPI_Win_fence(0, win);
    for (int r = 0; r < size; r++) {
        MPI_Aint its = given(r, nobody);
        unit = -1, bytes = -1;
        CHECK_EQ(MPI_Win_shared_query(win, r, &bytes, &unit, &seen), MPI_SUCCESS);
        if (!check_library("Open MPI")) CHECK_EQ(bytes, its); /* there they are whole pages */
        if (!own_units) CHECK_EQ(unit, r + 1);
        if (r == rank && its) CHECK(seen == base);
        for (int i = 0; i < its; i++) CHECK_EQ(seen[i], r + 1);
        if (its && !apart) {
            CHECK_SAY(!end || seen == end, "the memory of rank %d does not follow the one before", r);
            end = seen + its;
        }
    }
    CHECK_EQ(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &seen), MPI_SUCCESS);
    if (nobody || size == 1) { /* the address of no memory, in units of some bytes */
        CHECK_EQ(bytes, 0);
        if (check_library("libimpi")) CHECK(seen != NULL && unit > 0);
    } else {
        if (!check_library("Open MPI")) CHECK_EQ(bytes, given(1, 0));
        if (!own_units) CHECK_EQ(unit, 2);
        CHECK_EQ(seen[0], 2);
    }
#if MPI_VERSION >= 4
    MPI_Aint large_unit = -1;
    CHECK_EQ(MPI_Win_shared_query_c(win, size - 1, &bytes, &large_unit, &seen), MPI_SUCCESS);
    if (!own_units) CHECK_EQ(large_unit, size);
#endif
    /* Whoever stores, the owner sees it. */
    MPI_Win_fence(0, win);
    int next = (rank + 1) % size;
    MPI_Win_shared_query(win, next, &bytes, &unit, &seen);
    if (given(next, nobody)) seen[given(next, nobody) - 1] = (char)(100 + rank);
    MPI_Win_fence(0, win);
    if (mine) CHECK_EQ(base[mine - 1], 100 + (rank + size - 1) % size);
    MPI_Win_free(&win);
    MPI_Info_free(&info);
    MPI_Comm_free(&node);
}

/* A query of a window that was not made to be shared answers no memory, or the target's own (MPI 4.1 on). */
static void query_of_others(void)
{
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    static int here;
    int *base, *seen, unit;
    for (int way = 0; way < 2; way++) {
        MPI_Win win;
        if (way) MPI_Win_allocate(sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        else MPI_Win_create(base = &here, sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        *base = 1000 + check_rank;
        MPI_Win_fence(0, win);
        for (int r = 0; r < check_size; r++) {
            MPI_Aint bytes = -1;
            CHECK_EQ(MPI_Win_shared_query(win, r, &bytes, &unit, &seen), MPI_SUCCESS);
            CHECK(bytes == 0 ? seen == NULL : bytes == sizeof(int) && unit == 4 && *seen == 1000 + r);
            if (check_library("libimpi")) CHECK_EQ(unit, 4); /* whether there is memory or not */
        }
        MPI_Win_fence(0, win);
        MPI_Win_free(&win);
    }
#endif
}

/* Memory that comes to a dynamic window and goes: several pieces, one within reach of the next, twice the same. */
static void dynamic(void)
{
    enum { PIECES = 20, N = 10 };
    MPI_Win win;
    static int piece[PIECES][2 * N]; /* the second half of each is not attached */
    MPI_Aint mine[PIECES], *all = malloc(sizeof(MPI_Aint) * PIECES * (size_t)check_size);
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, in[N];
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win); /* with nothing attached */
    for (int p = 0; p < PIECES; p++) MPI_Get_address(piece[p], &mine[p]);
    MPI_Allgather(mine, PIECES, MPI_AINT, all, PIECES, MPI_AINT, MPI_COMM_WORLD);
    for (int turn = 0; turn < 3; turn += 2) { /* 20 pieces, then 18: 7 divides neither */
        for (int p = turn; p < PIECES; p++) {
            memset(piece[p], -1, sizeof piece[p]);
            CHECK_EQ(MPI_Win_attach(win, piece[p], N * sizeof(int)), MPI_SUCCESS);
        }
        MPI_Win_fence(0, win);
        for (int p = PIECES - 1; p >= turn; p--) {
            int out[N];
            for (int i = 0; i < N; i++) out[i] = check_rank * 1000 + p * 20 + i;
            MPI_Put(out, N, MPI_INT, next, all[next * PIECES + p], N, MPI_INT, win);
            MPI_Win_fence(0, win);
            for (int i = 0; i < N; i++) CHECK_EQ(piece[p][i], previous * 1000 + p * 20 + i);
            for (int i = N; i < 2 * N; i++) CHECK_EQ(piece[p][i], -1);
            MPI_Get(in, 3, MPI_INT, next, MPI_Aint_add(all[next * PIECES + p], 5 * sizeof(int)), 3, MPI_INT, win);
            MPI_Win_fence(0, win);
            for (int i = 0; i < 3; i++) CHECK_EQ(in[i], out[5 + i]);
        }
        for (int p = turn; p < PIECES; p++) /* neither the order in which they came, nor its reverse */
            CHECK_EQ(MPI_Win_detach(win, piece[turn + (p - turn) * 7 % (PIECES - turn)]), MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_EQ(MPI_Win_attach(win, piece[0], N * sizeof(int)), MPI_SUCCESS); /* freeing the window is enough */
    MPI_Win_free(&win);
    free(all);
}

/* Two windows on memory that they share in part: epochs one after the other. */
static void overlapping(void)
{
    static int memory[30];
    MPI_Win low, high;
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size, in[10];
    MPI_Win_create(memory, 20 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &low);
    MPI_Win_create(memory + 10, 20 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &high);
    for (int i = 0; i < 30; i++) memory[i] = check_rank * 100 + i;
    MPI_Win_fence(0, low);
    for (int i = 0; i < 10; i++) in[i] = 7000 + check_rank * 100 + i;
    MPI_Put(in, 10, MPI_INT, next, 10, 10, MPI_INT, low);
    MPI_Win_fence(0, low);
    MPI_Win_fence(0, high);
    memset(in, -1, sizeof in);
    MPI_Get(in, 10, MPI_INT, next, 0, 10, MPI_INT, high);
    MPI_Win_fence(0, high);
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(in[i], 7000 + check_rank * 100 + i);
        CHECK_EQ(memory[10 + i], 7000 + previous * 100 + i);
        CHECK(memory[i] == check_rank * 100 + i && memory[20 + i] == check_rank * 100 + 20 + i);
    }
    MPI_Win_free(&low);
    MPI_Win_free(&high);
}

/* A window outlives its communicator and the info it was made with. */
static void after_the_communicator(void)
{
    RMA_EACH(kind) {
        MPI_Comm comm;
        rma_window w;
        int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        rma_open(&w, kind, 64, 4, comm);
        MPI_Comm_free(&comm);
        check_group(w.win, MPI_COMM_WORLD);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* may not be taken for the one before */
        MPI_Win_fence(0, w.win);
        MPI_Put(&check_rank, 1, MPI_INT, next, rma_at(&w, next, 1), 1, MPI_INT, w.win);
        MPI_Win_fence(0, w.win);
        CHECK_EQ(((int *)(void *)w.base)[1], previous);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
        rma_close(&w);
    }
}

/* Windows that exist at once do not hear each other. */
static void many_at_once(void)
{
    enum { MANY = 24 };
    rma_window w[MANY];
    int next = (check_rank + 1) % check_size, previous = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < MANY; i++) {
        rma_kind kind = (rma_kind)(i % RMA_KINDS);
        rma_open(&w[i], rma_can(kind, MPI_COMM_WORLD) ? kind : RMA_CREATE, 64, 4, MPI_COMM_WORLD);
    }
    for (int i = 0; i < MANY; i++) MPI_Win_fence(0, w[i].win);
    int out[MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = check_rank * 1000 + i;
        MPI_Put(&out[i], 1, MPI_INT, next, rma_at(&w[i], next, i % 16), 1, MPI_INT, w[i].win);
    }
    for (int i = MANY - 1; i >= 0; i--) MPI_Win_fence(0, w[i].win);
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < 16; k++)
            CHECK_EQ(((int *)(void *)w[i].base)[k], k == i % 16 ? previous * 1000 + i : 0x5a5a5a5a);
    for (int i = 0; i < MANY; i++) rma_close(&w[(i * 5) % MANY]); /* in the same order everywhere, not that of making */
}

/* How many lines the file has: mappings, or with a folder its entries: open files. */
static int entries(const char *command)
{
    FILE *pipe = popen(command, "r");
    int n = -1;
    CHECK(pipe && fscanf(pipe, "%d", &n) == 1);
    pclose(pipe);
    return n;
}

/* Windows that come and go leave nothing: neither mappings nor open files. */
static void come_and_go(void)
{
    enum { TURNS = 60, SLACK = 40 }; /* less than one a turn: allocators map and unmap, too */
    char maps[64], files[64];
    int mapped = 0, open = 0;
    snprintf(maps, sizeof maps, "wc -l </proc/%d/maps", (int)getpid());
    snprintf(files, sizeof files, "ls /proc/%d/fd | wc -l", (int)getpid());
    for (int turn = 0; turn < 2 * TURNS; turn++) {
        if (turn == TURNS) mapped = entries(maps), open = entries(files);
        RMA_EACH(kind) {
            rma_window w;
            rma_open(&w, kind, turn % 3 ? 100000 : 64, 1, MPI_COMM_WORLD);
            MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
            MPI_Put(&turn, 1, MPI_INT, turn % check_size, rma_at(&w, turn % check_size, 4 * check_rank), 1, MPI_INT,
                    w.win);
            MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
            rma_close(&w);
        }
    }
    int grown = entries(maps) - mapped, opened = entries(files) - open;
    CHECK_SAY(grown <= SLACK, "%d windows of each kind left %d mappings", TURNS, grown);
    CHECK_SAY(opened <= SLACK, "%d windows of each kind left %d open files", TURNS, opened);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    communicators();
    info();
    alignment();
    for (int apart = 0; apart < 2; apart++) for (int nobody = 0; nobody < 2; nobody++) shared(apart, nobody);
    query_of_others();
    dynamic();
    if (!check_library("MPICH Version:\t4.0")) overlapping(); /* it reads from where the first of them begins */
    after_the_communicator();
    many_at_once();
    come_and_go();
    return check_end();
}
