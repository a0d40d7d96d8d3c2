/* What the constructors of datatypes hand to the records (type_construct.c, type_record.c). */
#ifndef IMPI_TYPE_CONSTRUCT_H
#define IMPI_TYPE_CONSTRUCT_H

#include <stdint.h>
#include "direct.h"

/* What a constructor was given, and what follows from that whatever the old type. */
struct impi_type_draft {
    int32_t combiner, large; /* large: by the constructor with large counts */
    MPI_Datatype old;
    int64_t n[3];
    double apart;    /* the farthest block is this many extents of the old type away, */
    double away;     /* or this many bytes; */
    double longest;  /* the longest has so many elements, */
    double elements; /* and all together so many */
    struct { const void *from; size_t bytes; } arrays[3];
};

/* Records a type; 0 if Go has to make it. */
int impi_type_record(const struct impi_type_draft *d, MPI_Datatype *newtype);

#endif
