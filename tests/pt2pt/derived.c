/* Short messages of derived datatypes by the calls that begin a receive before the message is there, or send and
 * receive in one: each layout into each other, types freed while receives wait, receives that have to give way to
 * others, messages shorter and longer than the receive, and more receives than there is room for at once. */
/* ranks: 1 2 3 4 */
#include "../check.h"

enum { DOUBLES = 12, MEMORY = 4096, LAYOUTS = 7, MANY = 1500, TAG = 9 };

static int next, previous;

/* Layouts of twelve doubles: a run, one that begins later, a vector, a list of blocks of several lengths and one of
 * equal ones, a structure whose fields are not in the order of memory, and rows of far elements. */
static MPI_Datatype layout(int which)
{
    static const int lens[] = {1, 3, 2, 5, 1}, at[] = {0, 2, 9, 20, 40}, halves[] = {50, 0};
    static const MPI_Aint away[] = {512, 0, 128};
    static const int fields[] = {4, 4, 4};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE}, t = MPI_DATATYPE_NULL, u;
    MPI_Aint later = 40;
    int whole = DOUBLES;
    switch (which) {
    case 0: MPI_Type_contiguous(DOUBLES, MPI_DOUBLE, &t); break;
    case 1: MPI_Type_create_hindexed(1, &whole, &later, MPI_DOUBLE, &t); break;
    case 2: MPI_Type_vector(DOUBLES, 1, 4, MPI_DOUBLE, &t); break;
    case 3: MPI_Type_indexed(5, lens, at, MPI_DOUBLE, &t); break;
    case 4: MPI_Type_create_indexed_block(2, 6, halves, MPI_DOUBLE, &t); break;
    case 5: MPI_Type_create_struct(3, fields, away, types, &t); break;
    case 6:
        MPI_Type_create_hvector(4, 1, 256, MPI_DOUBLE, &u);
        MPI_Type_create_hvector(3, 1, 1024, u, &t);
        MPI_Type_free(&u);
        break;
    }
    MPI_Type_commit(&t);
    return t;
}

/* The doubles of a layout in its order, from or to memory; the first so many of them. */
static void move(char *memory, double *list, int which, int n, int out)
{
    static const int starts[] = {0, 2, 9, 20, 40}, lens[] = {1, 3, 2, 5, 1};
    int at[DOUBLES], k = 0;
    for (int i = 0; i < DOUBLES; i++) {
        switch (which) {
        case 0: at[i] = 8 * i; break;
        case 1: at[i] = 40 + 8 * i; break;
        case 2: at[i] = 32 * i; break;
        case 4: at[i] = 8 * ((i < 6 ? 50 : 0) + i % 6); break;
        case 5: at[i] = (int[]){512, 0, 128}[i / 4] + 8 * (i % 4); break;
        case 6: at[i] = 1024 * (i / 4) + 256 * (i % 4); break;
        }
    }
    if (which == 3)
        for (int b = 0; b < 5; b++)
            for (int i = 0; i < lens[b]; i++) at[k++] = 8 * (starts[b] + i);
    for (int i = 0; i < n; i++)
        out ? memcpy(&list[i], memory + at[i], 8) : memcpy(memory + at[i], &list[i], 8);
}

static void fill(char *memory, int which, int seed)
{
    double list[DOUBLES];
    for (int i = 0; i < DOUBLES; i++) list[i] = seed * 100 + i;
    memset(memory, 0x11, MEMORY);
    move(memory, list, which, DOUBLES, 0);
}

/* Memory of n doubles of the seed, and nothing else changed. */
static void right(const char *memory, int which, int seed, int n)
{
    static char want[MEMORY];
    double list[DOUBLES];
    for (int i = 0; i < DOUBLES; i++) list[i] = seed * 100 + i;
    memset(want, 0x22, MEMORY);
    move(want, list, which, n, 0);
    CHECK_SAY(!memcmp(memory, want, MEMORY), "layout %d of seed %d", which, seed);
}

static void counted(const MPI_Status *s, MPI_Datatype type, int n, int elements)
{
    int got = -1, parts = -1;
    CHECK_EQ(s->MPI_SOURCE, previous);
    CHECK_EQ(s->MPI_TAG, TAG);
    MPI_Get_count(s, type, &got);
    CHECK_EQ(got, n);
    MPI_Get_elements(s, type, &parts);
    CHECK_EQ(parts, elements);
}

static char source[MEMORY], target[MEMORY];

enum { POSTED, FREED, ADOPTED, PROBED, TESTED, BOTH, REPLACED, WAYS };

