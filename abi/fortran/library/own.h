/* The library of the standard ABI: descriptors. */
#include "mpix.h"
#define HAVE_SECTIONS

/* Descriptors (ISO_Fortran_binding.h): of what gfortran's and flang's have in common. LLVM's base is the address of the
 * first element, and so is that of gcc's. */
enum { MAX_RANK = 15 };
struct descriptor {
    void *base;
    size_t elem_len; /* bytes of an element */
    int version;
    int8_t rank;
    int8_t kinds[3]; /* each compiler's own */
    struct {
        int64_t lower, extent, stride; /* bytes from one element to the next */
    } dim[MAX_RANK];
};
static inline int64_t extent(const struct descriptor *d, int i) { return d->dim[i].extent; }
static inline int64_t stride(const struct descriptor *d, int i) { return d->dim[i].stride; }
