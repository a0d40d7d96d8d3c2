/* Messages that end within an item: as many basic elements arrive as were sent, the status tells how many, and
 * nothing else is written; messages of more than there is room for are an error, and write nothing behind. Of
 * elements whose size on the way may not be that in memory, from any layout into any, whether the receive is there
 * first or not. */
/* ranks: 1 2 3 4 */
#include "../check.h"
#include <wchar.h>

enum { ITEMS = 3, BASICS = 9, ROOM = 1024 };

/* One item: where its elements are, in their order. */
static const struct { MPI_Datatype type; int size, at; } parts[BASICS] = {
    {MPI_DOUBLE, 8, 48}, {MPI_LONG, 8, 0}, {MPI_LONG, 8, 8}, {MPI_WCHAR, sizeof(wchar_t), 16}, {MPI_SHORT, 2, 22},
    {MPI_CHAR, 1, 20}, {MPI_LONG_DOUBLE, sizeof(long double), 64}, {MPI_UNSIGNED_LONG, 8, 24}, {MPI_C_BOOL, 1, 21}};
static const int extents[] = {80, 96, 112};

static MPI_Comm comm;
static int next, previous;

static void store(unsigned char *at, int basic, int v)
{
    double d = v * 0.5;
    long l = -v;
    unsigned long u = (unsigned long)v * 3;
    wchar_t w = (wchar_t)(v + 200);
    short s = (short)(v - 70);
    long double big = (long double)v + 0.25L;
    memset(at, 0, (size_t)parts[basic].size);
    switch (basic) {
    case 0: memcpy(at, &d, sizeof d); break;
    case 1:
    case 2: memcpy(at, &l, sizeof l); break;
    case 3: memcpy(at, &w, sizeof w); break;
    case 4: memcpy(at, &s, sizeof s); break;
    case 5: *at = (unsigned char)v; break;
    case 6: memcpy(at, &big, sizeof big < 10 ? sizeof big : 10); break; /* an 80-bit one has six bytes of nothing */
    case 7: memcpy(at, &u, sizeof u); break;
    case 8: *at = (unsigned char)(v % 2); break;
    }
}

/* The first n elements of items that are so far apart, of what rank `from` sends. */
static void fill(unsigned char *memory, int n, int extent, int from)
{
    for (int i = 0; i < n; i++) store(memory + i / BASICS * extent + parts[i % BASICS].at, i % BASICS, from * 10 + i);
}

static MPI_Datatype items(int extent)
{
    int lens[BASICS];
    MPI_Aint at[BASICS];
    MPI_Datatype of[BASICS], t, u;
    for (int i = 0; i < BASICS; i++) lens[i] = 1, at[i] = parts[i].at, of[i] = parts[i].type;
    MPI_Type_create_struct(BASICS, lens, at, of, &t);
    MPI_Type_create_resized(t, 0, extent, &u);
    MPI_Type_free(&t);
    MPI_Type_commit(&u);
    return u;
}

/* The first n elements as one type. */
static MPI_Datatype elements(int n, int extent)
{
    int lens[ITEMS * BASICS];
    MPI_Aint at[ITEMS * BASICS];
    MPI_Datatype of[ITEMS * BASICS], t;
    for (int i = 0; i < n; i++) {
        lens[i] = 1, at[i] = i / BASICS * extent + parts[i % BASICS].at, of[i] = parts[i % BASICS].type;
    }
    MPI_Type_create_struct(n, lens, at, of, &t);
    MPI_Type_commit(&t);
    return t;
}

/* n elements into room for so many items. */
static void send_part(int n, int room, int way)
{
    int extent = extents[(n + way) % 3], sent = extents[n % 3], count = -1, got = -1, code, all = room * BASICS,
        token = 0, came;
    static unsigned char out[ROOM], in[ROOM], want[ROOM];
    MPI_Datatype from = elements(n, sent), to = items(extent);
    MPI_Request r, s;
    MPI_Status status;
    MPI_Count wide = -1;
    memset(out, 0x11, ROOM), memset(in, 0x22, ROOM), memset(want, 0x22, ROOM);
    fill(out, n, sent, check_rank);
    fill(want, n < all ? n : all, extent, previous);
    if (way == 1) { /* it comes before it is wanted */
        MPI_Isend(out, 1, from, next, 1, comm, &s);
        MPI_Sendrecv(&token, 1, MPI_INT, next, 2, &came, 1, MPI_INT, previous, 2, comm, MPI_STATUS_IGNORE);
        MPI_Probe(previous, 1, comm, &status);
        MPI_Get_elements(&status, to, &got);
        CHECK_EQ(got, n);
        code = MPI_Recv(in, room, to, previous, 1, comm, &status);
    } else {
        MPI_Irecv(in, room, to, previous, 1, comm, &r);
        MPI_Barrier(comm);
        MPI_Isend(out, 1, from, next, 1, comm, &s);
        code = MPI_Wait(&r, &status);
    }
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    if (n <= all) {
        CHECK_EQ(code, MPI_SUCCESS);
        MPI_Get_elements(&status, to, &got);
        CHECK_EQ(got, n);
        MPI_Get_elements_x(&status, to, &wide);
        CHECK_EQ(wide, n);
        MPI_Get_count(&status, to, &count);
        CHECK_EQ(count, n % BASICS ? MPI_UNDEFINED : n / BASICS);
        for (int i = 0; i < ITEMS; i++) { /* what there is nothing of in a long double may be anything */
            memset(in + i * extent + 64 + 10, 0, 6);
            memset(want + i * extent + 64 + 10, 0, 6);
        }
        for (int i = 0; i < ROOM; i++) {
            CHECK_SAY(in[i] == want[i], "%d elements, way %d: byte %d is %#x, not %#x", n, way, i, in[i], want[i]);
        }
    } else {
        CHECK_CLASS(code, MPI_ERR_TRUNCATE);
        for (int i = room * extent; i < ROOM; i++) {
            CHECK_SAY(in[i] == 0x22, "%d elements, way %d: byte %d was written", n, way, i);
        }
    }
    MPI_Type_free(&from);
    MPI_Type_free(&to);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (check_rank + 1) % check_size;
    previous = (check_rank + check_size - 1) % check_size;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int way = 0; way < 2; way++) {
        for (int n = 0; n <= ITEMS * BASICS; n++) send_part(n, ITEMS, way);
        if (!check_library("libimpi")) continue; /* Open MPI 4 does not see it in messages to oneself */
        for (int n = BASICS - 1; n <= 2 * BASICS; n++) send_part(n, 1, way);
        send_part(1, 0, way);
    }
    MPI_Comm_free(&comm);
    return check_end();
}
