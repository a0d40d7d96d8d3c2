/* particles.h - the particles of examples 3.10 to 3.28 of "MPI: The Complete Reference". */
#ifndef BOOK_PARTICLES_H
#define BOOK_PARTICLES_H

#include "../check.h"
#include <stddef.h>

enum { PARTICLES = 1000 };

struct particles_one {
    char class; /* of the particle */
    double d[6]; /* where it is and how fast */
    char b[7]; /* what else is known of it */
};

/* Each is of a class of its own kind: runs of 0 to 3 of class 0 with others between. */
static inline struct particles_one *particles_make(int owner)
{
    struct particles_one *p = calloc(PARTICLES, sizeof *p);
    for (int i = 0; i < PARTICLES; i++) {
        p[i].class = (char)(i % 7 > i % 5 ? i % 3 + 1 : 0);
        for (int k = 0; k < 6; k++) p[i].d[k] = owner * 1e6 + i * 10 + k;
        for (int k = 0; k < 7; k++) p[i].b[k] = (char)('a' + (owner + i + k) % 26);
    }
    return p;
}

static inline int particles_equal(const struct particles_one *a, const struct particles_one *b)
{
    return a->class == b->class && memcmp(a->d, b->d, sizeof a->d) == 0 && memcmp(a->b, b->b, sizeof a->b) == 0;
}

/* The type of one, with the displacements that the compiler chose (3.14); committed. */
static inline MPI_Datatype particles_type(void)
{
    int blocklen[3] = {1, 6, 7};
    MPI_Aint disp[3] = {0, offsetof(struct particles_one, d), offsetof(struct particles_one, b)};
    MPI_Datatype type[3] = {MPI_CHAR, MPI_DOUBLE, MPI_CHAR}, made;
    MPI_Type_create_struct(3, blocklen, disp, type, &made);
    MPI_Type_commit(&made);
    return made;
}

#endif
