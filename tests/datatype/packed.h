/* packed.h - blocks of items that a rank holds as what they are, or packed.
 *
 *     packed_block b = packed_give(comm, is_packed, blocks, items, id);   // block k has the items of id + k
 *     packed_block b = packed_room(comm, is_packed, blocks, items);
 *     MPI_X(b.buf, b.count, b.type ...);                                  // count is that of one block
 *     packed_check(&b, k, id);
 *     packed_free(&b);
 */
#ifndef PACKED_H
#define PACKED_H

#include "../check.h"
#include <stddef.h>

typedef struct {
    int i;
    double d;
    long l;
    char c;
} packed_item;

static MPI_Datatype packed_type; /* a packed_item */

typedef struct {
    MPI_Comm comm;
    int is_packed, items;
    char *buf;
    int count, bytes; /* of one block, in elements of type and in bytes of memory */
    MPI_Datatype type;
} packed_block;

static inline void packed_start(void)
{
    int lengths[4] = {1, 1, 1, 1};
    MPI_Aint at[4] = {offsetof(packed_item, i), offsetof(packed_item, d), offsetof(packed_item, l),
                      offsetof(packed_item, c)};
    MPI_Datatype of[4] = {MPI_INT, MPI_DOUBLE, MPI_LONG, MPI_CHAR}, t;
    MPI_Type_create_struct(4, lengths, at, of, &t);
    MPI_Type_create_resized(t, 0, sizeof(packed_item), &packed_type);
    MPI_Type_commit(&packed_type);
    MPI_Type_free(&t);
}

static inline packed_item packed_value(int id, int k)
{
    return (packed_item){id * 1000 + k, id + k / 16.0, -(long)id - k, (char)(id + k)};
}

static inline packed_block packed_room(MPI_Comm comm, int is_packed, int blocks, int items)
{
    packed_block b = {comm, is_packed, items, NULL, items, items * (int)sizeof(packed_item), packed_type};
    if (is_packed) {
        MPI_Pack_size(items, packed_type, comm, &b.count);
        b.bytes = b.count;
        b.type = MPI_PACKED;
    }
    b.buf = malloc((size_t)blocks * (size_t)b.bytes + 1);
    memset(b.buf, 0xEE, (size_t)blocks * (size_t)b.bytes + 1);
    return b;
}

static inline void packed_set(packed_block *b, int k, int id)
{
    packed_item *of = malloc((size_t)b->items * sizeof *of + 1);
    int at = 0;
    for (int j = 0; j < b->items; j++) of[j] = packed_value(id, j);
    char *to = b->buf + (size_t)k * (size_t)b->bytes;
    if (b->is_packed) {
        MPI_Pack(of, b->items, packed_type, to, b->bytes, &at, b->comm);
        CHECK_EQ(at, b->count);
    } else memcpy(to, of, (size_t)b->bytes);
    free(of);
}

static inline packed_block packed_give(MPI_Comm comm, int is_packed, int blocks, int items, int id)
{
    packed_block b = packed_room(comm, is_packed, blocks, items);
    for (int k = 0; k < blocks; k++) packed_set(&b, k, id + k);
    return b;
}

static inline void packed_check(const packed_block *b, int k, int id, const char *what)
{
    packed_item *of = malloc((size_t)b->items * sizeof *of + 1);
    int at = 0;
    const char *from = b->buf + (size_t)k * (size_t)b->bytes;
    if (b->is_packed) MPI_Unpack(from, b->bytes, &at, of, b->items, packed_type, b->comm);
    else memcpy(of, from, (size_t)b->bytes);
    for (int j = 0; j < b->items; j++) {
        packed_item want = packed_value(id, j);
        CHECK_SAY(of[j].i == want.i && of[j].d == want.d && of[j].l == want.l && of[j].c == want.c,
                  "%s, %s: item %d of block %d is %d %g %ld %d, not %d %g %ld %d", what,
                  b->is_packed ? "packed" : "typed", j, k, of[j].i, of[j].d, of[j].l, of[j].c, want.i, want.d,
                  want.l, want.c);
    }
    free(of);
}

static inline void packed_free(packed_block *b) { free(b->buf); }

#endif
