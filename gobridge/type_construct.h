/* What the constructors of datatypes hand to the records (type_construct.c, type_record.c). */
#ifndef IMPI_TYPE_CONSTRUCT_H
#define IMPI_TYPE_CONSTRUCT_H

#include <stdint.h>
#include <stdlib.h>
#include "direct.h"

/* What a constructor was given, and what follows from that whatever the old type. */
struct impi_type_draft {
    int32_t combiner, large; /* large: by the constructor with large counts */
    MPI_Datatype old;
    int64_t n[4];
    double apart;    /* the farthest block is this many extents of the old type away, */
    double away;     /* or this many bytes; */
    double longest;  /* the longest has so many elements, */
    double elements; /* and all together so many */
    struct { const void *from; size_t bytes; } arrays[3];
};

/* Large counts as ints, in memory of their own if they are many. */
enum { IMPI_NARROW_FEW = 64 };
struct impi_narrow_list {
    int *v;
    int few[IMPI_NARROW_FEW];
};

/* Can n large counts be ints? Then they are, until impi_widen_counts. */
static inline int impi_narrow_counts(struct impi_narrow_list *w, const MPI_Count *v, int64_t n)
{
    MPI_Count beyond = 0;
    w->v = NULL;
    if (!v || n <= 0) return 0;
    for (int64_t i = 0; i < n; i++) beyond |= v[i] ^ (MPI_Count)(int)v[i];
    if (beyond || !(w->v = n <= IMPI_NARROW_FEW ? w->few : (int *)malloc((size_t)n * sizeof(int)))) return 0;
    for (int64_t i = 0; i < n; i++) w->v[i] = (int)v[i];
    return 1;
}

static inline void impi_widen_counts(struct impi_narrow_list *w)
{
    if (w->v != w->few) free(w->v);
}

/* Records a type; 0 if Go has to make it. */
int impi_type_record(const struct impi_type_draft *d, MPI_Datatype *newtype);

#endif