/* One message of one layout into another. */
static void exchange(int from, int to, int way)
{
    MPI_Datatype out = layout(from), in = layout(to);
    MPI_Request q[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[3];
    int seed = check_rank + 1, flag = 0, token = 0;
    fill(source, from, seed);
    memset(target, 0x22, MEMORY);
    if (way == REPLACED) {
        if (from != to) goto end;
        MPI_Sendrecv_replace(source, 1, out, next, TAG, previous, TAG, MPI_COMM_WORLD, &s[0]);
        counted(&s[0], in, 1, DOUBLES);
        fill(target, to, previous + 1);
        CHECK(!memcmp(source, target, MEMORY));
        goto end;
    }
    if (way == BOTH) {
        MPI_Sendrecv(source, 1, out, next, TAG, target, 1, in, previous, TAG, MPI_COMM_WORLD, &s[0]);
        counted(&s[0], in, 1, DOUBLES);
        right(target, to, previous + 1, DOUBLES);
        goto end;
    }
    MPI_Irecv(target, 1, in, previous, TAG, MPI_COMM_WORLD, &q[0]);
    if (way == FREED) MPI_Type_free(&in);
    if (way == ADOPTED) MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, &q[2]);
    if (way == PROBED) MPI_Iprobe(MPI_ANY_SOURCE, TAG + 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Isend(source, 1, out, next, TAG, MPI_COMM_WORLD, &q[1]);
    if (way == ADOPTED) MPI_Send(&seed, 1, MPI_INT, next, TAG + 1, MPI_COMM_WORLD);
    if (way == TESTED)
        while (!flag) MPI_Testall(2, q, &flag, s);
    else
        MPI_Waitall(3, q, s);
    if (way == FREED) in = layout(to);
    counted(&s[0], in, 1, DOUBLES);
    right(target, to, previous + 1, DOUBLES);
end:
    MPI_Type_free(&out);
    MPI_Type_free(&in);
}

/* Fewer doubles than the receive has room for. */
static void shorter(int to)
{
    MPI_Datatype in = layout(to);
    for (int n = 0; n < DOUBLES; n += 5) {
        double list[DOUBLES];
        MPI_Request q;
        MPI_Status s;
        for (int i = 0; i < DOUBLES; i++) list[i] = (check_rank + 1) * 100 + i;
        memset(target, 0x22, MEMORY);
        MPI_Irecv(target, 1, in, previous, TAG, MPI_COMM_WORLD, &q);
        MPI_Send(list, n, MPI_DOUBLE, next, TAG, MPI_COMM_WORLD);
        MPI_Wait(&q, &s);
        counted(&s, in, n ? MPI_UNDEFINED : 0, n);
        right(target, to, previous + 1, n);
        memset(target, 0x22, MEMORY);
        MPI_Sendrecv(list, n, MPI_DOUBLE, next, TAG, target, 1, in, previous, TAG, MPI_COMM_WORLD, &s);
        counted(&s, in, n ? MPI_UNDEFINED : 0, n);
        right(target, to, previous + 1, n);
    }
    MPI_Type_free(&in);
}

/* What does not fit is an error of the receive, and the next message comes all the same. */
static void longer(int to)
{
    MPI_Datatype in = layout(to);
    double list[DOUBLES + 1] = {0};
    MPI_Request q;
    MPI_Status s;
    int code;
    MPI_Irecv(target, 1, in, previous, TAG, MPI_COMM_WORLD, &q);
    MPI_Send(list, DOUBLES + 1, MPI_DOUBLE, next, TAG, MPI_COMM_WORLD);
    code = MPI_Wait(&q, &s);
    CHECK_CLASS(code, MPI_ERR_TRUNCATE);
    code = MPI_Sendrecv(list, DOUBLES + 1, MPI_DOUBLE, next, TAG, target, 1, in, previous, TAG, MPI_COMM_WORLD, &s);
    CHECK_CLASS(code, MPI_ERR_TRUNCATE);
    MPI_Barrier(MPI_COMM_WORLD);
    exchange(to, to, REPLACED);
    MPI_Type_free(&in);
}

/* Several elements in one receive, and receives of two types in turns, more than are held at once. */
static void many(void)
{
    static char memory[MANY][1024];
    static MPI_Request q[MANY + 1];
    static double out[MANY][DOUBLES];
    MPI_Datatype two[2];
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &two[0]);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 24, &two[1]);
    for (int i = 0; i < 2; i++) MPI_Type_commit(&two[i]);
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(memory[i], i % 2 ? 12 : 4, two[i % 2], previous, i % 5, MPI_COMM_WORLD, &q[i]);
    }
    for (int i = 0; i < 2; i++) MPI_Type_free(&two[i]);
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < DOUBLES; k++) out[i][k] = check_rank + i * 100 + k;
        MPI_Isend(out[i], DOUBLES, MPI_DOUBLE, next, i % 5, MPI_COMM_WORLD, &q[MANY]);
        MPI_Wait(&q[MANY], MPI_STATUS_IGNORE);
    }
    MPI_Waitall(MANY, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < DOUBLES; k++) {
            double got;
            memcpy(&got, memory[i] + (i % 2 ? 24 * k : 40 * (k / 3) + 16 * (k % 3)), 8);
            CHECK(got == previous + i * 100 + k);
        }
    }
}

/* A receive that is taken back leaves its type to be freed. */
static void cancelled(void)
{
    MPI_Datatype in = layout(2);
    MPI_Request q;
    MPI_Status s;
    int flag = 0;
    MPI_Irecv(target, 1, in, previous, TAG + 5, MPI_COMM_WORLD, &q);
    MPI_Type_free(&in);
    MPI_Cancel(&q);
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK_EQ(flag, 1);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    for (int turn = 0; turn < 2; turn++)
        for (int from = 0; from < LAYOUTS; from++)
            for (int to = 0; to < LAYOUTS; to++)
                for (int way = 0; way < WAYS; way++) exchange(from, to, way);
    for (int to = 0; to < LAYOUTS; to++) shorter(to);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int to = 0; to < LAYOUTS; to++) longer(to);
    cancelled();
    many();
    return check_end();
}
