/* typemap.h - a slow and plain model of MPI datatypes: a type is the list of its pieces, in order.
 *
 * Each maker builds the MPI type and, by the letter of MPI 5.0, chapter 5, the list beside it. Tests draw types at
 * random, and compare what the library says and moves with what the list says.
 */
#ifndef TYPEMAP_H
#define TYPEMAP_H

#include "../check.h"

enum { TYPEMAP_MOST = 4000 };

/* One basic element: its place relative to the buffer, its size. */
typedef struct { MPI_Aint at; int size; } piece;

typedef struct {
    MPI_Datatype type;
    int pieces;
    piece *piece;
    MPI_Aint lb, ub;     /* extent is ub - lb */
    int align;           /* largest basic type, for the padding of structs */
} typemap;

static inline typemap typemap_basic(MPI_Datatype type, int size)
{
    typemap t = {type, 1, malloc(sizeof(piece)), 0, size, size};
    t.piece[0] = (piece){0, size};
    return t;
}

static inline MPI_Aint typemap_extent(const typemap *t) { return t->ub - t->lb; }

static inline int typemap_size(const typemap *t)
{
    int size = 0;
    for (int i = 0; i < t->pieces; i++) size += t->piece[i].size;
    return size;
}

/* The lowest and highest byte that the type touches (true extent). */
static inline void typemap_true(const typemap *t, MPI_Aint *low, MPI_Aint *high)
{
    *low = *high = 0;
    for (int i = 0; i < t->pieces; i++) {
        if (i == 0 || t->piece[i].at < *low) *low = t->piece[i].at;
        if (i == 0 || t->piece[i].at + t->piece[i].size > *high) *high = t->piece[i].at + t->piece[i].size;
    }
}

static inline void typemap_free(typemap *t, int predefined)
{
    free(t->piece);
    if (!predefined) CHECK_EQ(MPI_Type_free(&t->type), MPI_SUCCESS);
}

/* Append n copies of t, the first at byte `at`, one extent apart. started: bounds exist already. */
static inline void typemap_append(typemap *to, const typemap *t, MPI_Aint at, int n, int *started)
{
    to->piece = realloc(to->piece, sizeof(piece) * (size_t)(to->pieces + n * t->pieces + 1));
    for (int k = 0; k < n; k++, at += typemap_extent(t)) {
        for (int i = 0; i < t->pieces; i++) to->piece[to->pieces++] = (piece){t->piece[i].at + at, t->piece[i].size};
        if (!*started || t->lb + at < to->lb) to->lb = t->lb + at;
        if (!*started || t->ub + at > to->ub) to->ub = t->ub + at;
        *started = 1;
    }
    if (n > 0 && t->align > to->align) to->align = t->align;
}

/* The pieces of count elements, at their places. */
static inline int typemap_walk(const typemap *t, int count, int (*visit)(MPI_Aint at, int size, void *arg), void *arg)
{
    for (int k = 0; k < count; k++)
        for (int i = 0; i < t->pieces; i++)
            if (visit(t->piece[i].at + k * typemap_extent(t), t->piece[i].size, arg)) return 1;
    return 0;
}

