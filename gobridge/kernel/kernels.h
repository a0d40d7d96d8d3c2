/* Kernels that move large pieces of data: the C forms of those in package datatype (nest_unsafe.go), which are
 * their oracle and are used for what is short. The choice is made there. */
#ifndef IMPI_KERNELS_H
#define IMPI_KERNELS_H

#include <stdint.h>

enum { IMPI_MAX_DIMS = 6, IMPI_LISTED_RUNS = 256 };

/* A level of a nest of loops: n instances, so many bytes apart in memory and in the buffer. */
struct impi_dim {
    int64_t n, mem, buf;
};

/* Loops around a block of so many bytes. */
struct impi_nest {
    struct impi_dim dims[IMPI_MAX_DIMS]; /* outermost first */
    int32_t depth;
    _Bool unpack; /* from buf to mem */
    int64_t block;
};

void impi_move_nest(uintptr_t mem, uintptr_t buf, const struct impi_nest *nest);

/* The same by its parts; `depth` dims. */
void impi_move_loops(uintptr_t mem, uintptr_t buf, const struct impi_dim *dims, int depth, int64_t block, int unpack);

/* n bytes. */
void impi_move_run(void *dst, const void *src, int64_t n);

/* n blocks at mem + offs[i]*scale; in the buffer they follow each other. */
void impi_move_listed(uintptr_t mem, uintptr_t buf, const int64_t *offs, int64_t n, int64_t scale, int64_t block,
                      int unpack);

/* The same with lens[i]*unit bytes in block i, at least `least` and at most `most` bytes. */
void impi_move_varied(uintptr_t mem, uintptr_t buf, const int64_t *offs, const int64_t *lens, int64_t n, int64_t scale,
                      int64_t unit, int64_t least, int64_t most, int unpack);

/* Runs of a stream, from an address on (datatype.Runs): n of them, of which `used` have been copied. One that has been
 * copied in part is shortened by that. */
struct impi_runs {
    int64_t n, used;
    int64_t off[IMPI_LISTED_RUNS], len[IMPI_LISTED_RUNS];
};

/* Copies until the runs of one side are used up. */
void impi_copy_pieces(uintptr_t dst, uintptr_t src, struct impi_runs *to, struct impi_runs *from);

/* The same with numbers of 32 bits, which take less of the caches. */
struct impi_list {
    const int32_t *offs; /* NULL: no list */
    const int32_t *lens; /* NULL: blocks of `block` bytes; else of lens[i]*block, between least and most */
    int64_t n, scale, block, least, most;
};

void impi_move_list(uintptr_t mem, uintptr_t buf, const struct impi_list *l, int unpack);

#endif