/* A random type over old. Pieces never overlap. Answers 0 if it would become too large. */
static inline int typemap_random(check_stream *s, const typemap *old, typemap *made)
{
    int n = 1 + check_below(s, 4), started = 0;
    int length[4], place[4], sum = 0;
    MPI_Aint byte[4], extent = typemap_extent(old), span;
    MPI_Datatype same[4];
    *made = (typemap){0};
    if (old->pieces * 16 > TYPEMAP_MOST || extent > 20000 || extent < 1) return 0;
    /* Old elements laid side by side must not overlap. */
    MPI_Aint low, high;
    typemap_true(old, &low, &high);
    span = high - low > extent ? (high - low + extent - 1) / extent : 1;
    int block = span == 1 ? 1 + check_below(s, 3) : 1, gap = (int)span * block + check_below(s, 3);
    for (int i = 0, at = check_below(s, 3); i < n; i++) {
        length[i] = span == 1 ? check_below(s, 3) : 1;
        place[i] = at;
        byte[i] = (MPI_Aint)at * extent + (old->align > 1 ? 0 : check_below(s, 2));
        at += (int)span * (length[i] > 0 ? length[i] : 1) + 1 + check_below(s, 3);
        same[i] = old->type;
        sum += length[i];
    }
    if (sum == 0) length[0] = 1;
    if (check_below(s, 2)) { /* out of order */
        int p = place[0], l = length[0];
        MPI_Aint b = byte[0];
        place[0] = place[n - 1], length[0] = length[n - 1], byte[0] = byte[n - 1];
        place[n - 1] = p, length[n - 1] = l, byte[n - 1] = b;
    }
    switch (check_below(s, 10)) {
    case 0:
        MPI_Type_contiguous(n, old->type, &made->type);
        if (span > 1) {
            MPI_Type_free(&made->type);
            return 0;
        }
        typemap_append(made, old, 0, n, &started);
        return 1;
    case 1:
        MPI_Type_vector(n, block, gap, old->type, &made->type);
        for (int i = 0; i < n; i++) typemap_append(made, old, (MPI_Aint)i * gap * extent, block, &started);
        return 1;
    case 2:
        if (check_library("Open MPI v4") && gap == block) gap++; /* it mistakes a stride of -1 element for +1 */
        MPI_Type_create_hvector(n, block, -(gap * extent), old->type, &made->type); /* backwards */
        for (int i = 0; i < n; i++) typemap_append(made, old, -(MPI_Aint)i * gap * extent, block, &started);
        return 1;
    case 3:
        MPI_Type_indexed(n, length, place, old->type, &made->type);
        for (int i = 0; i < n; i++) typemap_append(made, old, place[i] * extent, length[i], &started);
        return 1;
    case 4:
        MPI_Type_create_hindexed(n, length, byte, old->type, &made->type);
        for (int i = 0; i < n; i++) typemap_append(made, old, byte[i], length[i], &started);
        return 1;
    case 5:
        MPI_Type_create_indexed_block(n, 1, place, old->type, &made->type);
        for (int i = 0; i < n; i++) typemap_append(made, old, place[i] * extent, 1, &started);
        return 1;
    case 6:
        MPI_Type_create_hindexed_block(n, 1, byte, old->type, &made->type);
        for (int i = 0; i < n; i++) typemap_append(made, old, byte[i], 1, &started);
        return 1;
    case 7: {
        MPI_Type_create_struct(n, length, byte, same, &made->type);
        for (int i = 0; i < n; i++) typemap_append(made, old, byte[i], length[i], &started);
        /* The end of a struct may be padded to an alignment that the library chooses: fix it. */
        MPI_Datatype padded = made->type;
        made->ub += 24;
        MPI_Type_create_resized(padded, made->lb, typemap_extent(made), &made->type);
        MPI_Type_free(&padded);
        return 1;
    }
    case 8: {
        int sizes[2] = {2 + check_below(s, 3), 2 + check_below(s, 3)}, part[2], start[2];
        if (span > 1) return 0;
        for (int d = 0; d < 2; d++) {
            part[d] = 1 + check_below(s, sizes[d]);
            start[d] = check_below(s, sizes[d] - part[d] + 1);
        }
        int fortran = check_below(s, 2);
        MPI_Type_create_subarray(2, sizes, part, start, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, old->type,
                                 &made->type);
        int slow = fortran ? 1 : 0, fast = 1 - slow;
        for (int i = 0; i < part[slow]; i++)
            typemap_append(made, old, ((MPI_Aint)(start[slow] + i) * sizes[fast] + start[fast]) * extent, part[fast],
                           &started);
        made->lb = 0;
        made->ub = (MPI_Aint)sizes[0] * sizes[1] * extent;
        return 1;
    }
    default: {
        MPI_Aint wider = extent + 8 * check_below(s, 3), lower = old->lb - 8 * check_below(s, 2);
        typemap_append(made, old, 0, 1, &started);
        made->lb = lower;
        made->ub = lower + wider + 8;
        MPI_Type_create_resized(old->type, lower, typemap_extent(made), &made->type);
        return 1;
    }
    }
}

#endif
